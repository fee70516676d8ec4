/**
 * Waking idle agents. A waiter outlives Esc, /clear and the turn it began in, so it asks the store before it
 * says a word: whether the session is still there, idle and wanting, and this waiter still the one.
 */
import { isWorthWaking, wakeLifeMs, wakeSentence, wokenFor } from '../domain/hooks.ts';
import { OPEN_LIMIT } from '../domain/prompts.ts';
import { type Session, threadOf } from '../domain/sessions.ts';
import type { Feed } from './feed.ts';
import type { CodexControl, Ids, Logger, ReadTx, Store } from './ports.ts';

export interface WakeService {
  /**
   * Waits until the session is idle with an answer to fetch, and gives what to tell it, to one waiter only; null
   * when the time is up, the session has ended, or another waits for it by now.
   */
  untilWanted(wait: WakeWait): Promise<string | null>;
}

interface WakeWait {
  session_id: string;
  life_ms: number;
  signal?: AbortSignal | undefined;
}

/** What a look finds: nothing yet, the answers to tell of, or nothing to wait for any more. */
type Found = readonly string[] | 'over' | undefined;

export function createWakes({ store, feed, ids }: { store: Store; feed: Feed; ids: Ids }): WakeService {
  return {
    async untilWanted({ session_id, life_ms, signal }) {
      const waker_id = ids.make('waker');
      await store.write(async (tx) => {
        const told = (await tx.wakers.get(session_id))?.told ?? [];
        const until = new Date(Date.parse(tx.now) + life_ms).toISOString();
        await tx.wakers.put({ session_id, waker_id, until, told });
      });
      const look = (tx: ReadTx): Promise<Found> => lookAt(tx, session_id, waker_id);
      for (;;) {
        const found = await feed.until(() => store.read(look), { wait_ms: life_ms, signal });
        if (found === undefined || found === 'over') return null;
        const woken = await store.write(async (tx) => {
          const now = await look(tx);
          if (now === undefined || now === 'over') return now;
          const waker = await tx.wakers.get(session_id);
          if (waker !== undefined) await tx.wakers.put(wokenFor(waker, now));
          const data = { ask_ids: now };
          await tx.events.append({ type: 'session/woken', session_id, subject: session_id, data });
          return now;
        });
        if (woken === 'over') return null;
        if (woken !== undefined) return wakeSentence(woken);
      }
    },
  };
}

async function lookAt(tx: ReadTx, session_id: string, waker_id: string): Promise<Found> {
  const waker = await tx.wakers.get(session_id);
  if (waker?.waker_id !== waker_id) return 'over';
  const session = await tx.sessions.get(session_id);
  if (session?.state === 'ended') return 'over';
  // Its first hook may not have spoken yet; and whoever is at work gets its answers with its tools.
  if (session === undefined || (await tx.turns.current(session_id)) !== undefined) return undefined;
  const uncollected = await tx.prompts.uncollectedOf(session_id, OPEN_LIMIT);
  const answered = uncollected.filter((prompt) => isWorthWaking(prompt, waker));
  return answered.length === 0 ? undefined : answered.map(({ ask_id }) => ask_id);
}

// ---------------------------------------------------------------------------
// Codex has no hook that could wake it: its own `hive mcp` waits beside it and queues a message for a session
// of the daemon. That message is no word of the human's, and is written so that our hooks know it.

export interface CodexWaker {
  /** This session speaks through this process. */
  note(session: Session): void;
  close(): void;
}

export function createCodexWaker(
  { wakes, codex, log }: { wakes: WakeService; codex: CodexControl; log: Logger },
  env: Readonly<Record<string, string | undefined>>,
): CodexWaker {
  const life_ms = wakeLifeMs(env['HIVE_WAKE']);
  const stop = new AbortController();
  let waitsFor: string | null = null;

  async function wait(session: Session): Promise<void> {
    const { session_id } = session;
    for (;;) {
      const text = await wakes.untilWanted({ session_id, life_ms: life_ms ?? 0, signal: stop.signal });
      if (text === null || stop.signal.aborted) return;
      const message = `<task-notification>Hive: ${text}</task-notification>`;
      // One that no daemon hosts cannot be woken; it gets its answers with its next turn.
      if (!(await codex.queue({ thread_id: threadOf(session), message }))) return;
    }
  }

  return {
    note(session) {
      const { session_id, client, parent_session_id } = session;
      if (life_ms === null || waitsFor === session_id || !/codex/i.test(client)) return;
      // A subagent does not idle: it ends.
      if (parent_session_id !== null && threadOf(session) !== session_id) return;
      waitsFor = session_id;
      wait(session)
        .catch((error: unknown) => log.warn('A wait for an idle Codex has ended.', { error: String(error) }))
        .finally(() => {
          if (waitsFor === session_id) waitsFor = null;
        });
    },
    close: () => stop.abort(),
  };
}
