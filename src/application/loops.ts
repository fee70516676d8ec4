/**
 * Loops: two agents that keep replying to each other (the rules are in domain/loops.ts). The guard stops
 * their mentions from gating and notifies the human once, who can let them continue, mute them, or simply write to them.
 */

import { HUMAN_ADDRESSEE } from '../domain/actors.ts';
import { invalidInput } from '../domain/errors.ts';
import {
  allowedAt,
  hopsAfter,
  isLoopNotified,
  type Loop,
  type LoopDecision,
  loopReason,
  MOST_HOPS,
  type Pair,
  pairOf,
  windowBefore,
} from '../domain/loops.ts';
import type { Addressee } from '../domain/mentions.ts';
import { type Author, authorKey, type Message } from '../domain/messages.ts';
import { type RoomNews, roomLoopReason } from '../domain/room.ts';
import { type Session, UNVERIFIED_HANDLE } from '../domain/sessions.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { findSession } from './sessions.ts';

/** A mention that must not gate, and why. */
export interface Trip {
  addressee: Addressee;
  reason: string;
}

/** A pair that the guard has stopped or the human has muted, with their handles and titles. */
export interface LoopView extends Loop {
  handles: [string, string];
  titles: [string, string];
}

/** Two sessions, by handle or by id. One of them may be `unverified`, which stands for all unverified authors. */
export type PairNames = readonly [string, string];

/** A human message to everyone, in any project. */
const EVERYWHERE = '*';

/** A human posted; this resets the loops in that project, or everywhere. */
export async function humanWrote(tx: WriteTx, { project_dir, scope }: Message): Promise<void> {
  await tx.loops.humanSpoke(scope === 'all' ? EVERYWHERE : (project_dir ?? EVERYWHERE));
}

/** How many agents' replies there are between a new message and the last human message in its chain. */
export async function hopsOf(tx: ReadTx, author: Author, parent: Message | null): Promise<number> {
  if (author.kind === 'human' || parent === null) return 0;
  const project_dir = author.project_dir ?? parent.project_dir;
  return hopsAfter(parent, await humanSpokeAt(tx, [author.session_id, parent.session_id, project_dir]));
}

/** The addressees that a message must not gate because of a loop. Notifies the human once of each loop. */
export async function guardLoops(
  tx: WriteTx,
  message: Message,
  addressees: readonly Addressee[],
): Promise<Trip[]> {
  const { project_dir } = message;
  const author = authorKey(message);
  if (author === null) return [];
  const trips: Trip[] = [];
  const news: Addressee[] = [];
  for (const addressee of addressees) {
    if (addressee.session_id === HUMAN_ADDRESSEE) continue;
    const pair = pairOf(author, addressee.session_id);
    const spoke = await humanSpokeAt(tx, [author, addressee.session_id, project_dir]);
    const reasonSince = async (seq: number, hops: number): Promise<string | null> =>
      loopReason({ hops, before: await tx.mentions.countBetween(pair, windowBefore(tx.now), seq) });
    let reason = await reasonSince(spoke, message.hops);
    if (reason === null) continue;
    const loop = await tx.loops.get(pair);
    const allowed = allowedAt(loop);
    if (allowed > spoke) reason = await reasonSince(allowed, await hopsSince(tx, message, allowed));
    if (reason === null) continue;
    trips.push({ addressee, reason });
    if (isLoopNotified(loop, spoke)) continue;
    await trip(tx, pair, message, reason);
    news.push(addressee);
  }
  const reason = trips[0]?.reason;
  if (news.length > 0 && reason !== undefined) await notifyHuman(tx, message, author, news, reason);
  return trips;
}

/**
 * The new messages in the room that a session may be notified of. Leaves out messages by agents that the human muted for it, or
 * with which it is in a loop. Notifies the human once of each such loop.
 */
export async function guardRoom(
  tx: WriteTx,
  reader: Pick<Session, 'session_id' | 'handle' | 'project_dir'>,
  news: readonly RoomNews[],
): Promise<RoomNews[]> {
  const stopped = new Set<string>();
  const byAuthor = Map.groupBy(news, ({ session_id }) => session_id);
  for (const [author, written] of byAuthor) {
    const newest = written.at(-1);
    if (author === null || newest === undefined) continue;
    const pair = pairOf(author, reader.session_id);
    const loop = await tx.loops.get(pair);
    const spoke = await humanSpokeAt(tx, [author, reader.session_id, reader.project_dir]);
    const allowed = allowedAt(loop);
    const [first, second] = await tx.messages.countOf(pair, windowBefore(tx.now), Math.max(spoke, allowed));
    const hops = await hopsSince(tx, newest, allowed);
    const reason = roomLoopReason({ hops, exchanged: 2 * Math.min(first, second) });
    if (loop?.state !== 'muted' && reason === null) continue;
    stopped.add(author);
    if (reason === null || loop?.state === 'muted' || isLoopNotified(loop, spoke)) continue;
    await trip(tx, pair, newest, reason);
    await notifyHuman(tx, newest, author, [reader], reason);
  }
  return news.filter(({ session_id }) => session_id === null || !stopped.has(session_id));
}

/**
 * The hops of a message for a pair that the human has let continue at `allowed`, a `seq`: at most the number of replies that are
 * newer. For other pairs, the chain of replies is as long as it was.
 */
async function hopsSince(
  tx: ReadTx,
  { reply_to, hops }: Pick<Message, 'reply_to' | 'hops'>,
  allowed: number,
): Promise<number> {
  if (allowed === 0 || hops <= MOST_HOPS) return hops;
  let id = reply_to;
  for (let newer = 1; newer <= MOST_HOPS; newer += 1) {
    const parent = id === null ? undefined : await tx.messages.intact(id);
    if (parent === undefined) break;
    if (parent.seq <= allowed) return newer;
    id = parent.reply_to;
  }
  return hops;
}

/** The `seq` of the newest message when a human last wrote to one of these sessions, in one of these projects or to everyone. */
export function humanSpokeAt(tx: ReadTx, subjects: readonly (string | null)[]): Promise<number> {
  return tx.loops.humanSpokeAt([...subjects.filter((subject) => subject !== null), EVERYWHERE]);
}

async function trip(
  tx: WriteTx,
  pair: Pair,
  { message_id, seq }: Pick<Message, 'message_id' | 'seq'>,
  reason: string,
): Promise<void> {
  await tx.loops.put({ ...pair, state: 'tripped', at: tx.now, seq, reason });
  await appendLoop(tx, pair, { state: 'tripped', reason, message_id });
}

async function notifyHuman(
  tx: WriteTx,
  { from_handle, session_id, message_id }: Pick<Message, 'from_handle' | 'session_id' | 'message_id'>,
  author: string,
  addressees: readonly Pick<Addressee, 'session_id' | 'handle'>[],
  reason: string,
): Promise<void> {
  const called = async (id: string | null, handle: string): Promise<string> =>
    (id === null ? undefined : await tx.sessions.get(id))?.title ?? handle;
  const names = await Promise.all(addressees.map((one) => called(one.session_id, one.handle)));
  const others = names.join(', ');
  const what =
    author === UNVERIFIED_HANDLE
      ? `Unverified messages keep mentioning ${others} (${reason}) with no message of yours in between. They still arrive but no longer hold tool calls or wake anybody. Find out what writes them, let it continue, mute it, or write to ${others}.`
      : `${await called(session_id, from_handle)} and ${others} keep replying to each other (${reason}) with no message of yours in between. Their mentions still arrive but no longer hold their tool calls or wake them. Let them continue, mute them, or write to them.`;
  await giveNotice(tx, {
    severity: 'warning',
    text: what,
    session_id,
    data: {
      notice: 'loop_tripped',
      message_id,
      reason,
      pairs: addressees.map((other) => ({
        sessions: [author, other.session_id],
        handles: [from_handle, other.handle],
      })),
    },
  });
}

export function createLoops(store: Store) {
  const idOf = async (tx: ReadTx, name: string): Promise<string> =>
    name === UNVERIFIED_HANDLE ? UNVERIFIED_HANDLE : (await findSession(tx, name)).session_id;

  async function pairNamed(tx: ReadTx, [a, b]: PairNames): Promise<Pair> {
    const [first, second] = [await idOf(tx, a), await idOf(tx, b)];
    if (first === second) throw invalidInput(`${a} and ${b} are the same session: name two.`);
    return pairOf(first, second);
  }

  return {
    /**
     * `allowed`: these two continue; their earlier messages no longer count, and their mentions gate again. `muted`: mentions
     * between the two reach neither until the human allows them again. @throws HiveError `session_not_found`.
     */
    settle: (names: PairNames, state: LoopDecision): Promise<void> =>
      store.write(async (tx) => {
        const pair = await pairNamed(tx, names);
        const seq = await tx.loops.newestSeq();
        await tx.loops.put({ ...pair, state, at: tx.now, seq, reason: `${state} by the human` });
        await appendLoop(tx, pair, { state });
      }),

    /** The pairs that are stopped or muted now. A human's message to a stopped pair ends the stop. */
    list: (): Promise<LoopView[]> =>
      store.read(async (tx) => {
        const views: LoopView[] = [];
        for (const loop of await tx.loops.list()) {
          if (loop.state === 'allowed') continue;
          const { first_session_id, second_session_id } = loop;
          const first = await tx.sessions.get(first_session_id);
          const second = await tx.sessions.get(second_session_id);
          const places = [first?.project_dir ?? null, second?.project_dir ?? null];
          const spoke = await humanSpokeAt(tx, [first_session_id, second_session_id, ...places]);
          if (loop.state === 'tripped' && !isLoopNotified(loop, spoke)) continue;
          const handles: [string, string] = [
            first?.handle ?? first_session_id,
            second?.handle ?? second_session_id,
          ];
          const titles: [string, string] = [first?.title ?? handles[0], second?.title ?? handles[1]];
          views.push({ ...loop, handles, titles });
        }
        return views;
      }),
  };
}

async function appendLoop(
  tx: WriteTx,
  { first_session_id, second_session_id }: Pair,
  change: { state: Loop['state']; reason?: string; message_id?: string },
): Promise<void> {
  const data = { sessions: [first_session_id, second_session_id], ...change };
  await tx.events.append({ type: 'loop/changed', data });
}
