/**
 * One set of properties, two budgets: `npm run ci:more` tries a few inputs of one fixed seed, `npm run fuzz` a stretch
 * of time each, from its own seed, which it prints. A failure is replayed by its seed and path.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

const MINUTES = Number(process.env['HIVE_TEST_FUZZ_MINUTES'] ?? 0);
const SEED = process.env['HIVE_TEST_FUZZ_SEED'];
const PATH = process.env['HIVE_TEST_FUZZ_PATH'];
/** The seed of the short run: the same inputs each time, so that it fails only when something has changed. */
const SHORT_SEED = 20_260_111;

/** A long run is one batch after another, each with the next seed. */
const BATCH_MS = 5_000;

/** Any property of fast-check. */
type Property = Parameters<typeof fc.check>[0];

/** Tries `property`: `runs` inputs in the short run, as many as its minutes allow in the long one. */
export function fuzz(target: string, runs: number, property: () => Property | Promise<Property>): void {
  test(target, { timeout: MINUTES * 60_000 + 180_000 }, async () => {
    const seed = SEED === undefined ? (MINUTES > 0 ? Date.now() & 0x7fffffff : SHORT_SEED) : Number(SEED);
    const started = performance.now();
    const left_ms = (): number => MINUTES * 60_000 - (performance.now() - started);
    const tried = await property();
    let inputs = 0;
    let batch = seed;
    let details: fc.RunDetails<unknown>;
    // No batch is interrupted: what an input has started would go on beside the next one.
    let count = MINUTES === 0 ? runs : 1;
    do {
      const began = performance.now();
      details = await fc.check(tried as fc.IRawProperty<unknown>, {
        numRuns: count,
        seed: batch,
        includeErrorInReport: true,
        ...(PATH === undefined ? {} : { path: PATH }),
      });
      inputs += details.numRuns;
      // A property that awaits nothing would never let the event loop go on, and what waits for it fills the memory.
      await new Promise((resolve) => setImmediate(resolve));
      if (!details.failed) batch += 1;
      const ms_each = Math.max(0.001, (performance.now() - began) / count);
      count = Math.max(1, Math.floor(Math.min(BATCH_MS, left_ms()) / ms_each));
    } while (!details.failed && left_ms() > 0);
    const seconds = Math.round((performance.now() - started) / 1000);
    if (MINUTES > 0)
      process.stdout.write(`fuzz: ${target}: ${inputs} inputs in ${seconds} s, seed ${seed}\n`);
    if (!details.failed) {
      // A property that tried nothing has shown nothing.
      expect(inputs).toBeGreaterThan(0);
      return;
    }
    const again = `npm run fuzz -- --target "${target}" --seed ${batch} --path ${details.counterexamplePath}`;
    throw new Error(`${fc.defaultReportMessage(details as fc.RunDetails<unknown>)}\n\nAgain: ${again}`);
  });
}
