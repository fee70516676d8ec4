/**
 * Retries after store errors, with delays that grow up to a few seconds. The log gets one line when the errors begin and one when
 * they are over, instead of one for each try.
 */
import type { Logger } from './world.ts';

const FIRST_RETRY_MS = 250;
/** The longest delay, in ms: short enough to notice a store that is back, and long enough to cost little. */
const LAST_RETRY_MS = 5_000;

export type Retries = ReturnType<typeof createRetries>;

/** `fails` and `works`: the sentences for the log, that it fails and will be tried again, and that it works again. */
export function createRetries(log: Logger, { fails, works }: { fails: string; works: string }) {
  let failures = 0;
  return {
    /** Records a failure; returns after how many milliseconds to try again. */
    failed(error: unknown): number {
      if (failures === 0) log.warn(fails, { error: String(error) });
      const wait_ms = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
      failures += 1;
      // Random, so that the processes of a machine do not all retry at the same moment.
      return wait_ms * (0.5 + Math.random());
    },
    /** Records a success. */
    worked(): void {
      if (failures > 0) log.warn(works, { failures });
      failures = 0;
    },
  };
}
