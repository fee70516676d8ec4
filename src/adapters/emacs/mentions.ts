/** Mentions as Emacs asks for them: the human's own, and any session's. */
import type { Hive } from '../../application/hive.ts';
import type { MentionInFull } from '../../domain/mentions.ts';
import { HUMAN_ADDRESSEE, HUMAN_HANDLE } from '../../domain/sessions.ts';
import { mentionListParams, mentionProcessParams, pairParams } from '../../schemas/mentions.ts';
import { type EventNotifier, type Methods, subjectsOf } from './desk-connection.ts';
import { fitPage } from './frames.ts';

const DEFAULT_PAGE = 200;
/** How much of what was said to an agent travels unasked; mention/list has the whole. */
const TOLD_BODY = 500;

async function addresseeOf(
  hive: Hive,
  session: string | null | undefined,
): Promise<{ session_id: string; handle: string }> {
  if (session === null || session === undefined || session === HUMAN_HANDLE || session === HUMAN_ADDRESSEE) {
    return { session_id: HUMAN_ADDRESSEE, handle: HUMAN_HANDLE };
  }
  const { session_id, handle } = await hive.sessions.find(session);
  return { session_id, handle };
}

export const mentionMethods = {
  async 'mention/list'(params, { hive }) {
    const { session, status, limit, cursor } = mentionListParams.parse(params);
    const addressee = await addresseeOf(hive, session);
    const filter = { session_id: addressee.session_id, status: status ?? undefined };
    const { items, next_cursor } = await fitPage(
      (size, from) => hive.mentions.history({ ...filter, limit: size, cursor: from }),
      (mention) => mention,
      limit ?? DEFAULT_PAGE,
      cursor ?? null,
    );
    const summary = await hive.mentions.summary(addressee.session_id);
    return { mentions: items, next_cursor, ...addressee, summary };
  },

  async 'mention/process'(params, { hive }) {
    const { session, mention_ids, all, note, by } = mentionProcessParams.parse(params);
    const { session_id } = await addresseeOf(hive, session);
    const { processed, already, remaining } = await hive.mentions.process({
      session_id,
      actor: { kind: 'human', by, via: 'emacs', confirmed: true },
      mention_ids: mention_ids ?? undefined,
      all: all ?? undefined,
      note,
    });
    return { processed: processed.map((mention) => mention.mention_id), already, remaining };
  },

  async 'mention/allow'(params, { hive }) {
    await hive.loops.allow(pairParams.parse(params).sessions);
    return {};
  },

  async 'mention/mute'(params, { hive }) {
    await hive.loops.mute(pairParams.parse(params).sessions);
    return {};
  },

  async 'mention/loops'(_params, { hive }) {
    return { loops: await hive.loops.list() };
  },
} satisfies Methods;

export const notifyMentions: EventNotifier = async (events, { hive }, tell) => {
  for (const mention_id of subjectsOf(events, (type) => type.startsWith('mention/'))) {
    const mention = await hive.mentions.find(mention_id);
    if (mention !== undefined) tell('mention/changed', told(mention));
  }
};

/** A broadcast changes many mentions of one body at once; only what is said to the human is told whole. */
function told(mention: MentionInFull): MentionInFull & { body_truncated?: true } {
  if (mention.session_id === HUMAN_ADDRESSEE || mention.body.length <= TOLD_BODY) return mention;
  return { ...mention, body: mention.body.slice(0, TOLD_BODY).toWellFormed(), body_truncated: true };
}
