/** Pings, cards and reports over JSON-RPC. */
import { outreachListParams } from '../../schemas/outreach.ts';
import { fitPage } from './frames.ts';
import {
  type DeskConnection,
  type EventNotifier,
  type Methods,
  type Notify,
  subjectsOf,
  takes,
} from './method.ts';

const DEFAULT_PAGE = 100;

export const outreachMethods = {
  'outreach/list': takes(
    outreachListParams,
    'Returns pings, cards and reports, newest first, 100 per page by default (`limit`).',
    async ({ limit = DEFAULT_PAGE, cursor, ...filter }, { hive }) => {
      const { items, next_cursor } = await fitPage(
        (size, from) => hive.outreach.list({ ...filter, limit: size, cursor: from }),
        (item) => item,
        limit,
        cursor,
      );
      return { outreach: items, next_cursor };
    },
  ),
} satisfies Methods;

/**
 * A new outreach is sent as `outreach/received`, and a ping or card that was sent to Emacs counts as shown. Later changes, and
 * what a rule suppressed, are sent as `outreach/changed`. Unseen outreach is sent as soon as there is a desk.
 */
export const notifyOutreach: EventNotifier = async (events, { hive, desk }, notify) => {
  const sent = new Set(subjectsOf(events, (type) => type === 'outreach/sent' || type === 'outreach/unseen'));
  for (const outreach_id of subjectsOf(events, (type) => type.startsWith('outreach/'))) {
    const item = await hive.outreach.find(outreach_id);
    if (item === undefined) continue;
    notify(sent.has(outreach_id) ? 'outreach/received' : 'outreach/changed', item);
    if (desk !== null && item.kind !== 'report' && (item.status === 'sent' || item.status === 'unseen'))
      await hive.outreach.settle(outreach_id, { status: 'shown', shown_via: 'emacs' });
  }
};

/** How many unseen ones are read at once. */
const KEPT_AT_ONCE = 100;

/** Sends what was kept for the human while they were away, at the handshake, and marks it as shown. */
export async function notifyUnseen({ hive }: Pick<DeskConnection, 'hive'>, notify: Notify): Promise<void> {
  for (let more = true; more; ) {
    const kept = await hive.outreach.unseen(KEPT_AT_ONCE);
    for (const item of kept) {
      await notify('outreach/received', item);
      await hive.outreach.settle(item.outreach_id, { status: 'shown', shown_via: 'emacs' });
    }
    more = kept.length === KEPT_AT_ONCE;
  }
}
