/** Waiting in tests: for a condition, never for a time that "should be enough". */
import { setTimeout as sleep } from 'node:timers/promises';

export { sleep };

/** Resolves when `condition` holds; rejects after `limit_ms`. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  limit_ms = 5_000,
  what = 'the condition',
): Promise<void> {
  const started = performance.now();
  while (!(await condition())) {
    if (performance.now() - started > limit_ms) throw new Error(`${what} did not come within ${limit_ms} ms`);
    await sleep(5);
  }
}

/** The result of `work` and how long it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: performance.now() - started };
}
