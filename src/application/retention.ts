/**
 * Retention: settled records are removed after `retention_days` (a setting), with everything that depends on them. This
 * happens in small batches, so that no writer waits long. Unsettled records stay, however old, and so do their events.
 */
import type { HumanActor } from '../domain/actors.ts';
import { invalidInput } from '../domain/errors.ts';
import { recordProgress } from '../domain/mention-gate.ts';
import { DAY_MS, timeAfter } from '../domain/times.ts';
import { breathe, repeatedly } from './background.ts';
import type { Aging, PruneCounts, ReadTx, Store } from './ports.ts';
import { storeSettings } from './settings.ts';
import type { Logger } from './world.ts';

/** The kinds of records that age removes, in the order of removal: a record comes before the records that it refers to. */
const KINDS = [
  'prompts',
  'messages',
  'outreach',
  'turns',
  'sessions',
  'tokens',
  'devices',
  'runs',
  'desks',
  'events',
] as const satisfies readonly Aging[];

const MAX_DAYS = 36_500;
const BATCH = 100;
const SWEEP_EVERY_MS = 60 * 60 * 1000;

/** The number of days in the option `--days`. @throws HiveError `invalid_input`. */
export function parseRetentionDays(text: string, least = 1): number {
  const days = Number(text);
  if (text.trim() === '' || !Number.isInteger(days) || days < least || days > MAX_DAYS) {
    throw invalidInput(
      `--days is "${text}": it must be a whole number of days, ${least} to ${MAX_DAYS}. Nothing was removed.`,
    );
  }
  return days;
}

export type RetentionService = ReturnType<typeof createRetention>;

export function createRetention(store: Store) {
  async function preview(days: number): Promise<PruneCounts> {
    return store.read(async (tx) => {
      const before = cutoff(tx, days);
      let total: PruneCounts = {};
      for (const kind of KINDS) total = add(total, await tx.retention.prunable(kind, before));
      return total;
    });
  }

  async function inBatches(kind: Aging, before: (tx: ReadTx) => string): Promise<PruneCounts> {
    let total: PruneCounts = {};
    for (;;) {
      const counts = await store.write((tx) => tx.retention.prune(kind, before(tx), BATCH));
      if (sum(counts) === 0) return total;
      total = add(total, counts);
      // Lets others write between two batches.
      await breathe();
    }
  }

  return {
    /** How many days settled records are kept. */
    async days(): Promise<number> {
      return (await store.read((tx) => storeSettings(tx))).retention_days;
    },
    /** How many records of each kind a sweep would remove now. */
    preview,
    /** Removes them, batch by batch; returns how many of each kind. */
    async sweep(days: number): Promise<PruneCounts> {
      let total: PruneCounts = {};
      for (const kind of KINDS) total = add(total, await inBatches(kind, (tx) => cutoff(tx, days)));
      return total;
    },
    /** How many mentions are at least that old, processed or not, with the records that refer to them; 0 days: all. */
    previewMentions: (days: number) =>
      store.read((tx) => tx.retention.prunable('mentions', cutoff(tx, days))),
    /** Removes those mentions and appends one event that says who did it. Their messages stay. */
    async clearMentions(days: number, { by, via }: HumanActor): Promise<PruneCounts> {
      // Fixed, so that this terminates even while new mentions keep arriving.
      const before = await store.read(async (tx) => cutoff(tx, days));
      const held = await store.read((tx) => tx.mentions.unprocessedBySession());
      const total = await inBatches('mentions', () => before);
      await store.write(async (tx) => {
        const left = await tx.mentions.unprocessedBySession();
        for (const session_id of held.keys()) {
          const gate = left.has(session_id) ? undefined : await tx.gates.get(session_id);
          if (gate !== undefined) await tx.gates.put(recordProgress(gate));
        }
        const data = { by, via, days, records: total };
        await tx.events.append({ type: 'mention/cleared', data });
      });
      return total;
    },
  };
}

/** Sweeps now and every hour until the returned function is called; a failure is logged, and the next hour tries again. */
export function startRetention(retention: RetentionService, log: Logger): () => void {
  const failure = 'Retention could not sweep and will try again in an hour.';
  return repeatedly(log, failure, SWEEP_EVERY_MS, async () => {
    const days = await retention.days();
    // Usually there is nothing to remove, and reading first takes no lock.
    if (sum(await retention.preview(days)) === 0) return;
    log.info('Retention removed old records.', { days, ...(await retention.sweep(days)) });
  });
}

function cutoff(tx: ReadTx, days: number): string {
  return timeAfter(tx.now, -days * DAY_MS);
}

function add(a: PruneCounts, b: PruneCounts): PruneCounts {
  const total: Record<string, number> = { ...a };
  for (const [kind, count] of Object.entries(b)) if (count > 0) total[kind] = (total[kind] ?? 0) + count;
  return total;
}

function sum(counts: PruneCounts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
