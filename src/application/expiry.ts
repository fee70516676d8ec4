/**
 * Expiry: any live hive process lets prompts and mentions expire when their time is up, within a quarter of a
 * second. Each keeps one timer for the earliest; a transaction in the store lets one of them win.
 */
import type { Logger, ReadTx, Store } from './ports.ts';

/** One kind of thing that expires. */
export interface Expiring {
  /** Expires what is due; another process may have been first. */
  expireDue(): Promise<number>;
  /** When the next of them expires. */
  next(tx: ReadTx): Promise<string | null>;
}

/** The longest sleep: a stepped clock is noticed after this. */
const MAX_SLEEP_MS = 30_000;
/** Several processes wake for the same prompt; a little scatter keeps them from colliding. */
const SCATTER_MS = 20;
/** How long to wait after the store refused. */
const RETRY_MS = 1_000;

/** Runs until the returned function is called. */
export function startExpiry(store: Store, kinds: readonly Expiring[], log: Logger): () => void {
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let looking = false;
  let again = false;

  async function look(): Promise<void> {
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    try {
      let next: { at: string | null; now: string };
      do {
        again = false;
        for (const kind of kinds) await kind.expireDue();
        next = await store.read(async (tx) => ({ at: await earliest(tx, kinds), now: tx.now }));
        // A bell that rang meanwhile may tell of something that neither of the two has seen.
      } while (again && !stopped);
      if (next.at === null) return;
      // By the store's clock, which need not be this machine's.
      const due_in = Date.parse(next.at) - Date.parse(next.now);
      schedule(Math.min(due_in, MAX_SLEEP_MS) + Math.random() * SCATTER_MS);
    } catch (error) {
      log.warn('Expiry could not look at the store and will try again.', { error: String(error) });
      schedule(RETRY_MS);
    } finally {
      looking = false;
    }
  }

  function schedule(delay: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = stopped ? null : setTimeout(() => void look(), Math.max(1, delay));
  }

  const unwatch = store.watch(() => void look());
  void look();
  return () => {
    stopped = true;
    unwatch();
    if (timer !== null) clearTimeout(timer);
  };
}

async function earliest(tx: ReadTx, kinds: readonly Expiring[]): Promise<string | null> {
  const times = await Promise.all(kinds.map((kind) => kind.next(tx)));
  return times.reduce(
    (first, time) => (first === null || (time !== null && time < first) ? time : first),
    null,
  );
}
