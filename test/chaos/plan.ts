/** The acts of the nemesis, and their times: made of a seed alone, so that a run that found something is had again. Pure. */
import { randomOf } from './random.ts';

export type Fault =
  | 'kill'
  | 'pause'
  | 'disk'
  | 'permissions'
  | 'clock'
  | 'bell'
  | 'postgres'
  | 'client'
  | 'power';

/** One stroke. It begins `at_ms` after the start and is healed `for_ms` later; 0: there is nothing to heal. */
export interface Stroke {
  at_ms: number;
  for_ms: number;
  fault: Fault;
  /** Whose process; null where it strikes all. */
  worker: string | null;
  /** Which of several ways to do it; each fault counts its own ways (`nemesis.ts`). */
  way: number;
}

/** How often, beside the others. Only `kill` and `pause` strike one worker. */
const WEIGHTS: Readonly<Record<Fault, number>> = {
  kill: 8,
  pause: 3,
  disk: 2,
  permissions: 2,
  clock: 2,
  bell: 2,
  postgres: 2,
  client: 1,
  power: 1,
};

/** The time from the beginning of one stroke to that of the next. */
const SOONEST_MS = 300;
const LATEST_MS = 1_800;
/** Faults that are healed last so long; longer than the 5 s of `store_busy` only now and then. */
const SHORT_MS = [200, 2_500] as const;
const LONG_MS = [5_500, 7_000] as const;
/** The end of the time is left for recovery. */
const REST_MS = 2_000;
/** A worker may have no process when it is struck. If this happens so many times, it is no accident. */
const CHANCES = 5;

export function planStrokes(
  seed: number,
  {
    duration_ms,
    workers,
    faults,
  }: { duration_ms: number; workers: readonly string[]; faults: readonly Fault[] },
): Stroke[] {
  if (faults.length === 0) return [];
  const random = randomOf(seed, 'nemesis');
  const weighted = faults.flatMap((fault) => Array.from({ length: WEIGHTS[fault] }, () => fault));
  const strokes: Stroke[] = [];
  const last = duration_ms - REST_MS;
  for (let at_ms = 1_000; at_ms < last; at_ms += random.between(SOONEST_MS, LATEST_MS)) {
    const fault = random.pick(weighted);
    const [from, to] = random.chance(0.1) ? LONG_MS : SHORT_MS;
    const lasts = random.between(from, to);
    const one = fault === 'kill' || fault === 'pause';
    const worker = random.pick(workers);
    const way = random.between(0, 1_000);
    const heals = fault === 'pause' || fault === 'disk' || fault === 'permissions';
    strokes.push({
      at_ms,
      for_ms: heals ? Math.min(lasts, last - at_ms) : 0,
      fault,
      worker: one ? worker : null,
      way,
    });
  }
  return strokes;
}

/**
 * The faults that a plan holds and that struck nothing: such a run has not shown what it says. A fault that a short
 * plan does not hold at all, or whose few strokes at one worker each found it without a process, is none of them.
 */
export function neverStruck(plan: readonly Stroke[], struck: ReadonlyMap<string, number>): Fault[] {
  return [...Map.groupBy(plan, ({ fault }) => fault)]
    .filter(([fault, strokes]) => {
      const certain = strokes.length >= (strokes.some(({ worker }) => worker !== null) ? CHANCES : 1);
      return certain && (struck.get(fault) ?? 0) === 0;
    })
    .map(([fault]) => fault);
}
