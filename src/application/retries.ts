/**
 * Trying again what the store refuses, for as long as it does: at first at once, at last every few seconds. The log
 * gets two lines, when it begins and when it is over, and not one for each try.
 */
import type { Logger } from './world.ts';

export interface Retries {
  /** It failed: after how many milliseconds it is to be tried again. */
  failed(error: unknown): number;
  /** It worked. */
  worked(): void;
}

const FIRST_RETRY_MS = 250;
/** A store that is back is noticed after this at the latest, and one that stays away costs little. */
const LAST_RETRY_MS = 5_000;

/** Sentences for the log: that it fails and is tried again, and that it works again. */
export interface RetrySentences {
  fails: string;
  works: string;
}

export function createRetries(log: Logger, { fails, works }: RetrySentences): Retries {
  let failures = 0;
  return {
    failed(error) {
      if (failures === 0) log.warn(fails, { error: String(error) });
      const wait_ms = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
      failures += 1;
      // Scattered, so that the processes of a machine do not all come back at one moment.
      return wait_ms * (0.5 + Math.random());
    },
    worked() {
      if (failures > 0) log.warn(works, { failures });
      failures = 0;
    },
  };
}
