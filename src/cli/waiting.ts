/** Waiting at a shell: for as long as it takes, unless told otherwise. Prompts expire meanwhile, on time. */
import type { Hive } from '../application/hive.ts';
import type { Open } from '../application/prompts.ts';
import type { Prompt } from '../domain/prompts.ts';

/** No single sleep is longer: beyond 24 days a timer of Node's overflows. */
const STRETCH_MS = 24 * 60 * 60 * 1000;

/** Until one of them settles; as they stand then, or when the time (null: none) is up. */
export function waitForAny(
  hive: Hive,
  ask_ids: readonly string[],
  limit_ms: number | null,
): Promise<Prompt[]> {
  return inStretches(hive, limit_ms, async (wait_ms) => {
    const prompts = await hive.prompts.wait(ask_ids, { wait_ms });
    return { value: prompts, done: prompts.some((prompt) => prompt.status !== 'pending') };
  });
}

/** Until whatever this session has open settles, one of it or all; as it stands then, or when the time is up. */
export function waitForOpen(
  hive: Hive,
  session_id: string,
  { limit_ms, all }: { limit_ms: number | null; all: boolean },
): Promise<Open> {
  const look = (wait_ms: number): Promise<Open> => hive.prompts.waitForOpen(session_id, { wait_ms });
  return inStretches(hive, limit_ms, async (wait_ms) => {
    if (!all) {
      const open = await look(wait_ms);
      return { value: open, done: open.settled > 0 || open.pending === 0 };
    }
    const isDone = async (): Promise<Open | undefined> => {
      const open = await look(0);
      return open.pending === 0 ? open : undefined;
    };
    const open = await hive.feed.until(isDone, { wait_ms });
    return { value: open ?? (await look(0)), done: open !== undefined };
  });
}

/** Until `check` gives something. */
export async function waitUntil<T>(
  hive: Hive,
  limit_ms: number | null,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return inStretches(hive, limit_ms, async (wait_ms) => {
    const value = await hive.feed.until(check, { wait_ms });
    return { value, done: value !== undefined };
  });
}

async function inStretches<T>(
  hive: Hive,
  limit_ms: number | null,
  stretch: (wait_ms: number) => Promise<{ value: T; done: boolean }>,
): Promise<T> {
  hive.startExpiry();
  const end = limit_ms === null ? Number.POSITIVE_INFINITY : Date.now() + limit_ms;
  for (;;) {
    const { value, done } = await stretch(Math.max(0, Math.min(STRETCH_MS, end - Date.now())));
    if (done || Date.now() >= end) return value;
  }
}
