/**
 * `npm run chaos`: real processes work while a nemesis makes faults; then everything acknowledged is compared
 * with the store (docs/internals/faults.md).
 *   --seconds N      how long, 600 by default
 *   --seed N         the plan and the choices of an earlier run again
 *   --engine NAME    only sqlite, or only postgres
 *   --calm           no faults
 *   --without-disk   where no file system may be mounted: else such a run is refused, because it has one fault less
 *   --disk-if-possible   the same only where it must be, and says so: for machines that nobody has chosen
 *   --keep           keeps the history of the run, also when all was right
 *   --sabotage NAME  with a deliberate bug, without faults: succeeds when the checker finds it; `all`: each in turn
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type Checked, idle } from './checker.ts';
import { type Installation, openInstallation } from './installation.ts';
import type { Fault } from './plan.ts';
import { openPower } from './power.ts';
import { report } from './report.ts';
import { runLeg } from './run.ts';
import { SABOTAGE_NAMES, SABOTAGES, type SabotageName, sabotageNamed } from './sabotage.ts';

/** Set inside: the folder on which a small file system of our own is mounted. */
const DISK = 'HIVE_CHAOS_DISK';
const DISK_SIZE = '32m';
/** Of the time the last part is PostgreSQL's. */
const POSTGRES_PART = 0.25;
const SABOTAGE_SECONDS = 10;
const EVERYWHERE: readonly Fault[] = ['kill', 'pause', 'clock', 'client'];

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    engine: { type: 'string' },
    calm: { type: 'boolean', default: false },
    'without-disk': { type: 'boolean', default: false },
    'disk-if-possible': { type: 'boolean', default: false },
    sabotage: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const sabotaged = values.sabotage !== undefined;
/** Whether the run fills a disk: only the store of SQLite is a file, and calm runs strike nothing. */
const fills = !sabotaged && !values.calm && values.engine !== 'postgres' && !values['without-disk'];
const seconds = Number(values.seconds ?? (sabotaged ? SABOTAGE_SECONDS : 600));
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (!(seconds >= 5) || !Number.isInteger(seed)) {
  process.stderr.write('--seconds takes a number, 5 or more; --seed takes a whole number.\n');
  process.exit(2);
}

let installation: Installation | null = null;
let server: PostgresServer | null = null;

const disk = process.env[DISK];
const code = disk !== undefined ? await main(disk) : fills ? await onDiskOfOurOwn() : await main(null);
// Time limits of calls that were cut off would hold it for some seconds more.
process.exit(code);

/** Starts this again in a mount namespace that ends with it, with its own small disk; refuses where that is not allowed. */
async function onDiskOfOurOwn(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'hive-chaos-'));
  const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m'];
  const mount = `mount -t tmpfs -o size=${DISK_SIZE},mode=0700 none "$${DISK}" && exec "$@"`;
  const env = { ...process.env, [DISK]: join(folder, 'disk') };
  mkdirSync(env[DISK], { mode: 0o700 });
  const may =
    spawnSync('unshare', [...namespace, 'sh', '-c', mount, 'sh', 'true'], { env, stdio: 'ignore' }).status ===
    0;
  try {
    if (!may) {
      const why =
        'No file system may be mounted here, so the disk cannot be filled: that takes root or user namespaces.';
      const goesOn = values['disk-if-possible'];
      process.stderr.write(
        `${why} ${goesOn ? 'This run goes on without that fault.' : 'Go on without that fault by --without-disk.'}\n`,
      );
      return goesOn ? await main(null) : 1;
    }
    const words = [
      ...namespace,
      'sh',
      '-c',
      mount,
      'sh',
      process.execPath,
      ...process.execArgv,
      ...process.argv.slice(1),
    ];
    const child = spawn('unshare', words, { env, stdio: 'inherit' });
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => child.kill(name));
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function main(disk: string | null): Promise<number> {
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => void tidyUp().then(() => process.exit(1)));
  if (!sabotaged) return chaos(disk);
  const names = values.sabotage === 'all' ? SABOTAGE_NAMES : [sabotageNamed(String(values.sabotage))];
  let missed = 0;
  for (const name of names) if (!(await isFound(name))) missed += 1;
  process.stdout.write(missed === 0 ? 'Every sabotage was found.\n' : `${missed} were not found.\n`);
  return missed === 0 ? 0 : 1;
}

async function chaos(disk: string | null): Promise<number> {
  process.stdout.write(`chaos: seed ${seed}, ${seconds} s\n`);
  const both = values.engine === undefined;
  const legs: Awaited<ReturnType<typeof leg>>[] = [];
  if (values.engine !== 'postgres') {
    const faults: Fault[] = [
      ...EVERYWHERE,
      'permissions',
      'bell',
      'power',
      ...(disk === null ? [] : ['disk' as const]),
    ];
    legs.push(await leg('SQLite', { disk, faults, part: both ? 1 - POSTGRES_PART : 1 }));
  }
  if (values.engine !== 'sqlite')
    legs.push(
      await leg('PostgreSQL', {
        disk: null,
        faults: [...EVERYWHERE, 'postgres'],
        part: both ? POSTGRES_PART : 1,
      }),
    );
  const unchecked = idle(legs.flatMap(({ checked }) => checked));
  for (const check of unchecked)
    process.stdout.write(
      `\nNOTHING TO CHECK: ${check} did not see one case. If a longer run has none either, a worker no longer makes any.\n`,
    );
  const broken = legs.reduce((sum, { wrong }) => sum + wrong, unchecked.length);
  const again = `npm run chaos -- --seed ${seed} --seconds ${seconds}${both ? '' : ` --engine ${values.engine}`}`;
  process.stdout.write(
    broken === 0
      ? '\nEvery invariant held.\n'
      : `\n${broken} violations, faults that never struck, or checks that had nothing to check. The same plan again: ${again}\n`,
  );
  return broken === 0 ? 0 : 1;
}

interface Outcome {
  missed: readonly Fault[];
  violations: number;
  /** The names of the checks that found violations. */
  broken: string[];
  checked: readonly Checked[];
}

interface LegPlan {
  disk: string | null;
  faults: readonly Fault[];
  /** Of the whole time. */
  part: number;
  sabotage?: SabotageName;
}

/** `wrong`: how many violations, and faults that could not be done. What a run found is kept, and where, is said. */
async function leg(engine: string, plan: LegPlan): Promise<{ wrong: number; checked: readonly Checked[] }> {
  const { missed, violations, checked } = await run(engine, plan);
  for (const fault of missed)
    process.stdout.write(`  NEVER STRUCK: ${fault} was planned and could not be done once.\n`);
  return { wrong: violations + missed.length, checked };
}

async function run(engine: string, { disk, faults, part, sabotage }: LegPlan): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'hive-chaos-run-'));
  let keep = false;
  try {
    server = engine === 'PostgreSQL' ? await startPostgres() : null;
    const store = server?.address('chaos') ?? join(disk ?? folder, 'store', 'hive.db');
    const cuts = !values.calm && sabotage === undefined && faults.includes('power');
    const power = cuts ? openPower({ folder, store, seed }) : null;
    installation = openInstallation({ folder, store, sabotage: sabotage ?? null, power });
    const restartPostgres = server === null ? null : server.restart;
    const duration_ms = seconds * 1000 * part;
    const calm = values.calm || sabotage !== undefined;
    const done = await runLeg({
      engine,
      seed,
      duration_ms,
      installation,
      faults: calm ? [] : faults,
      disk,
      restartPostgres,
    });
    const broken = done.checked.filter(({ violations }) => violations.length > 0);
    keep = values.keep || (broken.length > 0 && sabotage === undefined);
    if (sabotage === undefined) process.stdout.write(`${report(done)}\n`);
    if (keep)
      process.stdout.write(`  The history and the logs of all workers are kept in ${join(folder, 'logs')}\n`);
    const violations = broken.reduce((sum, one) => sum + one.violations.length, 0);
    return { missed: done.missed, violations, broken: broken.map(({ name }) => name), checked: done.checked };
  } finally {
    await tidyUp();
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    else for (const part of ['home', 'program']) rmSync(join(folder, part), { recursive: true, force: true });
  }
}

async function isFound(name: SabotageName): Promise<boolean> {
  const { what, found_by } = SABOTAGES[name];
  let broken: string[] = [];
  // A busy machine does little in ten seconds: a bug that was not met then gets four times as long.
  for (const part of [1, 4]) {
    try {
      ({ broken } = await run('SQLite', { disk: null, faults: [], part, sabotage: name }));
    } catch (error) {
      // A bug may keep a worker from finishing. Then nothing was checked, and the other bugs have their turn all the same.
      process.stdout.write(`  ${name}: the run did not finish. ${String(error)}\n`);
      continue;
    }
    if (broken.includes(found_by)) break;
  }
  const found = broken.includes(found_by);
  process.stdout.write(
    `${found ? 'found   ' : 'NOT FOUND'} ${name}: ${what} (broken: ${broken.join(', ') || 'nothing'})\n`,
  );
  return found;
}

async function tidyUp(): Promise<void> {
  await installation?.clear();
  installation = null;
  await server?.stop();
  server = null;
}
