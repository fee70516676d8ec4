/** Pings, cards and reports as Emacs asks for them, and as it hears of them. */
import { outreachListParams } from '../../schemas/outreach.ts';
import { type EventNotifier, type Methods, subjectsOf } from './desk-connection.ts';
import { fitPage } from './frames.ts';

const DEFAULT_PAGE = 100;

export const outreachMethods = {
  async 'outreach/list'(params, { hive }) {
    const { kind, session_id, project_dir, limit, cursor } = outreachListParams.parse(params);
    const filter = {
      kind: kind ?? undefined,
      session_id: session_id ?? undefined,
      project_dir: project_dir ?? undefined,
    };
    const { items, next_cursor } = await fitPage(
      (size, from) => hive.outreach.list({ ...filter, limit: size, cursor: from }),
      (item) => item,
      limit ?? DEFAULT_PAGE,
      cursor ?? null,
    );
    return { outreach: items, next_cursor };
  },
} satisfies Methods;

/**
 * What was sent is `outreach/received`, and a ping or card that Emacs was told of has been shown; what became
 * of it later, and what a rule suppressed, is `outreach/changed`.
 */
export const notifyOutreach: EventNotifier = async (events, { hive, desk }, tell) => {
  const sent = new Set(subjectsOf(events, (type) => type === 'outreach/sent'));
  for (const outreach_id of subjectsOf(events, (type) => type.startsWith('outreach/'))) {
    const item = await hive.outreach.get(outreach_id);
    if (item === undefined) continue;
    tell(sent.has(outreach_id) ? 'outreach/received' : 'outreach/changed', item);
    if (desk !== null && item.kind !== 'report' && item.status === 'sent')
      await hive.outreach.settle(outreach_id, { status: 'shown', shown_via: 'emacs' });
  }
};
