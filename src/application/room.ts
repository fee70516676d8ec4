/**
 * The room as agents notice it. A message marks the sessions that should hear of it, in the transaction that posts it. A hook has
 * read its session anyway, so one without news reads nothing more; one with news says a line and removes the mark. The line
 * is a hint: it holds nobody, and the messages stay where they are.
 */
import { acceptsContext, isRefused } from '../domain/hooks.ts';
import type { Message } from '../domain/messages.ts';
import { MOST_NEWS, NEWS_SHOWN, type RoomNews, roomLine, roomMode } from '../domain/room.ts';
import type { HookHandler } from './hook-context.ts';
import { guardRoom } from './loops.ts';
import type { ReadTx, WriteTx } from './ports.ts';

/** Marks the sessions that a new message is news for. Its author and those it mentions take part in the room from now on. */
export async function announceInRoom(tx: WriteTx, message: Message): Promise<void> {
  await tx.sessions.joinRoom(message);
  await tx.sessions.markRoom(message);
}

/** The hook handler of the room. It runs after those that deliver something: what concerns the agent itself comes first. */
export const noticeRoom: HookHandler = async ({ tx, event, session, verdict }) => {
  if (!session.room_news || !acceptsContext(event) || isRefused(verdict)) return null;
  const mode = roomMode(session);
  const { session_id, project_dir, room_read } = session;
  if (mode === 'off' || room_read === null) return null;
  await tx.sessions.noticeRoom(session_id);
  const unread = await tx.messages.newsFor({ session_id, project_dir, after: room_read, limit: MOST_NEWS });
  const news = await guardRoom(tx, session, unread);
  if (news.length === 0) return null;
  if (mode === 'count') return { context: [roomLine(news)] };
  // What was shown is not shown again.
  const shown = await inFull(tx, news.slice(-NEWS_SHOWN));
  await tx.sessions.readRoom(session_id, Math.max(...news.map(({ seq }) => seq)));
  return { context: [roomLine(news, shown)] };
};

async function inFull(tx: ReadTx, news: readonly RoomNews[]): Promise<Message[]> {
  const found = await Promise.all(news.map(({ message_id }) => tx.messages.get(message_id)));
  return found.filter((message) => message !== undefined);
}
