/**
 * Expiry: every live Hive process expires prompts and mentions within a quarter of a second of their time, and cleans up after
 * ended sessions and damaged prompts. Each process has one timer for the earliest time; a transaction lets one process win.
 */
import type { Session } from '../domain/sessions.ts';
import { createRetries, repeatedly } from './background.ts';
import { debounced } from './feed.ts';
import type { Parts } from './parts.ts';
import type { Deadlines, ReadTx, Store, WriteTx } from './ports.ts';
import type { Logger } from './world.ts';

/** One kind of thing that expires. */
export interface Expiring {
  /** Expires what is due; another process may have been first. Returns how many. */
  expireDue(): Promise<number>;
  /** When the next of them expires; null when none does. */
  next(tx: ReadTx): Promise<string | null>;
}

/** How many are expired in one transaction, so that other writers can write in between. */
const BATCH = 200;

/** Records everything that is due, batch by batch. Returns how many this process recorded. */
export async function writeDue<Due>(
  store: Store,
  deadlines: (tx: ReadTx) => Deadlines<Due>,
  record: (tx: WriteTx, batch: readonly Due[]) => Promise<unknown>,
): Promise<number> {
  let written = 0;
  while ((await store.read((tx) => deadlines(tx).due(tx.now, 1))).length > 0) {
    const count = await store.write(async (tx) => {
      const batch = await deadlines(tx).due(tx.now, BATCH);
      await record(tx, batch);
      return batch.length;
    });
    // Another process was first, or the clock was set back.
    if (count === 0) break;
    written += count;
  }
  return written;
}

/** The longest sleep, in ms, so that a changed clock is noticed. */
const MAX_SLEEP_MS = 30_000;
/** Several processes wake for the same prompt; a random delay of up to this many ms spreads them. */
const SCATTER_MS = 20;

/** Runs until the returned function is called. */
export function startExpiry(store: Store, kinds: readonly Expiring[], log: Logger): () => void {
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let checking = false;
  const retries = createRetries(log, {
    fails: 'Expiry could not read the store and will try again.',
    works: 'Expiry can read the store again.',
  });

  async function check(): Promise<void> {
    if (checking) return debouncedCheck.call();
    checking = true;
    try {
      let due_in = await untilNext();
      if (due_in !== null && due_in <= 0) {
        for (const kind of kinds) await kind.expireDue();
        due_in = await untilNext();
      }
      retries.worked();
      if (due_in !== null) schedule(Math.min(due_in, MAX_SLEEP_MS) + Math.random() * SCATTER_MS);
    } catch (error) {
      schedule(retries.failed(error));
    } finally {
      checking = false;
    }
  }

  /** Milliseconds by the store's clock, which need not be this machine's. */
  async function untilNext(): Promise<number | null> {
    const { at, now } = await store.read(async (tx) => ({ at: await earliest(tx, kinds), now: tx.now }));
    return at === null ? null : Date.parse(at) - Date.parse(now);
  }

  function schedule(delay: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = stopped ? null : setTimeout(() => void check(), Math.max(1, delay));
  }

  const debouncedCheck = debounced(() => void check());
  const unwatch = store.watch(debouncedCheck.call);
  void check();
  return () => {
    stopped = true;
    unwatch();
    if (timer !== null) clearTimeout(timer);
    debouncedCheck.stop();
  };
}

async function earliest(tx: ReadTx, kinds: readonly Expiring[]): Promise<string | null> {
  const times = await Promise.all(kinds.map((kind) => kind.next(tx)));
  return times.reduce(
    (first, time) => (first === null || (time !== null && time < first) ? time : first),
    null,
  );
}

// ---- The sweep ----
// Ends sessions whose process is gone, with everything that follows from it, and turns that were stopped in their terminal, leaves
// dialogs of killed hooks to their terminals, and marks what was sent and never shown as unseen.

const SWEEP_EVERY_MS = 60_000;
/** A process is not notified when a process that it did not start ends, so this polls. Each check reads the living sessions. */
const LOOK_EVERY_MS = 5_000;

interface SweepParts extends Pick<Parts, 'machine' | 'log'> {
  sessions: { sweep(machine: string): Promise<readonly Session[]> };
  waits: { leaveKilled(): Promise<void> };
  interrupts: { endUnreported(): Promise<void> };
  outreach: { markUnshown(): Promise<number> };
  prompts: { setAsideDamaged(): Promise<number> };
}

/** Checks for ended processes and turns every few seconds and sweeps the rest each minute, until the returned function is called. */
export function startSweep({
  sessions,
  waits,
  interrupts,
  outreach,
  prompts,
  machine,
  log,
}: SweepParts): () => void {
  const looks = createRetries(log, {
    fails: 'Hive could not look for sessions and turns that ended without a report, and will try again.',
    works: 'Hive can look for sessions and turns that ended without a report again.',
  });
  /** With a slow store, no second check begins before the first has ended. */
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const ended = await sessions.sweep(machine);
      if (ended.length > 0) log.info('Sessions are gone.', { handles: ended.map(({ handle }) => handle) });
      await waits.leaveKilled();
      await interrupts.endUnreported();
      looks.worked();
    } catch (error) {
      looks.failed(error);
    } finally {
      looking = false;
    }
  }

  void look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  const failure = 'The sweep failed and will be tried again in a minute.';
  const endSweeps = repeatedly(log, failure, SWEEP_EVERY_MS, async () => {
    await outreach.markUnshown();
    await prompts.setAsideDamaged();
  });
  return () => {
    clearInterval(timer);
    endSweeps();
  };
}
