/** The tools with which an agent writes to the shared buffer and reads it. */
import { type Posted, reachedBy } from '../../application/messages.ts';
import { explainUndecided, explainUnresolved } from '../../domain/mentions.ts';
import { agentAuthor, type Message } from '../../domain/messages.ts';
import type { Session } from '../../domain/sessions.ts';
import { postShape, readShape } from '../../schemas/messages.ts';
import { RESULT_BYTES, sentences, type Tool, tool, unverifiedWarning } from './tool.ts';

const DEFAULT_PAGE = 20;
/** At most this many names that reached nobody are listed. */
const MOST_UNRESOLVED = 50;

const post = tool({
  name: 'hivemind_post',
  title: 'Write to the shared buffer',
  description:
    'Write to the buffer that agents and your human share. Everyone it mentions (@Claude-abc12, @Human, @ROLE, @All) is notified, and an agent is held until it has dealt with it: mention only those you need. A question to your human is hivemind_ask_async.',
  example: { body: '@Human The build is green.' },
  always: true,
  input: postShape,
  claim: 'body',
  effect: 'speaks',
  async handle(args, { hive, session, advice }) {
    const posted = await hive.messages.post({ ...args, author: agentAuthor(session, 'mcp') });
    const { message_id, thread } = posted.message;
    const reached = reachedBy(posted);
    return {
      message_id,
      thread,
      ...reached,
      unresolved: reached.unresolved.slice(0, MOST_UNRESOLVED),
      next: sentences(afterPosting(posted), advice),
    };
  },
});

function afterPosting({ mentions, unresolved, undecided, answered, trips }: Posted): string {
  const posted =
    mentions.length === 0
      ? 'Posted; it mentions nobody, so nobody is notified. @HANDLE, @All or @Human in a message reaches somebody; hivemind_sessions lists the handles.'
      : `Posted; notified: ${mentions.map((mention) => mention.handle).join(', ')}.`;
  const loop =
    trips[0] === undefined
      ? null
      : `You and ${trips.map((trip) => trip.addressee.handle).join(', ')} keep replying to each other (${trips[0].reason}): they are notified, but neither held nor woken, until your human writes. Come to an end, or ask your human.`;
  const settled =
    answered.length === 0
      ? null
      : `Processed with it: ${answered.map((mention) => mention.mention_id).join(', ')}.`;
  return sentences(
    posted,
    ...unresolved.slice(0, 3).map(explainUnresolved),
    settled,
    explainUndecided(undecided),
    loop,
  );
}

const read = tool({
  name: 'hivemind_read',
  title: 'Read the shared buffer',
  description:
    'Read messages of your project, oldest first: the latest ones, or with after those since an earlier read. Mentions of you are read with hivemind_get_unprocessed_mentions.',
  example: { limit: 20 },
  input: readShape,
  narrowing: ['after', 'thread', 'from', 'query'],
  effect: 'none',
  async handle({ after, thread, from, query, limit = DEFAULT_PAGE }, { hive, session, advice }) {
    const isRoom = thread === undefined && from === undefined && query === undefined;
    // A chain of replies is read whole, whatever its project; a thread's name belongs to one project.
    const wherever = thread?.startsWith('msg-') === true;
    const filter = {
      project_dir: wherever ? undefined : session.project_dir,
      thread,
      from_handle: from?.replace(/^@/, ''),
      query,
      after,
      limit,
    };
    const { unread, ...page } = isRoom
      ? await hive.messages.readRoom(session, { after, limit }, RESULT_BYTES)
      : { unread: null, ...(await hive.messages.readFitting(filter, RESULT_BYTES)) };
    const { items, next_cursor, more } = page;
    const cursor = next_cursor ?? after ?? null;
    const go = afterReading({ cursor, more, unread, isForward: after !== undefined, isRoom });
    return {
      messages: items.map((message) => messageView(message, session)),
      next_cursor: cursor,
      more,
      next: sentences(go, unverifiedWarning(items), advice),
    };
  },
});

function afterReading({
  cursor,
  more,
  unread,
  isForward,
  isRoom,
}: {
  cursor: string | null;
  more: boolean;
  unread: string | null;
  isForward: boolean;
  isRoom: boolean;
}): string {
  if (cursor === null) return isRoom ? 'There is nothing here yet.' : 'No message is like this.';
  if (more && isForward) return `There is more: read on with {"after": "${cursor}"}.`;
  const whole = !more
    ? 'That is all.'
    : unread !== null
      ? `These are the latest. Some before them are unread: read them with {"after": "${unread}"}.`
      : `These are the latest; there are earlier ones: a higher limit${isRoom ? ', thread, from or query' : ''} finds them.`;
  return `${whole} To read later ones, give next_cursor as after.`;
}

/** A message as an agent sees it: fields with their usual value are left out. */
function messageView(message: Message, reader: Session): Record<string, unknown> {
  const { message_id, at, from_handle, author, by, as_handle, project, thread, reply_to } = message;
  return {
    message_id,
    at,
    from: from_handle,
    author,
    ...(by === null ? {} : { by }),
    ...(as_handle === null ? {} : { written_as: as_handle }),
    ...(project === reader.project ? {} : { project }),
    thread,
    reply_to,
    ...emphasis(message),
    body: message.body,
  };
}

/** The marks by which its author asks for more attention than usual. */
export function emphasis({
  priority,
  expects_reply,
}: Pick<Message, 'priority' | 'expects_reply'>): Record<string, unknown> {
  return { ...(priority === 'normal' ? {} : { priority }), ...(expects_reply ? { expects_reply } : {}) };
}

export const messageTools: readonly Tool[] = [post, read];
