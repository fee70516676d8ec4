/** Many waits in one process: a commit wakes those whose subject it changed, and if in doubt all of them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createSubjectWakeups } from '../../src/application/feed.ts';
import type { Store } from '../../src/application/ports.ts';
import type { HiveEvent } from '../../src/domain/events.ts';
import { eventually } from '../support/wait.ts';

const MANY = 20;

let events: HiveEvent[];
let listeners: Set<() => void>;
let reads: number;
let fails: boolean;
let pruned: number;
let rung: number[];
let wakeups: ReturnType<typeof createSubjectWakeups>;

function append(...subjects: string[]): void {
  for (const subject of subjects) events.push({ seq: events.length + 1, subject } as HiveEvent);
  for (const listener of listeners) listener();
}

/** That many waiters, each for its own subject from `s0` on; `rung` counts their wake-ups. */
function wait(count: number): (() => void)[] {
  return Array.from({ length: count }, (_, n) =>
    wakeups.watch([`s${n}`], () => {
      rung[n] = (rung[n] ?? 0) + 1;
    }),
  );
}
const total = (): number => rung.reduce((sum, rings) => sum + rings, 0);

beforeEach(() => {
  [events, listeners, reads, fails, pruned, rung] = [[], new Set(), 0, false, 0, []];
  const store = {
    async read(work: (given: unknown) => Promise<unknown>) {
      reads += 1;
      if (fails) throw new Error('no store');
      // One snapshot, as every read has.
      const seen = [...events];
      return work({
        events: {
          head: async () => seen.length,
          pruned: async () => pruned,
          after: async (seq: number, limit: number) => seen.slice(seq, seq + limit),
        },
      });
    },
    watch(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as Store;
  wakeups = createSubjectWakeups(store);
});

/** The first commit after many have begun wakes all, because nobody had read the log before. */
async function settle(): Promise<void> {
  append('other');
  await eventually(() => total() === MANY);
  rung = [];
}

describe('many waits', () => {
  test('are woken by changes of their subject, and by nothing else', async () => {
    wait(MANY);
    await settle();
    append('s3', 'nobody', 's7', 's3');
    await eventually(() => total() === 2);
    expect([rung[3], rung[7]]).toEqual([1, 1]);
    append('nobody');
    append('s4');
    await eventually(() => total() === 3);
    expect(rung[4]).toBe(1);
  });

  test('that wait for several subjects are woken by each', async () => {
    wait(MANY);
    let rings = 0;
    wakeups.watch(['a', 'b'], () => {
      rings += 1;
    });
    await settle();
    rings = 0;
    append('b');
    await eventually(() => rings === 1);
    append('a');
    await eventually(() => rings === 2);
    expect(total()).toBe(0);
  });

  test.each([
    ['the store cannot be read', () => (fails = true)],
    ['retention has removed what came', () => (pruned = 1_000)],
    ['more came than is worth sorting out', () => append(...Array<string>(600).fill('nobody'))],
  ])('are all woken when %s', async (_why, trouble) => {
    wait(MANY);
    await settle();
    trouble();
    append('nobody');
    await eventually(() => rung.filter((rings) => rings >= 1).length === MANY);
  });

  test('leave nothing behind', async () => {
    const ends = wait(MANY);
    await settle();
    for (const end of ends) end();
    expect(listeners.size).toBe(0);
    let rings = 0;
    wakeups.watch(['s1'], () => {
      rings += 1;
    });
    append('s1');
    await eventually(() => rings > 0);
    expect(total()).toBe(0);
  });
});

test('a few waits read for themselves, without the log', () => {
  wait(3);
  append('nobody');
  expect([total(), reads]).toEqual([3, 0]);
});
