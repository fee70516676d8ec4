/**
 * Two versions of Hive beside each other: `node bench/compare.ts BEFORE AFTER`, both folders of a clone that is set up and
 * built. Each family of rows runs in turn in the two folders, with the bench that is there, so that a machine that becomes
 * slower does so for both. `--only NAME` runs a part, `--rounds N` repeats it (3), `--smoke` measures only shortly.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import type { Row } from './harness.ts';
import { percentile } from './harness.ts';

/** No row may become worse by more than this fraction. */
const TOLERANCE = 0.05;

/** The families that `npm run bench` measures, one run of the bench for each. */
const FAMILIES =
  'ask agent answer emacs server idle history hook messages interrupt wake engines processes serve';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    smoke: { type: 'boolean', default: false },
  },
});
const [before, after] = positionals;
const rounds = Number(values.rounds);
if (before === undefined || after === undefined || positionals.length > 2 || !(rounds >= 1)) {
  process.stderr.write('Usage: node bench/compare.ts BEFORE AFTER [--only NAME …] [--rounds N] [--smoke]\n');
  process.exit(2);
}

const measured = { before: new Map<string, number[]>(), after: new Map<string, number[]>() };
/** The floors beside them: one that has changed says that the two benches differ, and not only the two versions. */
const floors = { before: new Map<string, number[]>(), after: new Map<string, number[]>() };
const more = new Map<string, boolean>();
for (const family of values.only ?? FAMILIES.split(' ')) {
  for (let round = 0; round < rounds; round += 1) {
    const turns = [
      ['before', before],
      ['after', after],
    ] as const;
    for (const [side, folder] of round % 2 === 0 ? turns : turns.toReversed()) {
      process.stderr.write(`measuring: ${family}, ${side}, round ${round + 1} of ${rounds}\n`);
      for (const row of run(folder, family)) {
        more.set(row.name, row.at_least);
        const figures = measured[side].get(row.name) ?? [];
        measured[side].set(row.name, [...figures, row.of === 'p99' ? row.p99 : row.p50]);
        if (row.floor !== null)
          floors[side].set(row.name, [...(floors[side].get(row.name) ?? []), row.floor]);
      }
    }
  }
}

let worse = 0;
for (const [name, atLeast] of more) {
  const [old, now] = [measured.before.get(name), measured.after.get(name)];
  if (old === undefined || now === undefined) {
    process.stdout.write(`${old === undefined ? 'new    ' : 'gone   '}  ${name}\n`);
    continue;
  }
  const [a, b] = [percentile(old, 50), percentile(now, 50)];
  const change = atLeast ? a / b - 1 : b / a - 1;
  // Whether the best round of one side does not even reach the other's worst.
  const apart = atLeast ? Math.max(...now) < Math.min(...old) : Math.min(...now) > Math.max(...old);
  const verdict = change <= TOLERANCE ? 'ok     ' : apart ? 'WORSE  ' : 'unclear';
  if (verdict === 'WORSE  ') worse += 1;
  const shown = (figures: readonly number[]): string =>
    `${percentile(figures, 50)} (${Math.min(...figures)} to ${Math.max(...figures)})`;
  const percent = `${change > 0 ? '+' : ''}${(100 * change).toFixed(1)} % ${change > 0 ? 'worse' : 'better'}`;
  const [below, belowNow] = [floors.before.get(name), floors.after.get(name)];
  const floor =
    below === undefined || belowNow === undefined
      ? ''
      : `; floor ${percentile(below, 50)} → ${percentile(belowNow, 50)}`;
  process.stdout.write(
    `${verdict}  ${name}: ${shown(old)} → ${shown(now)}, ${percent.replace('-', '')}${floor}\n`,
  );
}
process.exitCode = worse > 0 ? 1 : 0;

/** One family in one folder. A row beyond its target makes the bench fail, which does not matter here. */
function run(folder: string, family: string): Row[] {
  const args = ['--import', './test/support/sql-loader.mjs', 'bench/main.ts', '--json', '--only', family];
  const { stdout, stderr } = spawnSync(process.execPath, values.smoke ? [...args, '--smoke'] : args, {
    cwd: folder,
    encoding: 'utf8',
  });
  // A family that only one of the two versions has.
  if (stderr.startsWith('There is no such row')) return [];
  try {
    return JSON.parse(stdout) as Row[];
  } catch {
    throw new Error(`The bench in ${folder} could not run ${family}: ${stderr.trim()}`);
  }
}
