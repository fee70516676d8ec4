/** The tools with which an agent writes to the shared buffer and reads it. */
import type { Posted } from '../../application/messages.ts';
import { explainUnresolved } from '../../domain/mentions.ts';
import { agentAuthor, type Message } from '../../domain/messages.ts';
import { postShape, readShape } from '../../schemas/messages.ts';
import { readFitting } from '../fitting.ts';
import { RESULT_BYTES, sentences, type Tool, tool, unverifiedNote } from './tool.ts';

const DEFAULT_PAGE = 20;
/** At most this many names that reached nobody are listed. */
const MOST_UNRESOLVED = 50;

const post = tool({
  name: 'hivemind_post',
  title: 'Write to the shared buffer',
  description:
    'Post a message to the buffer that you share with the other agents and your human. Whoever it mentions (@Claude-abc12, @All, @Human, @reviewer) is notified, and an agent is held until it has dealt with it: mention only whom you need. Not for questions that need an answer of the human: use hivemind_ask_async.',
  input: postShape,
  readOnly: false,
  async handle(args, { hive, session, advice }) {
    const posted = await hive.messages.post({ ...args, author: agentAuthor(session, 'mcp') });
    const { message, mentions, unresolved, answered, trips } = posted;
    return {
      message_id: message.message_id,
      at: message.at,
      thread: message.thread,
      mentioned: mentions.map((mention) => mention.handle),
      unresolved: unresolved.slice(0, MOST_UNRESOLVED),
      ...(answered === null ? {} : { answered: answered.mention_id }),
      ...(trips.length === 0 ? {} : { not_held: trips.map((trip) => trip.addressee.handle) }),
      next: sentences(afterPosting(posted), advice),
    };
  },
});

function afterPosting({ mentions, unresolved, trips }: Posted): string {
  const posted =
    mentions.length === 0
      ? 'Posted; it mentions nobody, so nobody is notified. Write @HANDLE, @All or @Human in a message to reach somebody; hivemind_sessions lists the handles.'
      : `Posted; notified: ${mentions.map((mention) => mention.handle).join(', ')}.`;
  const loop =
    trips[0] === undefined
      ? null
      : `You and ${trips.map((trip) => trip.addressee.handle).join(', ')} keep answering each other (${trips[0].reason}): they are notified, but neither held nor woken, until your human writes. Come to an end, or ask your human.`;
  return sentences(posted, ...unresolved.slice(0, 3).map(explainUnresolved), loop);
}

const read = tool({
  name: 'hivemind_read',
  title: 'Read the shared buffer',
  description:
    'Read messages of your project, oldest first: the latest ones, or with after what came since an earlier read. Mentions of you are read with hivemind_get_unprocessed_mentions.',
  input: readShape,
  narrowing: ['after', 'thread', 'from', 'query'],
  readOnly: true,
  async handle({ after, thread, from, query, limit = DEFAULT_PAGE }, { hive, session, advice }) {
    // A chain of replies is read whole, whatever its project; a thread's name belongs to one project.
    const wherever = thread?.startsWith('msg-') === true;
    const filter = {
      project_dir: wherever ? undefined : session.project_dir,
      thread,
      from_handle: from?.replace(/^@/, ''),
      query,
      after,
    };
    const page = await readFitting((size) => hive.messages.read({ ...filter, limit: size }), {
      limit,
      bytes: RESULT_BYTES,
      forward: after !== undefined,
    });
    const { items, next_cursor, more } = page;
    const cursor = next_cursor ?? after ?? null;
    const go =
      after !== undefined && more
        ? `There is more: read on with {"after": "${cursor}"}.`
        : cursor === null
          ? 'There is nothing here yet.'
          : `That is all for now; later messages: {"after": "${cursor}"}.`;
    return {
      messages: items.map(messageView),
      next_cursor: cursor,
      more,
      next: sentences(go, unverifiedNote(items), advice),
    };
  },
});

/** A message as an agent sees it. */
function messageView(message: Message): Record<string, unknown> {
  const { message_id, at, from_handle, author, as_handle, project, thread, reply_to } = message;
  return {
    message_id,
    at,
    from: from_handle,
    author,
    ...(as_handle === null ? {} : { written_as: as_handle }),
    project,
    thread,
    reply_to,
    priority: message.priority,
    expects_reply: message.expects_reply,
    body: message.body,
  };
}

export const messageTools: readonly Tool[] = [post, read];
