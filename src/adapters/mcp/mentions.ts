/** The tools with which an agent reads and processes its mentions. */
import { countThatFits } from '../../domain/limits.ts';
import type { MentionInFull } from '../../domain/mentions.ts';
import { processShape } from '../../schemas/mentions.ts';
import { emphasis } from './messages.ts';
import { RESULT_BYTES, sentences, type Tool, tool, unverifiedWarning } from './tool.ts';

const MOST_SHOWN = 100;

const has = tool({
  name: 'hivemind_has_unprocessed_mentions',
  title: 'Am I mentioned?',
  description: 'Whether somebody has mentioned you in the shared buffer and you have not dealt with it yet.',
  example: {},
  input: {},
  effect: 'none',
  async handle(_args, { hive, session, advice }) {
    const { count } = await hive.mentions.has(session.session_id);
    const next =
      count === 0
        ? 'You have no unprocessed mentions. Go on.'
        : 'Read them with hivemind_get_unprocessed_mentions and deal with them.';
    return { has_mentions: count > 0, count, you: session.handle, next: sentences(next, advice) };
  },
});

const get = tool({
  name: 'hivemind_get_unprocessed_mentions',
  title: 'Read my mentions',
  description:
    'The mentions of you that you have not dealt with, urgent ones first. Reading processes nothing.',
  example: {},
  always: true,
  input: {},
  effect: 'none',
  async handle(_args, { hive, session, carrier, advice }) {
    const { session_id, handle } = session;
    const { count } = await hive.mentions.has(session_id);
    // Only what is shown gets a receipt, so it is first determined what fits.
    const waiting = await hive.mentions.unprocessed(session_id, null, MOST_SHOWN);
    const shown = await hive.mentions.unprocessed(
      session_id,
      carrier,
      countThatFits(waiting.map(mentionView), RESULT_BYTES),
    );
    return {
      mentions: shown.map(mentionView),
      count,
      you: handle,
      next: sentences(afterReading(shown, count), advice),
    };
  },
});

function afterReading(shown: readonly MentionInFull[], count: number): string {
  if (shown.length === 0) return 'You have no unprocessed mentions. Go on.';
  const ids = JSON.stringify(shown.slice(0, 5).map((mention) => mention.mention_id));
  const reply = shown.find((mention) => mention.expects_reply && mention.author !== 'unverified');
  return sentences(
    reply === undefined
      ? 'To reply: hivemind_post with reply_to, which marks that mention as processed.'
      : `${reply.from_handle} expects a reply: hivemind_post with reply_to "${reply.message_id}" and @${reply.from_handle} in the body, which marks that mention as processed.`,
    `Clear the others with hivemind_process_mentions ${shown.length > 5 ? '{"mention_ids": [...]}' : `{"mention_ids": ${ids}}`}.`,
    count > shown.length ? `${count - shown.length} more come after these are processed.` : null,
    unverifiedWarning(shown),
  );
}

const process = tool({
  name: 'hivemind_process_mentions',
  title: 'Clear my mentions',
  description: 'Mark mentions of you as dealt with. Your tool calls pass again after that.',
  example: { all: true },
  always: true,
  input: processShape,
  effect: 'speaks',
  async handle({ mention_ids, all, note }, { hive, session, carrier, advice }) {
    const { processed, unread, already, remaining } = await hive.mentions.process({
      session_id: session.session_id,
      actor: await hive.sessions.actor(session, 'mcp'),
      mention_ids,
      all,
      note,
      carrier,
    });
    return {
      processed: processed.map((mention) => mention.mention_id),
      unread: unread.map(mentionView),
      already: already.map((mention) => mention.mention_id),
      remaining,
      next: sentences(
        unread.length === 0 ? null : 'You have not read those in unread in full: read them now.',
        unverifiedWarning(unread),
        expiredBefore(already),
        remaining === 0
          ? 'Nothing is left: go on with your work.'
          : `${remaining} are left: read them with hivemind_get_unprocessed_mentions.`,
        advice,
      ),
    };
  },
});

function expiredBefore(already: readonly MentionInFull[]): string | null {
  const expired = already.filter(({ status }) => status === 'expired');
  if (expired.length === 0) return null;
  const ids = expired.map(({ mention_id }) => mention_id).join(', ');
  return `Expired before you processed ${expired.length === 1 ? 'it' : 'them'}: ${ids}. The author was notified; if it still matters, say so with hivemind_post.`;
}

/** A mention as its addressee sees it: fields with their usual value are left out. */
export function mentionView(mention: MentionInFull): Record<string, unknown> {
  const { mention_id, message_id, from_handle, author, by, as_handle, at, thread, reply_to } = mention;
  return {
    mention_id,
    message_id,
    from: from_handle,
    author,
    ...(by === null ? {} : { by }),
    ...(as_handle === null ? {} : { written_as: as_handle }),
    at,
    age_s: Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000)),
    project: mention.project,
    thread,
    reply_to,
    ...emphasis(mention),
    body: mention.body,
  };
}

export const mentionTools: readonly Tool[] = [has, get, process];
