/**
 * How agents notice the room. The transaction that posts a message marks the sessions that should notice it. A hook reads its
 * session in any case, so a hook without news reads nothing more, and one with news adds a line and removes the mark. The line is
 * only a hint: it holds nobody, and the messages stay unread.
 */
import { acceptsContext, isRefused } from '../domain/hooks.ts';
import { expirySentence, readExpirySubject } from '../domain/mentions.ts';
import type { Message } from '../domain/messages.ts';
import { MOST_NEWS, NEWS_SHOWN, type RoomNews, roomLine, roomMode } from '../domain/room.ts';
import type { Session } from '../domain/sessions.ts';
import { hand, hookCarrier, isCarried } from './delivery.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { guardRoom } from './loops.ts';
import type { ReadTx, WriteTx } from './ports.ts';

/** Marks the sessions for which a message is news. Its author and the sessions it mentions take part in the room from now on. */
export async function announceInRoom(tx: WriteTx, message: Message): Promise<void> {
  await tx.sessions.joinRoom(message);
  await tx.sessions.markRoom(message);
}

/** The hook handler of the room. It runs after the handlers that deliver something to the agent itself. */
export const noticeRoom: HookHandler = async (hook) => {
  const { tx, event, session, verdict } = hook;
  if (!acceptsContext(event) || isRefused(verdict)) return null;
  // A prompt also repeats notices that an earlier hook was killed before printing.
  if (!session.room_news && event.name !== 'UserPromptSubmit' && event.name !== 'SessionStart') return null;
  const expired = await handExpired(hook);
  if (!session.room_news) return expired.length === 0 ? null : { context: expired, carries: true };
  if (expired.length < EXPIRED_AT_ONCE) await tx.sessions.noticeRoom(session.session_id);
  const line = await lineFor(tx, session);
  return { context: line === null ? expired : [...expired, line], carries: expired.length > 0 };
};

/** The line with news of the room, depending on the session's mode. */
async function lineFor(tx: WriteTx, session: Session): Promise<string | null> {
  const mode = roomMode(session);
  const { session_id, project_dir, room_read } = session;
  if (mode === 'off' || room_read === null) return null;
  const unread = await tx.messages.newsFor({ session_id, project_dir, after: room_read, limit: MOST_NEWS });
  const news = await guardRoom(tx, session, unread);
  if (news.length === 0) return null;
  if (mode === 'count') return roomLine(news);
  // A message that was shown is not shown again.
  const shown = await inFull(tx, news.slice(-NEWS_SHOWN));
  await tx.sessions.readRoom(session_id, Math.max(...news.map(({ seq }) => seq)));
  return roomLine(news, shown);
}

const EXPIRED_AT_ONCE = 5;

/** Hands over notices of expired mentions, of the session or by it. */
async function handExpired(hook: HookContext): Promise<string[]> {
  const { tx, session } = hook;
  const sentences: string[] = [];
  for (const delivery of await tx.deliveries.openOf(session.session_id, 'expiry', EXPIRED_AT_ONCE)) {
    if (await isCarried(hook, delivery)) continue;
    const { mention_id, side } = readExpirySubject(delivery.subject);
    const mention = await tx.mentions.get(mention_id);
    await hand(tx, delivery, hookCarrier(session.session_id));
    if (mention !== undefined) sentences.push(expirySentence(mention, side));
  }
  return sentences;
}

async function inFull(tx: ReadTx, news: readonly RoomNews[]): Promise<Message[]> {
  const found = await Promise.all(news.map(({ message_id }) => tx.messages.intact(message_id)));
  return found.filter((message) => message !== undefined);
}
