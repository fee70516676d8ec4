/** The statistics of a period (domain/stats.ts), computed from the stored prompts. */
import { invalidInput } from '../domain/errors.ts';
import { type CountedPrompt, type Stats, statsOf } from '../domain/stats.ts';
import type { AskedAt, Store } from './ports.ts';

export interface StatsService {
  /** The statistics from `since`, a time in UTC, until now. @throws HiveError `invalid_input` for a future time. */
  read(since: string): Promise<Stats>;
}

/** Prompts per page: small enough that pages of the largest prompts fit into memory. */
const PAGE = 2_000;

export function createStats(store: Store, dayOf: (time: string) => string): StatsService {
  return {
    async read(since) {
      const until = await store.read(async (tx) => tx.now);
      if (since >= until) throw invalidInput('The period begins in the future: give a time that has passed.');
      const prompts: CountedPrompt[] = [];
      for (let after: AskedAt | null = { at: since, ask_id: '' }; after !== null; ) {
        const from: AskedAt = after;
        const { items, next } = await store.read((tx) => tx.stats.counted(from, until, PAGE));
        prompts.push(...items);
        after = next;
        // Lets other requests of Emacs run between two pages.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return statsOf(prompts, { since, until, dayOf });
    },
  };
}
