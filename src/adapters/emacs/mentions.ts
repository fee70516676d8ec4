/** Mentions over JSON-RPC: the human's own, and those of any session. */
import type { Hive } from '../../application/hive.ts';
import { HUMAN_ADDRESSEE } from '../../domain/actors.ts';
import type { MentionInFull } from '../../domain/mentions.ts';
import { HUMAN_HANDLE } from '../../domain/sessions.ts';
import { mentionListParams, mentionProcessParams, settleLoopParams } from '../../schemas/mentions.ts';
import { fitPage } from './frames.ts';
import {
  acts,
  type EventNotifier,
  humanAt,
  type Methods,
  subjectsOf,
  takes,
  withoutParams,
} from './method.ts';

const DEFAULT_PAGE = 200;
/** How many characters of an agent's mention a notification carries; mention/list returns the whole. */
const NOTIFIED_BODY = 500;

async function addresseeOf(
  hive: Hive,
  session: string | undefined,
): Promise<{ session_id: string; handle: string }> {
  if (session === undefined || session === HUMAN_HANDLE || session === HUMAN_ADDRESSEE) {
    return { session_id: HUMAN_ADDRESSEE, handle: HUMAN_HANDLE };
  }
  const { session_id, handle } = await hive.sessions.resolve(session);
  return { session_id, handle };
}

export const mentionMethods = {
  'mention/list': takes(
    mentionListParams,
    'Returns the mentions of the human, or of a session, newest first, 200 per page by default (`limit`).',
    async ({ session, status, limit = DEFAULT_PAGE, cursor }, { hive }) => {
      const addressee = await addresseeOf(hive, session);
      const filter = { session_id: addressee.session_id, status };
      const { items, next_cursor } = await fitPage(
        (size, from) => hive.mentions.history({ ...filter, limit: size, cursor: from }),
        (mention) => mention,
        limit,
        cursor,
      );
      const summary = await hive.mentions.summary(addressee.session_id);
      return { mentions: items, next_cursor, ...addressee, summary };
    },
  ),

  'mention/process': acts(
    mentionProcessParams,
    'Marks mentions as processed: `mention_ids`, or `all`.',
    async ({ session, mention_ids, all, note, by }, connection) => {
      const { hive } = connection;
      const { session_id } = await addresseeOf(hive, session);
      const { processed, already, remaining } = await hive.mentions.process({
        session_id,
        actor: humanAt(connection, by),
        mention_ids,
        all,
        note,
      });
      const ids = (mentions: readonly MentionInFull[]): string[] =>
        mentions.map((mention) => mention.mention_id);
      return { processed: ids(processed), already: ids(already), remaining };
    },
  ),

  'mention/settle_loop': acts(
    settleLoopParams,
    'Decides about two sessions whose mentions are stopped or muted: `allowed`, and they continue, or `muted`, and mentions of each other reach neither. Takes handles or ids.',
    async ({ sessions, state }, { hive }) => {
      await hive.loops.settle(sessions, state);
      return {};
    },
  ),

  'mention/loops': withoutParams(
    'Returns the pairs of sessions whose exchange was stopped or muted, and why.',
    async ({ hive }) => {
      return { loops: await hive.loops.list() };
    },
  ),
} satisfies Methods;

export const notifyMentions: EventNotifier = async (events, { hive }, notify) => {
  for (const mention_id of subjectsOf(events, (type) => type.startsWith('mention/'))) {
    const mention = await hive.mentions.find(mention_id);
    if (mention !== undefined) notify('mention/changed', shortened(mention));
  }
};

/** A broadcast changes many mentions of one body at once, so only the human's are sent whole. */
function shortened(mention: MentionInFull): MentionInFull & { body_truncated?: true } {
  if (mention.session_id === HUMAN_ADDRESSEE || mention.body.length <= NOTIFIED_BODY) return mention;
  return { ...mention, body: mention.body.slice(0, NOTIFIED_BODY).toWellFormed(), body_truncated: true };
}
