/** Waiting in tests: for a condition, never for a time that "should be enough". */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A moment within a race or a crash, which its test draws from a seed or counts through. It is no way to wait for something:
 * any moment must do.
 */
export async function moment(ms: number): Promise<void> {
  await sleep(ms);
}

/** Draws numbers from 0 to 1 for such moments, the same ones for the same seed. */
export function lots(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/**
 * The least time that a test waits for what must come, in ms. It matters only to a test that fails: a busy machine may stall a
 * process for many seconds, and that is not a failure.
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
  for (;;) {
    const looked = performance.now();
    if (await condition()) return true;
    const now = performance.now();
    if (now - started > limit_ms) return false;
    // A look costs the processor something, a program's start most, and what has taken long may take a tenth longer.
    await sleep(Math.max(2 * (now - looked), Math.min(5 + (now - started) / 10, 30)));
  }
}

/**
 * The text of a file that another process is to write in one piece, as soon as it has some: a file is there, and empty, a moment
 * before its text is.
 */
export async function textOf(file: string, what = `the text of ${file}`): Promise<string> {
  let text = '';
  await eventually(
    () => {
      if (existsSync(file)) text = readFileSync(file, 'utf8');
      return text !== '';
    },
    PATIENCE_MS,
    what,
  );
  return text;
}

/** Until the clock has gone on: for what the product dates by it, such as a receipt that is due again after some seconds. */
export async function clockPasses(ms: number): Promise<void> {
  await clockReaches(Date.now() + ms);
}

/** Until the clock shows more than this time, in ISO-8601 or ms: what is due then is due. */
export async function clockReaches(time: string | null | number): Promise<void> {
  const at = typeof time === 'number' ? time : Date.parse(time ?? '');
  await eventually(() => Date.now() > at);
}

/** Whether a time lies in an interval; all are ISO-8601 UTC with milliseconds, which compare as text. */
export function isBetween(from: string, time: string, to: string): boolean {
  return from <= time && time <= to;
}

/** Longer than any test: a wait of this length ends because it was woken, or its test fails. */
export const FOR_EVER_MS = 3_600_000;
