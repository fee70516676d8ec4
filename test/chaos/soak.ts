/**
 * `npm run soak`: agents, desks and a served agent work without faults, and what the long-lived processes hold must
 * stay the same: memory, files, watchers (docs/internals/faults.md). In the end everything acknowledged is checked as well.
 *   --seconds N   how long, 1200 by default
 *   --seed N      the choices of an earlier run again
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { idle } from './checker.ts';
import { sleep } from './failures.ts';
import { flatnessTable, judge, type Sample } from './flatness.ts';
import { type Installation, openInstallation } from './installation.ts';
import { report } from './report.ts';
import { runWorkers } from './run.ts';
import { agent } from './workers/agent.ts';
import { run } from './workers/command.ts';
import { desk } from './workers/desk.ts';
import { follower } from './workers/follower.ts';
import type { Worker, World } from './world.ts';

/** The least number of samples, also in the shortest run. */
const FEWEST_SAMPLES = 30;
const LONGEST_BETWEEN_MS = 5_000;
const SERVE_STARTS_MS = 20_000;
/** Commands that end at once: only what lives for long has to stay the same. */
const COMMANDS: ReadonlySet<string> = new Set(['token', 'human']);

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '1200' }, seed: { type: 'string', default: '1' } },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds >= 15) || !Number.isInteger(seed)) {
  process.stderr.write('--seconds takes a number, 15 or more; --seed takes a whole number.\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'hive-soak-'));
let installation: Installation | null = null;
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void tidyUp().then(() => process.exit(1)));
let code = 1;
try {
  installation = openInstallation({ folder, store: join(folder, 'store', 'hive.db'), sabotage: null });
  code = await soak(installation);
} finally {
  await tidyUp();
}
// Time limits of calls that were cut off would hold it for some seconds more.
process.exit(code);

async function soak(place: Installation): Promise<number> {
  const remote = await serve(place);
  const duration_ms = seconds * 1000;
  const every_ms = Math.min(LONGEST_BETWEEN_MS, duration_ms / FEWEST_SAMPLES);
  const samples = new Map<string, Sample[]>();
  const measuring = measure(place, samples, every_ms, duration_ms);
  const workers = (world: World): Worker[] => [
    agent(world, { name: 'hive mcp', env: { HIVE_AGENT: 'first-agent' } }),
    agent(world, { name: 'hive mcp (coordinator)', env: { HIVE_AGENT: 'coordinator' }, coordinator: true }),
    agent(world, { name: 'hive mcp (remote)', env: { HIVE_AGENT: 'remote-agent' }, args: remote }),
    desk(world, 'hive sidecar'),
    desk(world, 'hive sidecar (second)'),
    follower(world, 'hive store log'),
  ];
  const done = await runWorkers({
    engine: 'SQLite',
    seed,
    duration_ms,
    installation: place,
    workers,
    nemesis: async () => {
      await measuring;
      return new Map();
    },
  });
  process.stdout.write(`${report(done)}\n\n`);
  const rows = [...samples].map(([name, taken]) => judge(name, taken, every_ms));
  process.stdout.write(`${flatnessTable(rows)}\n`);
  const growing = rows.filter(({ grows }) => grows.length > 0).length;
  const broken = done.checked.filter(({ violations }) => violations.length > 0).length;
  // No worker has hooks here.
  const unchecked = idle(done.checked, ['guards']);
  for (const check of unchecked)
    process.stdout.write(`NOTHING TO CHECK: ${check} never had a case to look at.\n`);
  return growing + broken + unchecked.length === 0 ? 0 : 1;
}

/** Starts `hive serve`; resolves to how a `hive mcp` of another machine reaches it. */
async function serve(place: Installation): Promise<string[]> {
  const { child } = await place.start('hive serve', ['serve', '--port', '0']);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const started = performance.now();
  while (!said.includes('\n')) {
    if (performance.now() - started > SERVE_STARTS_MS) throw new Error('hive serve did not start.');
    await sleep(20);
  }
  const token = await run(place, 'token', ['token', 'show']);
  const file = join(folder, 'token');
  writeFileSync(file, token.out, { mode: 0o600 });
  return ['--url', /https?:\S+/.exec(said)?.[0] ?? '', '--token-file', file];
}

async function measure(
  place: Installation,
  samples: Map<string, Sample[]>,
  every_ms: number,
  duration_ms: number,
): Promise<void> {
  const started = performance.now();
  for (let next = every_ms; next <= duration_ms; next += every_ms) {
    await sleep(started + next - performance.now());
    for (const { worker, pid } of place.running()) {
      if (COMMANDS.has(worker)) continue;
      const sample = sampleOf(pid);
      if (sample !== null) samples.set(worker, [...(samples.get(worker) ?? []), sample]);
    }
  }
}

/** Null for a process that has ended. */
function sampleOf(pid: number): Sample | null {
  try {
    const memory = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const files = readdirSync(`/proc/${pid}/fd`);
    const watchers = files.reduce((sum, file) => sum + watchersOf(`/proc/${pid}/fdinfo/${file}`), 0);
    return { memory, files: files.length, watchers };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function watchersOf(path: string): number {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('inotify ')).length;
  } catch (error) {
    // Closed since it was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

async function tidyUp(): Promise<void> {
  await installation?.clear();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
