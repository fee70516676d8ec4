/**
 * The feed: how a process learns what has changed. The doorbell says only that something may have; what,
 * everybody reads from the store at their own cursor (invariant 10). A lost wake-up costs time, never truth.
 */
import { isTransient } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import type { Logger, Store } from './ports.ts';
import { createRetries } from './retries.ts';

const PAGE = 500;
/** How long one who waits does before it looks again after the store failed it. */
const RETRY_MS = 1_000;

export interface Feed {
  /**
   * Hands every event after `cursor` to `onEvents`, in order and in batches, until the returned function is
   * called. `onResync` is called instead when retention has removed events that the cursor had not seen.
   */
  follow(options: FollowOptions): Following;
  /** Resolves with the first result of `check` that is not undefined; with undefined after `wait_ms` or an abort. */
  until<T>(check: () => Promise<T | undefined>, options: UntilOptions): Promise<T | undefined>;
  /** Ends every wait as if its time were up, and every following: after that the store may be closed. */
  close(): Promise<void>;
}

/** Stops the following when called; resolves once what is under way is done. */
export interface Following {
  (): Promise<void>;
  /**
   * Resolves when every event that is stored now has been handed on, or the following has stopped. A reply that
   * waits for it never overtakes the news that it rests on.
   */
  caughtUp(): Promise<void>;
}

export interface UntilOptions {
  wait_ms: number;
  signal?: AbortSignal | undefined;
  /** The subjects of the events that can change what `check` finds; missing: any. */
  subjects?: readonly string[] | undefined;
}

interface FollowOptions {
  cursor: number;
  onEvents: (events: HiveEvent[]) => Promise<void>;
  onResync: (head: number) => Promise<void>;
  /** Nobody waits for this: it is rung calmly (calm.ts). */
  debounce?: boolean;
}

export function createFeed(store: Store, log: Logger): Feed {
  /** Who waits now, and who follows, with what ends them. */
  const waits = new Map<Promise<unknown>, () => void>();
  const follows = new Set<() => void>();
  const bells = createSubjectWakeups(store);
  let closed = false;

  function follow({ cursor: start, onEvents, onResync, debounce: calm = false }: FollowOptions): Following {
    let cursor = start;
    let stopped = false;
    const bell = createWakeSource();
    const behind = new Set<() => void>();
    const retries = createRetries(log, {
      fails: 'The feed could not be read and will be read again.',
      works: 'The feed can be read again.',
    });

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
          return { pruned, head, events: head > cursor ? await tx.events.after(cursor, PAGE) : [] };
        });
        if (stopped) return;
        if (pruned > cursor) {
          await onResync(head);
          cursor = head;
          continue;
        }
        if (events.length === 0) return;
        if (!globalThis.SABOTAGE?.('skipped-event', 10)) await onEvents(events);
        if (globalThis.SABOTAGE?.('repeated-event', 10)) await onEvents(events);
        cursor = events.at(-1)?.seq ?? cursor;
        // What came in the meantime has rung its own bell; each follower of each process would look in vain.
        if (events.length < PAGE) return;
      }
    }

    async function run(): Promise<void> {
      while (!stopped) {
        try {
          // Whoever comes while this reads may know of a commit that it has not seen, and waits for the next.
          const waiters = [...behind];
          await drain();
          resume(waiters);
          retries.worked();
          if (!stopped) await bell.rung();
        } catch (error) {
          if (stopped) return;
          // A ring may mean that the store is back.
          await bell.rung(retries.failed(error));
        }
      }
    }

    const calmly = debounced(bell.ring);
    const unwatch = store.watch(calm ? calmly.call : bell.ring);
    const stop = (): void => {
      stopped = true;
      unwatch();
      calmly.stop();
      bell.stop();
    };
    follows.add(stop);
    const running = run().finally(() => {
      follows.delete(stop);
      resume(behind);
    });

    async function caughtUp(): Promise<void> {
      if (stopped) return;
      await new Promise<void>((done) => {
        behind.add(done);
        // The commit may be another process's, whose bell has not reached us yet.
        bell.ring();
      });
    }

    const unfollow = (): Promise<void> => {
      stop();
      return running;
    };
    return Object.assign(unfollow, { caughtUp });
  }

  async function until<T>(
    check: () => Promise<T | undefined>,
    options: UntilOptions,
  ): Promise<T | undefined> {
    const { wait_ms, signal } = options;
    const first = await check();
    if (first !== undefined || wait_ms <= 0 || signal?.aborted === true || closed) return first;
    const bell = createWakeSource();
    const waiting = untilRung(check, bell, options);
    waits.set(waiting, () => bell.stop());
    try {
      return await waiting;
    } finally {
      waits.delete(waiting);
    }
  }

  async function untilRung<T>(
    check: () => Promise<T | undefined>,
    bell: WakeSource,
    { wait_ms, signal, subjects }: UntilOptions,
  ): Promise<T | undefined> {
    // Armed before the second look, so that nothing can fall between looking and sleeping.
    const ring = (): void => bell.ring();
    const unwatch = subjects === undefined ? store.watch(ring) : bells.watch(subjects, ring);
    const timer = setTimeout(() => bell.stop(), Math.min(wait_ms, MAX_TIMER_MS));
    const abort = (): void => bell.stop();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      for (;;) {
        const looked = await look(check);
        if (looked.found !== undefined || bell.stopped) return looked.found;
        await bell.rung(looked.failed ? RETRY_MS : undefined);
      }
    } finally {
      unwatch();
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Who waits already outlives a store that is away for a while: it looks again, until its own time is up. */
  async function look<T>(
    check: () => Promise<T | undefined>,
  ): Promise<{ found: T | undefined; failed: boolean }> {
    try {
      return { found: await check(), failed: false };
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.warn('A wait could not look at the store and will look again.', { error: String(error) });
      return { found: undefined, failed: true };
    }
  }

  return {
    follow,
    until,
    async close() {
      closed = true;
      // Not waited for: a listener may hang, and whoever follows waits for that by stopping it.
      for (const stop of follows) stop();
      for (const stop of waits.values()) stop();
      await Promise.allSettled(waits.keys());
      // Whoever waited may look once more before they answer.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** The longest delay setTimeout knows. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A bell for one sleeper: a ring while awake is remembered, many rings are one. */
interface WakeSource {
  ring(): void;
  /** Sleeps until a ring, a stop, or `limit_ms`. */
  rung(limit_ms?: number): Promise<void>;
  stop(): void;
  readonly stopped: boolean;
}

function createWakeSource(): WakeSource {
  let pending = false;
  let stopped = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      pending = true;
      wake?.();
    },
    async rung(limit_ms) {
      if (!pending && !stopped) {
        await new Promise<void>((resolve) => {
          const timer = limit_ms === undefined ? undefined : setTimeout(resolve, limit_ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wake = null;
      pending = false;
    },
    stop() {
      stopped = true;
      wake?.();
    },
    get stopped() {
      return stopped;
    },
  };
}

// ---------------------------------------------------------------------------
// For work that nobody waits for: commits come in flocks, and one look is enough for all that come close together.

/** How long the housekeepers of a process let pass after a ring; whoever waits for an answer goes first. */
const DEBOUNCE_MS = 25;

interface Debounced {
  /** Has `act` run `ms` after the first of several calls. */
  call(): void;
  stop(): void;
}

export function debounced(act: () => void, ms: number = DEBOUNCE_MS): Debounced {
  let timer: NodeJS.Timeout | null = null;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = null;
        act();
      }, ms);
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

// ---------------------------------------------------------------------------
// Bells by subject: of many in one process that wait for a thing each, a commit wakes those whose thing it
// touched. Without this each of the 500 polls of `hive serve` would look at the store after every commit of
// anybody. A hint, as every bell is: where the log cannot say what changed, all are rung.

/** So few look for themselves, which is sooner than to read the log first. */
const FEW = 8;

export interface SubjectWakeups {
  /** Rings whenever one of the subjects may have changed, until the returned function is called. */
  watch(subjects: readonly string[], ring: () => void): () => void;
}

interface Waiter {
  subjects: readonly string[];
  ring: () => void;
}

export function createSubjectWakeups(store: Pick<Store, 'read' | 'watch'>): SubjectWakeups {
  const waiters = new Set<Waiter>();
  const bySubject = new Map<string, Set<Waiter>>();
  let unwatch: (() => void) | null = null;
  /** Events up to here have rung; null while nobody has read the log. */
  let cursor: number | null = null;
  let reading = false;
  let again = false;

  function ringAll(): void {
    for (const { ring } of [...waiters]) ring();
  }

  /** Everybody whose subject stands in the log since the last time. */
  async function ringTouched(): Promise<void> {
    const from = cursor;
    const { head, pruned, events } = await store.read(async (tx) => ({
      head: await tx.events.head(),
      pruned: await tx.events.pruned(),
      events: from === null ? [] : await tx.events.after(from, PAGE),
    }));
    cursor = head;
    // The beginning, more than a page, or what retention has removed: the log does not say what changed.
    if (from === null || events.length >= PAGE || pruned > from) return ringAll();
    const touched = new Set(events.flatMap(({ subject }) => [...(bySubject.get(subject ?? '') ?? [])]));
    for (const { ring } of touched) ring();
  }

  async function rung(): Promise<void> {
    if (waiters.size <= FEW) {
      cursor = null;
      return ringAll();
    }
    again = true;
    if (reading) return;
    reading = true;
    try {
      while (again) {
        again = false;
        await ringTouched();
      }
    } catch {
      // Whoever waits looks at the store by itself, and says what is wrong with it.
      cursor = null;
      ringAll();
    } finally {
      reading = false;
    }
  }

  return {
    watch(subjects, ring) {
      const waiter = { subjects, ring };
      waiters.add(waiter);
      for (const subject of subjects) {
        const others = bySubject.get(subject) ?? new Set();
        bySubject.set(subject, others.add(waiter));
      }
      unwatch ??= store.watch(() => void rung());
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
