/**
 * Waking idle agents. A waker outlives Esc, /clear and the turn in which it began. So before it prints anything, it checks in the
 * store that the session still exists, is idle and has something to read, and that this is still its waker.
 */

import { refuse } from '../domain/actors.ts';
import type { Mention } from '../domain/mentions.ts';
import type { Preferences } from '../domain/preferences.ts';
import { OPEN_LIMIT } from '../domain/prompts.ts';
import { type Session, threadOf } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { timeAfter } from '../domain/times.ts';
import {
  isMentionWorthWaking,
  isWorthWaking,
  MOST_WAKES,
  mentionWakeSentence,
  newWaker,
  type Waker,
  wakeLifeMs,
  wakeSentence,
  wakesSince,
  wokenFor,
} from '../domain/wakes.ts';
import { beside } from './background.ts';
import type { UntilOptions } from './feed.ts';
import { refusalToSpeak, type Speaker } from './identity.ts';
import { humanSpokeAt } from './loops.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { ReadTx, WriteTx } from './ports.ts';
import { preferencesAt } from './settings.ts';
import type { CodexControl } from './world.ts';

/** One wait for an idle session. */
export interface WakeWait {
  session_id: string;
  /** The waiting process, if its claim to belong to the session must be checked (identity.ts). */
  speaker?: Speaker | undefined;
  /** The seat whose preferences decide how long to wait and which reasons wake. */
  seat: string;
  /** The longest wait, in ms; default: the person's preference. */
  wait_ms?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Delivers the sentence to the session; false if it cannot, and then the next waker does. */
  deliver: (text: string) => Promise<boolean>;
  /** Whether several wakers may wait for this session without replacing each other, because not all of them can reach it. */
  shared?: boolean | undefined;
}

/** In ms, longer than any delivery takes. If the delivering process dies, another one may wake the session after this time. */
const DELIVERY_MS = 30_000;

/** In ms: how long a waker tries to begin in a store that is unavailable; until then it does not know its longest wait. */
const BEGIN_MS = 10 * 60_000;

/** In ms: how long a waker lets the previous one of its client finish, which only has to print its sentence. */
const HANDOVER_MS = 2_000;

/** A session to wake, and why. */
interface Wanted {
  session: Session;
  waker: Waker;
  ask_ids: string[];
  mentions: Mention[];
  /** The `seq` of the newest message when a human last wrote to it. */
  spoke: number;
}

/** A wake-up that only this waker may deliver, and its sentence. */
interface Claimed {
  wanted: Wanted;
  text: string;
}

/** A process that waits for a reason to wake a session. */
interface Waiting {
  session_id: string;
  waker_id: string;
  shared: boolean;
  preferences: (tx: ReadTx) => Promise<Preferences>;
}

/** A reason to wake, nothing yet, or `over` if there is nothing to wait for any more. */
type Found = Wanted | 'over' | undefined;

/** At most this many mentions are read. A session with this many unread ones is not woken for another. */
const MENTIONS_LIMIT = 100;

export type WakeService = ReturnType<typeof createWakes>;

export function createWakes({
  store,
  feed,
  ids,
  processes,
}: Pick<Parts, 'store' | 'feed' | 'ids' | 'processes'>) {
  /** Delivers a wake-up. It counts only once delivered: if that fails, or this process dies, another waker delivers it. */
  async function isDelivered(
    { wanted, text }: Claimed,
    waker_id: string,
    deliver: WakeWait['deliver'],
  ): Promise<boolean> {
    let delivered = false;
    try {
      delivered = await deliver(text);
    } finally {
      await store.write((tx) => (delivered ? recordWake : giveUp)(tx, wanted, waker_id));
    }
    return delivered;
  }

  /** Replaces the previous waker, which may be about to deliver a wake-up that must not happen twice. */
  async function replaceWaker({
    session_id,
    waker_id,
    wait_ms,
    signal,
  }: Pick<Waiting, 'session_id' | 'waker_id'> & UntilOptions): Promise<void> {
    const isFree = async (tx: ReadTx): Promise<boolean> => {
      const { until } = (await tx.wakers.get(session_id)) ?? newWaker(session_id);
      return until === null || until <= tx.now;
    };
    const replace = (isLast: boolean): Promise<true | undefined> =>
      store.write(async (tx) => {
        if (!isLast && !(await isFree(tx))) return undefined;
        const waker = (await tx.wakers.get(session_id)) ?? newWaker(session_id);
        await tx.wakers.put({ ...waker, waker_id, until: null });
        return true;
      });
    const replaceFree = async (): Promise<true | undefined> =>
      (await store.read(isFree)) ? replace(false) : undefined;
    const replaced = await feed.until(replaceFree, { wait_ms: HANDOVER_MS, signal });
    if (replaced === undefined && signal?.aborted !== true)
      await feed.until(() => replace(true), { wait_ms, signal });
  }

  return {
    /**
     * Waits until the session is idle and has an answer to fetch or a mention to read. Returns the sentence that wakes it, to one
     * waker only. Null if the time is up, the session has ended, another waker has replaced this one, or the sentence could not be
     * delivered. @throws HiveError `not_allowed` if the session belongs to another process.
     */
    async untilWanted(wait: WakeWait): Promise<string | null> {
      const { session_id, speaker, seat, wait_ms, signal, deliver, shared = false } = wait;
      const preferences = (tx: ReadTx): Promise<Preferences> => preferencesAt(tx, seat);
      const begin = (): Promise<number | 'off'> =>
        store.read(async (tx) => {
          const session = await tx.sessions.get(session_id);
          if (session !== undefined && speaker !== undefined)
            refuse(await refusalToSpeak(tx, session, speaker, processes));
          return wakeLifeMs(await preferences(tx)) ?? 'off';
        });
      // Each step is one check of a wait, which survives a locked or unavailable store.
      const longest_ms = await feed.until(begin, { wait_ms: wait_ms ?? BEGIN_MS, signal });
      if (longest_ms === undefined || longest_ms === 'off') return null;
      const life_ms = Math.min(longest_ms, wait_ms ?? longest_ms);
      const waker_id = ids.make('waker');
      if (!shared) await replaceWaker({ session_id, waker_id, wait_ms: life_ms, signal });
      const find = (tx: ReadTx): Promise<Found> =>
        findReasons(tx, { session_id, waker_id, shared, preferences });
      const claim = async (): Promise<Claimed | 'over' | undefined> => {
        const found = await store.read(find);
        if (found === undefined || found === 'over') return found;
        return store.write(async (tx) => {
          const wanted = await find(tx);
          if (wanted === undefined || wanted === 'over') return wanted;
          await tx.wakers.put({ ...wanted.waker, waker_id, until: timeAfter(tx.now, DELIVERY_MS) });
          return { wanted, text: await sentenceFor(tx, wanted) };
        });
      };
      const claimed = await feed.until(claim, { wait_ms: life_ms, signal });
      if (claimed === undefined || claimed === 'over') return null;
      return (await isDelivered(claimed, waker_id, deliver)) ? claimed.text : null;
    },
  };
}

async function findReasons(
  tx: ReadTx,
  { session_id, waker_id, shared, preferences }: Waiting,
): Promise<Found> {
  const waker = (await tx.wakers.get(session_id)) ?? newWaker(session_id);
  if (!shared && waker.waker_id !== waker_id) return 'over';
  // Another waker is delivering a wake-up; its outcome rings the doorbell for this one.
  if (shared && waker.until !== null && waker.until > tx.now) return undefined;
  const session = await tx.sessions.get(session_id);
  if (session?.state === 'ended') return 'over';
  // Its first hook may not have run yet, and a running session gets its answers with its tool calls.
  if (session === undefined || (await tx.turns.current(session_id)) !== undefined) return undefined;
  const uncollected = await tx.prompts.uncollectedOf(session_id, OPEN_LIMIT);
  const ask_ids = uncollected.filter((prompt) => isWorthWaking(prompt, waker)).map(({ ask_id }) => ask_id);
  const undelivered = await tx.mentions.undelivered(session_id, MENTIONS_LIMIT);
  if (ask_ids.length === 0 && undelivered.length === 0) return undefined;
  // Read only now, because most checks find nothing. Changes by the person apply at once.
  const preferred = await preferences(tx);
  if (wakeLifeMs(preferred) === null) return 'over';
  const gate = session.gate ?? preferred.gate;
  const worth = undelivered.filter((mention) => isMentionWorthWaking(mention, waker, gate));
  if (ask_ids.length === 0 && worth.length === 0) return undefined;
  const spoke = await humanSpokeAt(tx, [session_id, session.project_dir]);
  const mayWake = wakesSince(waker, spoke) < MOST_WAKES;
  const mentions = worth.filter(({ from_session_id }) => from_session_id === null || mayWake);
  if (ask_ids.length === 0 && mentions.length === 0) return undefined;
  return { session, waker, ask_ids, mentions, spoke };
}

async function sentenceFor(tx: ReadTx, { ask_ids, mentions }: Wanted): Promise<string> {
  const sentences = ask_ids.length === 0 ? [] : [wakeSentence(ask_ids)];
  if (mentions.length > 0) {
    const read = await Promise.all(mentions.map(({ mention_id }) => tx.mentions.get(mention_id)));
    sentences.push(mentionWakeSentence(read.filter((mention) => mention !== undefined)));
  }
  return sentences.join(' ');
}

async function recordWake(tx: WriteTx, wanted: Wanted, waker_id: string): Promise<void> {
  const { session, ask_ids, mentions, spoke } = wanted;
  const { session_id } = session;
  const waker = (await tx.wakers.get(session_id)) ?? newWaker(session_id);
  const woken = wokenFor(waker, { ask_ids, mentions }, spoke);
  // Another waker may be waiting by now.
  const { waker_id: other, until } = waker;
  await tx.wakers.put(other === waker_id ? woken : { ...woken, waker_id: other, until });
  await appendWoken(tx, wanted, {});
  if (woken.wakes === MOST_WAKES && wakesSince(waker, spoke) < MOST_WAKES) await noticeWakeLimit(tx, session);
}

/** Releases a failed wake-up. The event also wakes the other wakers. */
async function giveUp(tx: WriteTx, wanted: Wanted, waker_id: string): Promise<void> {
  const waker = await tx.wakers.get(wanted.session.session_id);
  if (waker?.waker_id !== waker_id) return;
  await tx.wakers.put({ ...waker, waker_id: null, until: null });
  await appendWoken(tx, wanted, { failed: true });
}

async function appendWoken(
  tx: WriteTx,
  { session: { session_id }, ask_ids, mentions }: Wanted,
  outcome: { failed?: true },
): Promise<void> {
  const mention_ids = mentions.map(({ mention_id }) => mention_id);
  const data = { ask_ids, mention_ids, ...outcome };
  await tx.events.append({ type: 'session/woken', session_id, subject: session_id, data });
}

async function noticeWakeLimit(tx: WriteTx, session: Session): Promise<void> {
  const { session_id } = session;
  await giveNotice(tx, {
    severity: 'warning',
    session_id,
    text: `Mentions by other agents have woken ${labelled(session)} ${MOST_WAKES} times since you last wrote. They still reach it but no longer wake it, until you write to it or in its project.`,
    data: { guard: 'wakes', wakes: MOST_WAKES },
  });
}

// ---- Waking Codex ----
// Codex has no hook that could wake it, so its own `hive mcp` waits and queues a message for a session of the daemon. That
// message is not the human's, and is marked so that our hooks recognize it.

const CODEX = /codex/i;

export function createCodexWaker(
  {
    store,
    feed,
    wakes,
    codex,
    machine,
    log,
  }: Pick<Parts, 'store' | 'feed' | 'machine' | 'log'> & {
    wakes: WakeService;
    codex: () => Promise<Pick<CodexControl, 'queue'>>;
  },
  { seat }: Pick<WakeWait, 'seat'>,
) {
  const stop = new AbortController();
  const waitingFor = new Set<string>();
  let unfollow: (() => Promise<void>) | null = null;

  async function wait(session: Session): Promise<void> {
    const { session_id } = session;
    // A session without a daemon cannot be woken and gets everything with its next turn. A session of another process's daemon is
    // woken by that process.
    const deliver = async (text: string): Promise<boolean> => {
      const message = `<task-notification>Hive: ${text}</task-notification>`;
      return !stop.signal.aborted && (await codex()).queue({ thread_id: threadOf(session), message });
    };
    const waiting = { session_id, seat, deliver, shared: true, signal: stop.signal };
    while (!stop.signal.aborted && (await wakes.untilWanted(waiting)) !== null);
  }

  function waitFor(session: Session): void {
    const { session_id, client, parent_session_id } = session;
    if (stop.signal.aborted || waitingFor.has(session_id) || !CODEX.test(client)) return;
    // A subagent is never idle: it ends.
    if (parent_session_id !== null && threadOf(session) !== session_id) return;
    waitingFor.add(session_id);
    void beside(log, 'A wait for an idle Codex has ended.', () => wait(session)).then(() =>
      waitingFor.delete(session_id),
    );
  }

  function followMentions(): () => Promise<void> {
    return feed.follow({
      async onEvents(events) {
        const mentioned = events.filter(({ type }) => type === 'mention/created');
        for (const session_id of new Set(mentioned.map((event) => event.session_id))) {
          if (session_id === null) continue;
          const session = await store.read((tx) => tx.sessions.get(session_id));
          if (session?.machine === machine && session.state !== 'ended') waitFor(session);
        }
      },
      // Missed mentions are delivered with the next turn.
      onResync: async () => undefined,
    });
  }

  return {
    /** Begins to wait for this session, which calls through this process. */
    onSession: waitFor,
    /**
     * Called with the name of this process's client. A session that has never called our tools is known only from its hooks,
     * which do not report its process, so any Codex process on the machine may wake it, and the first that can does.
     */
    onClient(client: string): void {
      if (CODEX.test(client)) unfollow ??= followMentions();
    },
    close(): void {
      stop.abort();
      void unfollow?.();
    },
  };
}
