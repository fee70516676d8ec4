/** The statistics of a period (domain/stats.ts), computed from the stored prompts. */
import { invalidInput } from '../domain/errors.ts';
import { type Stats, statsOf } from '../domain/stats.ts';
import { allPages } from './background.ts';
import type { Store } from './ports.ts';

/** Prompts per page: small enough that pages of the largest prompts fit into memory. */
const PAGE = 2_000;

export function createStats(store: Store, dayOf: (time: string) => string) {
  return {
    /** The statistics from `since`, a time in UTC, until now. @throws HiveError `invalid_input` for a future time. */
    async read(since: string): Promise<Stats> {
      const until = await store.read(async (tx) => tx.now);
      if (since >= until) throw invalidInput('The period begins in the future: give a time that has passed.');
      const prompts = await allPages({ at: since, ask_id: '' }, (after) =>
        store.read((tx) => tx.stats.counted(after, until, PAGE)),
      );
      return statsOf(prompts, { since, until, dayOf });
    },
  };
}
