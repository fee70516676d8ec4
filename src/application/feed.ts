/**
 * The feed: how a process learns what has changed. The doorbell only signals that something may have changed; each
 * process reads the change from the store, from its own cursor (invariant 10). A lost wake-up costs time, never correctness.
 * `follow` is for passing events on, as the sidecar does to Emacs (`startEvents` in adapters/emacs/connection.ts); `until` is for
 * waiting for one thing, as a poll does (`wait` in prompts.ts).
 */
import { isTransient } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import { breathe, createRetries, type Retries } from './background.ts';
import type { ReadTx, Store } from './ports.ts';
import type { Logger } from './world.ts';

const PAGE = 500;
/** How long a wait pauses after the store failed, in ms. */
const RETRY_MS = 1_000;

/** Stops following when called; resolves once the batch in progress is done. */
export interface Following {
  (): Promise<void>;
  /**
   * Resolves when every event stored by now has been passed on, or following has stopped. A reply that waits for this never
   * overtakes the events that it is based on.
   */
  caughtUp(): Promise<void>;
}

export interface UntilOptions {
  /** Infinity: until `check` has a result, or an abort. */
  wait_ms: number;
  signal?: AbortSignal | undefined;
  /** The subjects of the events that can change the result of `check`; missing: any. */
  subjects?: readonly string[] | undefined;
}

export interface FollowOptions {
  /** Events after this one are passed on; missing: those after the newest one now. */
  cursor?: number | undefined;
  onEvents: (events: HiveEvent[]) => Promise<void>;
  onResync: (head: number) => Promise<void>;
  /** Whether wake-ups are debounced, for work that nobody waits for. */
  debounce?: boolean | undefined;
}

export type Feed = ReturnType<typeof createFeed>;

export function createFeed(store: Store, log: Logger) {
  /** The current waits and followers, with the functions that end them. */
  const waits = new Map<Promise<unknown>, () => void>();
  const follows = new Set<() => void>();
  const wakeups = createSubjectWakeups(store);
  let closed = false;

  /**
   * Passes every event after `cursor` to `onEvents`, in order and in batches, until the returned function is called.
   * `onResync` is called instead if retention has removed events after this cursor.
   */
  function follow({ cursor: start, onEvents, onResync, debounce }: FollowOptions): Following {
    let cursor = start ?? null;
    const behind = new Set<() => void>();

    function resume(waiters: Iterable<() => void>): void {
      for (const waiter of waiters) {
        behind.delete(waiter);
        waiter();
      }
    }

    async function drain(): Promise<void> {
      for (;;) {
        const { events, pruned, head } = await store.read(async (tx) => {
          const pruned = await tx.events.pruned();
          const head = await tx.events.head();
          const from = cursor ?? head;
          return { pruned, head, events: head > from ? await tx.events.after(from, PAGE) : [] };
        });
        if (rounds.stopped) return;
        cursor ??= head;
        if (pruned > cursor) {
          await onResync(head);
          cursor = head;
          continue;
        }
        if (events.length === 0) return;
        await onEvents(events);
        cursor = events.at(-1)?.seq ?? cursor;
        // Events that arrived in the meantime have rung the doorbell again, so another read would usually find nothing.
        if (events.length < PAGE) return;
      }
    }

    async function round(): Promise<void> {
      // Only callers from before this read began: later ones may know of a commit that is newer than the read.
      const waiters = [...behind];
      await drain();
      resume(waiters);
    }

    const retries = createRetries(log, {
      fails: 'The feed could not be read and will be read again.',
      works: 'The feed can be read again.',
    });
    const rounds = inRounds(store, round, retries, debounce);
    follows.add(rounds.stop);
    const ended = rounds.ended.finally(() => {
      follows.delete(rounds.stop);
      resume(behind);
    });

    async function caughtUp(): Promise<void> {
      if (rounds.stopped) return;
      await new Promise<void>((done) => {
        behind.add(done);
        // The commit may be another process's, and its doorbell may not have reached us yet.
        rounds.wake();
      });
    }

    const unfollow = (): Promise<void> => {
      rounds.stop();
      return ended;
    };
    return Object.assign(unfollow, { caughtUp });
  }

  /** Resolves with the first result of `check` that is not undefined; with undefined after `wait_ms` or an abort. */
  async function until<T>(
    check: () => Promise<T | undefined>,
    options: UntilOptions,
  ): Promise<T | undefined> {
    const { wait_ms, signal } = options;
    const isOver = (): boolean => wait_ms <= 0 || signal?.aborted === true || closed;
    const first = isOver() ? await check() : (await tryCheck(check)).found;
    if (first !== undefined || isOver()) return first;
    const sleeper = createSleeper();
    const waiting = untilWoken(check, sleeper, options);
    waits.set(waiting, () => sleeper.stop());
    try {
      return await waiting;
    } finally {
      waits.delete(waiting);
    }
  }

  async function untilWoken<T>(
    check: () => Promise<T | undefined>,
    sleeper: Sleeper,
    { wait_ms, signal, subjects }: UntilOptions,
  ): Promise<T | undefined> {
    // Armed before the second check, so that no change between checking and sleeping is missed.
    const wake = (): void => sleeper.wake();
    const unwatch = subjects === undefined ? store.watch(wake) : wakeups.watch(subjects, wake);
    const end = performance.now() + wait_ms;
    let timer: NodeJS.Timeout | undefined;
    const stopAtEnd = (): void => {
      const left_ms = end - performance.now();
      if (left_ms <= 0) sleeper.stop();
      else timer = setTimeout(stopAtEnd, Math.min(left_ms, MAX_TIMER_MS));
    };
    stopAtEnd();
    const abort = (): void => sleeper.stop();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      for (;;) {
        const checked = await tryCheck(check);
        if (checked.found !== undefined || sleeper.stopped) return checked.found;
        await sleeper.sleep(checked.failed ? RETRY_MS : undefined);
      }
    } finally {
      unwatch();
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** A wait outlives a store that is unavailable for a while: it checks again until its own time is up. */
  async function tryCheck<T>(
    check: () => Promise<T | undefined>,
  ): Promise<{ found: T | undefined; failed: boolean }> {
    try {
      return { found: await check(), failed: false };
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.warn('A wait could not read the store and will try again.', { error: String(error) });
      return { found: undefined, failed: true };
    }
  }

  return {
    follow,
    until,
    /** Ends every wait as if its time were up, and every follower; then the store may be closed. */
    async close(): Promise<void> {
      closed = true;
      // Not awaited, because a listener may hang; the follower awaits it when it stops.
      for (const stop of follows) stop();
      for (const stop of waits.values()) stop();
      await Promise.allSettled(waits.keys());
      // A wait that ended may check once more before it answers.
      await breathe();
    },
  };
}

/**
 * Work that is done now, and again whenever the store may have changed: one round at a time, and one that fails is repeated.
 * `debounce`: for work that nobody waits for.
 */
function inRounds(
  store: Pick<Store, 'watch'>,
  round: () => Promise<void>,
  retries: Retries,
  debounce = false,
) {
  const sleeper = createSleeper();
  const debouncedWake = debounced(sleeper.wake);
  const unwatch = store.watch(debounce ? debouncedWake.call : sleeper.wake);

  async function run(): Promise<void> {
    while (!sleeper.stopped) {
      try {
        await round();
        retries.worked();
        await sleeper.sleep();
      } catch (error) {
        // A wake-up may mean that the store is back.
        if (!sleeper.stopped) await sleeper.sleep(retries.failed(error));
      }
    }
  }

  return {
    /** Makes the next round begin, as a change of the store does. */
    wake: sleeper.wake,
    stop(): void {
      unwatch();
      debouncedWake.stop();
      sleeper.stop();
    },
    get stopped(): boolean {
      return sleeper.stopped;
    },
    /** Resolves once the work is stopped and its last round is over. */
    ended: run(),
  };
}

/**
 * Calls `listener` with what `read` finds now, and again whenever the store may have changed, until the returned function is
 * called. For what is admitted: revoking a token or a device closes its connections at once.
 */
export function watchAdmitted<Found>(
  store: Pick<Store, 'read' | 'watch'>,
  log: Logger,
  read: (tx: ReadTx) => Promise<Found>,
  listener: (found: Found) => void,
): () => void {
  const retries = createRetries(log, {
    fails: 'What is admitted could not be read and will be read again.',
    works: 'What is admitted can be read again.',
  });
  return inRounds(store, async () => listener(await store.read(read)), retries).stop;
}

/** The longest delay of setTimeout, in ms: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Sleeper = ReturnType<typeof createSleeper>;

/** Sleeps until somebody wakes it. A wake-up while it is awake is remembered; several count as one. */
function createSleeper() {
  let pending = false;
  let stopped = false;
  let endSleep: (() => void) | null = null;
  return {
    wake(): void {
      pending = true;
      endSleep?.();
    },
    /** Sleeps until a wake-up, a stop, or `limit_ms`. */
    async sleep(limit_ms?: number): Promise<void> {
      if (!pending && !stopped) {
        await new Promise<void>((resolve) => {
          const timer = limit_ms === undefined ? undefined : setTimeout(resolve, limit_ms);
          endSleep = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endSleep = null;
      pending = false;
    },
    stop(): void {
      stopped = true;
      endSleep?.();
    },
    get stopped(): boolean {
      return stopped;
    },
  };
}

// ---- Debouncing ----
// For work that nobody waits for. Commits come in bursts, and one read is enough for a burst.

/** How long background work waits after a wake-up, in ms, so that waits for an answer go first. */
const DEBOUNCE_MS = 25;

/** Collects calls for a moment and runs `act` once for all of them. */
export function debounced(act: () => void) {
  let timer: NodeJS.Timeout | null = null;
  return {
    /** Runs `act` once, a little after the first of several calls. */
    call(): void {
      timer ??= setTimeout(() => {
        timer = null;
        act();
      }, DEBOUNCE_MS);
    },
    stop(): void {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

// ---- Wake-ups by subject ----
// If many waits in one process are each for one thing, a commit wakes only those whose thing it changed. Otherwise each of the
// 500 polls of `hive serve` would read the store after every commit. Like the doorbell, this is a hint: if the event log cannot
// tell what changed, all are woken.

/** Up to this many waiters are always all woken, which is faster than reading the event log first. */
const FEW = 8;

interface Waiter {
  subjects: readonly string[];
  wake: () => void;
}

/** Wake-ups by subject, with one watch of the store that lasts while there are waiters. */
export function createSubjectWakeups(store: Pick<Store, 'read' | 'watch'>) {
  const waiters = new Set<Waiter>();
  const bySubject = new Map<string, Set<Waiter>>();
  let unwatch: (() => void) | null = null;
  /** Events up to here have woken their waiters; null before the first read. */
  let cursor: number | null = null;
  let reading = false;
  let again = false;

  function wakeAll(): void {
    for (const { wake } of [...waiters]) wake();
  }

  /** Wakes the waiters whose subject is in the event log since the last read. */
  async function wakeTouched(): Promise<void> {
    const from = cursor;
    const { head, pruned, events } = await store.read(async (tx) => ({
      head: await tx.events.head(),
      pruned: await tx.events.pruned(),
      events: from === null ? [] : await tx.events.after(from, PAGE),
    }));
    cursor = head;
    // The first read, more than a page, or events removed by retention: the log cannot tell what changed.
    if (from === null || events.length >= PAGE || pruned > from) return wakeAll();
    const touched = new Set(events.flatMap(({ subject }) => [...(bySubject.get(subject ?? '') ?? [])]));
    for (const { wake } of touched) wake();
  }

  async function onCommit(): Promise<void> {
    if (waiters.size <= FEW) {
      cursor = null;
      return wakeAll();
    }
    again = true;
    if (reading) return;
    reading = true;
    try {
      while (again) {
        again = false;
        await wakeTouched();
      }
    } catch {
      // Each waiter reads the store itself and reports the error.
      cursor = null;
      wakeAll();
    } finally {
      reading = false;
    }
  }

  return {
    /** Calls `wake` whenever one of the subjects may have changed, until the returned function is called. */
    watch(subjects: readonly string[], wake: () => void): () => void {
      const waiter = { subjects, wake };
      waiters.add(waiter);
      for (const subject of subjects) {
        const others = bySubject.get(subject) ?? new Set();
        bySubject.set(subject, others.add(waiter));
      }
      unwatch ??= store.watch(() => void onCommit());
      return () => {
        waiters.delete(waiter);
        for (const subject of subjects) {
          const others = bySubject.get(subject);
          others?.delete(waiter);
          if (others?.size === 0) bySubject.delete(subject);
        }
        if (waiters.size > 0) return;
        unwatch?.();
        unwatch = null;
        cursor = null;
      };
    },
  };
}
