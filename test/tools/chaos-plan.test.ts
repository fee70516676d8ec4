/** The plan of the nemesis of `npm run chaos` is made of the seed alone. */
import { describe, expect, test } from 'vitest';
import { type Fault, neverStruck, planStrokes, type Stroke } from '../chaos/plan.ts';

const FAULTS: readonly Fault[] = ['kill', 'pause', 'disk', 'permissions', 'clock', 'bell', 'postgres'];
const WORKERS = ['agent', 'desk', 'follower'];
const OPTIONS = { duration_ms: 60_000, workers: WORKERS, faults: FAULTS };

describe('a plan', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(planStrokes(7, OPTIONS)).toEqual(planStrokes(7, OPTIONS));
    expect(planStrokes(7, OPTIONS)).not.toEqual(planStrokes(8, OPTIONS));
  });

  test('has every fault, and nothing that it may not do', () => {
    const all = new Set(planStrokes(7, { ...OPTIONS, duration_ms: 600_000 }).map(({ fault }) => fault));
    expect([...all].sort()).toEqual([...FAULTS].sort());
    const kills = planStrokes(7, { ...OPTIONS, faults: ['kill'] });
    expect(new Set(kills.map(({ fault }) => fault))).toEqual(new Set(['kill']));
    expect(planStrokes(7, { ...OPTIONS, faults: [] })).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5])('is healed before its time is up (seed %i)', (seed) => {
    const strokes = planStrokes(seed, OPTIONS);
    expect(strokes.length).toBeGreaterThan(20);
    for (const { at_ms, for_ms, fault, worker } of strokes) {
      expect(at_ms + for_ms).toBeLessThan(OPTIONS.duration_ms);
      expect(WORKERS.includes(worker ?? '')).toBe(fault === 'kill' || fault === 'pause');
    }
  });
});

describe('what never struck', () => {
  const strokes = (fault: Fault, count: number): Stroke[] =>
    Array.from({ length: count }, (_, at) => ({
      at_ms: at * 1_000,
      for_ms: 0,
      fault,
      worker: fault === 'kill' || fault === 'pause' ? 'terminal' : null,
      way: 0,
    }));

  test('is a fault that was planned and could not be done once', () => {
    const plan = [...strokes('disk', 1), ...strokes('kill', 9)];
    expect(neverStruck(plan, new Map([['kill', 1]]))).toEqual(['disk']);
    expect(neverStruck(plan, new Map([['disk', 1]]))).toEqual(['kill']);
    expect(neverStruck(plan, new Map(plan.map(({ fault }) => [fault, 1])))).toEqual([]);
  });

  test('is not a fault that a short run did not plan, nor one whose few strokes found no process', () => {
    expect(neverStruck(strokes('pause', 2), new Map())).toEqual([]);
    expect(neverStruck([], new Map())).toEqual([]);
  });
});
