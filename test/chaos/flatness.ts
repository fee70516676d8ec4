/** Whether what a process holds stays the same while it works. Pure. */

/** The memory, files and watchers of a process at one moment (proc(5)). */
export interface Sample {
  /** Resident memory, in MiB. */
  memory: number;
  /** Open file descriptors. */
  files: number;
  /** inotify watches. */
  watchers: number;
}

export interface Flatness {
  process: string;
  samples: number;
  /** Means of the second and of the last third: the first is for warming up. */
  memory: readonly [middle: number, last: number];
  /** The straight line through the last two thirds, in MiB an hour. */
  slope: number;
  /** The most in the second and in the last third. */
  files: readonly [middle: number, last: number];
  watchers: readonly [middle: number, last: number];
  /** The quantities that grow; empty when all is flat. */
  grows: readonly string[];
}

/** Memory that a collector has not collected yet is not a leak: how much more is allowed, relative to the start … */
const MEMORY_PART = 0.05;
/** … and, because a slow leak hides in that, how many MiB an hour (6 to 27 are measured in twenty minutes). */
const STEEPEST = 60;
/** In a shorter run the collector's steps are steeper than any leak: how many MiB are allowed there, where no slope is judged. */
const WARM_MS = 10 * 60_000;
const WARMING_MIB = 15;
/** A request may be under way when the sample is taken. */
const FILES_MORE = 4;

export function judge(process: string, samples: readonly Sample[], every_ms: number): Flatness {
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(-third)];
  const of = (part: readonly Sample[], field: keyof Sample): number[] => part.map((sample) => sample[field]);
  const memory = [mean(of(middle, 'memory')), mean(of(last, 'memory'))] as const;
  const files = [most(of(middle, 'files')), most(of(last, 'files'))] as const;
  const watchers = [most(of(middle, 'watchers')), most(of(last, 'watchers'))] as const;
  const short = samples.length * every_ms < WARM_MS;
  const allowed = Math.max(memory[0] * MEMORY_PART, short ? WARMING_MIB : 0);
  const slope = slopeOf(of(samples.slice(third), 'memory')) * (3_600_000 / every_ms);
  const grows = [
    ...(third === 0 ? ['not measured'] : []),
    ...(memory[1] > memory[0] + allowed || (!short && slope > STEEPEST) ? ['memory'] : []),
    ...(files[1] > files[0] + FILES_MORE ? ['files'] : []),
    ...(watchers[1] > watchers[0] ? ['watchers'] : []),
  ];
  return { process, samples: samples.length, memory, slope, files, watchers, grows };
}

export function flatnessTable(rows: readonly Flatness[]): string {
  const head = ['process', 'samples', 'MiB', '→', 'MiB/h', 'files', '→', 'watchers', '→', ''];
  const lines = rows.map(({ process, samples, memory, slope, files, watchers, grows }) => [
    process,
    String(samples),
    memory[0].toFixed(1),
    memory[1].toFixed(1),
    slope.toFixed(1),
    String(files[0]),
    String(files[1]),
    String(watchers[0]),
    String(watchers[1]),
    grows.length === 0 ? 'flat' : `GROWS: ${grows.join(', ')}`,
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    column === 0 || column === head.length - 1
      ? cell.padEnd(widths[column] ?? 0)
      : cell.padStart(widths[column] ?? 0);
  return [head, ...lines].map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function most(values: readonly number[]): number {
  return Math.max(0, ...values);
}

/** Least squares, a step. */
function slopeOf(values: readonly number[]): number {
  const [x, y] = [(values.length - 1) / 2, mean(values)];
  const square = values.reduce((sum, _, index) => sum + (index - x) ** 2, 0);
  return values.reduce((sum, value, index) => sum + (index - x) * (value - y), 0) / square;
}
