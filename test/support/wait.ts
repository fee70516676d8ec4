/** Waiting in tests: for a condition, never for a time that "should be enough". */
import { setTimeout as sleep } from 'node:timers/promises';

export { sleep };

/**
 * The least time that a test waits for what must come, in ms. It matters only to a test that fails: a busy machine may stall a
 * process for many seconds, and that is no failure.
 */
export const PATIENCE_MS = 60_000;

/** Resolves when `condition` holds; rejects after `limit_ms`, or after PATIENCE_MS if that is longer. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  limit_ms: number = PATIENCE_MS,
  what = 'the condition',
): Promise<void> {
  const patience_ms = Math.max(limit_ms, PATIENCE_MS);
  if (!(await within(condition, patience_ms)))
    throw new Error(`${what} did not come within ${patience_ms} ms`);
}

/** Whether `condition` comes to hold within `limit_ms`: for what may stay away without a test failing by it. */
export async function within(
  condition: () => boolean | Promise<boolean>,
  limit_ms: number,
): Promise<boolean> {
  const started = performance.now();
  while (!(await condition())) {
    if (performance.now() - started > limit_ms) return false;
    await sleep(5);
  }
  return true;
}

/** The result of `work` and how long it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: performance.now() - started };
}
