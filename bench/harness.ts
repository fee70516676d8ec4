/** How things are measured (in rounds that alternate with their floor, judged by medians) and shown. */

/** How much a run does: `full` for figures to publish, `smoke` to check that everything still runs. */
export type Effort = 'full' | 'smoke';

/** A target is for the ratio to the floor, or for one of the row's own figures. */
export type Target =
  | { of: 'ratio' | 'p50' | 'p99'; at_most: number }
  | { of: 'ratio' | 'p50'; at_least: number };

export interface Measurement {
  name: string;
  unit: string;
  samples: readonly number[];
  /** The least that the same work can cost, measured in the same rounds; null if there is no such measure. */
  floor: readonly number[] | null;
  /** Null for a row that is only shown for comparison. */
  target: Target | null;
  /** A figure that others have published, from an unknown machine and load: to be read, not compared. */
  published?: boolean;
  /** Its position on a growth curve, if it is a point of one. */
  point?: Point;
}

/** A point of a curve that `--full` draws into docs/bench/ (main.ts); its y is the p50. */
export interface Point {
  /** The name of the file, without its ending. */
  curve: string;
  title: string;
  /** The quantity on the axis of `x`. */
  axis: string;
  series: string;
  x: number;
}

/** One line of the table, and one element of `--json`. `target` refers to the figure that `of` names. */
export interface Row {
  name: string;
  unit: string;
  n: number;
  p50: number;
  p99: number;
  max: number;
  floor: number | null;
  ratio: number | null;
  target: number | null;
  of: 'ratio' | 'p50' | 'p99' | null;
  /** Whether more is better: the figure must not be below `target`. */
  at_least: boolean;
  ok: boolean;
  /** The distance from the target: 1 is just met, more is worse. */
  strain: number;
  /** Published by others and not measured here: there is only a p50; `n` is 0, p99 and max are null in JSON. */
  published: boolean;
  point: Point | null;
}

/** A family of rows: measured together, because they share what is expensive to set up. */
export interface Family {
  /** A name that `--only` accepts, besides the names of its rows. */
  name: string;
  rows: readonly string[];
  measure(effort: Effort): Promise<Measurement[]>;
}

export function toRow({ name, unit, samples, floor, target, published = false, point }: Measurement): Row {
  const p50 = percentile(samples, 50);
  const p99 = published ? Number.NaN : percentile(samples, 99);
  const bottom = floor === null ? null : percentile(floor, 50);
  // A floor below the clock's resolution has no ratio.
  const ratio = bottom === null || bottom === 0 ? null : p50 / bottom;
  const strain = target === null ? 0 : strainOf(target, { ratio: ratio ?? Number.NaN, p50, p99 }[target.of]);
  return {
    name,
    unit,
    n: published ? 0 : samples.length,
    p50: rounded(p50),
    p99: rounded(p99),
    max: rounded(published ? Number.NaN : Math.max(...samples)),
    floor: bottom === null ? null : rounded(bottom),
    ratio: ratio === null ? null : rounded(ratio),
    target: target === null ? null : 'at_most' in target ? target.at_most : target.at_least,
    of: target?.of ?? null,
    at_least: target !== null && 'at_least' in target,
    ok: strain <= 1,
    strain: rounded(strain),
    published,
    point: point ?? null,
  };
}

function strainOf(target: Target, figure: number): number {
  return 'at_most' in target ? figure / target.at_most : target.at_least / figure;
}

/** The value below which `part` per cent of the samples lie (nearest rank). */
export function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((part / 100) * sorted.length) - 1)] ?? Number.NaN;
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/**
 * Runs each contender once per round, in alternating order, so that a machine that becomes slower or faster
 * affects all of them. A contender returns what it measured itself; the first rounds are warm-up.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<number> | number>>,
  warmup = Math.min(5, Math.ceil(rounds / 10)),
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = -warmup; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await contenders[name]();
      if (round >= 0) samples[name].push(value);
    }
  }
  return samples;
}

/** How long something takes, in milliseconds. */
export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Sums of what was measured in the same round: the floor of something that does both. */
export function added(first: readonly number[], second: readonly number[]): number[] {
  return first.map((value, round) => value + (second[round] ?? Number.NaN));
}

export function table(rows: readonly Row[]): string {
  const head = ['', 'unit', 'n', 'p50', 'p99', 'max', 'floor', 'ratio', 'target', ''];
  const lines = rows.map((row) => [
    row.name,
    row.unit,
    row.published ? '' : String(row.n),
    shown(row.p50),
    row.published ? '' : shown(row.p99),
    row.published ? '' : shown(row.max),
    row.floor === null ? '' : shown(row.floor),
    row.ratio === null ? '' : `${row.ratio.toFixed(2)} ×`,
    targetOf(row),
    row.published ? 'published, not reproduced' : verdictOf(row),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) =>
          column < 2 || column === 9 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verdictOf({ target, ok, at_least }: Row): string {
  if (target === null) return '';
  return ok ? 'ok' : at_least ? 'BELOW' : 'ABOVE';
}

function targetOf({ of, target, unit, at_least }: Row): string {
  if (target === null) return '';
  const sign = at_least ? '≥' : '≤';
  return of === 'ratio' ? `${sign} ${target} ×` : `${of} ${sign} ${target} ${unit}`;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
