/**
 * `npm run powerloss`: what a power cut can leave on a disk, opened and compared with what was acknowledged before it
 * (docs/internals/faults.md).
 *   --states N        how many states to open, 20,000 by default
 *   --seed N          the states of an earlier run again
 *   --only NAME       one scenario; may be repeated
 *   --plant NAME      with a fault that only a power cut shows: succeeds when it is found; `all`: each in turn
 *   --engine postgres only the crashes of a PostgreSQL server; `sqlite`: without them
 */
import { parseArgs } from 'node:util';
import { PLANTED, PLANTED_NAMES, plantedNamed } from './planted.ts';
import { crashPostgres } from './postgres.ts';
import { type Outcome, type Recording, record } from './run.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true },
    plant: { type: 'string' },
    engine: { type: 'string' },
  },
});
const states = Number(values.states);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const chosen = SCENARIOS.filter(({ name }) => values.only?.includes(name) ?? true);
if (!(states >= 1) || !Number.isInteger(seed) || chosen.length === 0) {
  process.stderr.write(
    `--states and --seed take whole numbers; --only takes one of ${SCENARIOS.map(({ name }) => name).join(', ')}.\n`,
  );
  process.exit(2);
}

process.exit(values.plant === undefined ? await check() : await plant(values.plant));

async function check(): Promise<number> {
  process.stdout.write(`powerloss: seed ${seed}\n`);
  let broken = 0;
  let opened = 0;
  if (values.engine !== 'postgres') {
    let parts = chosen.reduce((sum, { weight }) => sum + weight, 0);
    for (const recording of await recordAll()) {
      const { scenario } = recording;
      // A scenario with fewer states leaves its share to the next ones.
      const share = Math.ceil(((states - opened) * scenario.weight) / parts);
      parts -= scenario.weight;
      const outcome = await recording.open({ states: share, seed });
      recording.remove();
      opened += outcome.states;
      broken += outcome.problems.length;
      print(scenario.name, outcome);
    }
    process.stdout.write(`${opened} states of the disk opened.\n`);
  }
  if (values.engine !== 'sqlite' && values.only === undefined) {
    const { text, problems } = await crashPostgres({ seed, cuts: states >= 20_000 ? 40 : 2 });
    process.stdout.write(`${text}\n`);
    for (const problem of problems) process.stdout.write(`  ${problem}\n`);
    broken += problems.length;
  }
  process.stdout.write(
    broken === 0
      ? 'Nothing that was acknowledged is lost.\n'
      : `${broken} states lose something. The same again: npm run powerloss -- --seed ${seed} --states ${states}\n`,
  );
  return broken === 0 ? 0 : 1;
}

/** Some at once, because most of the time their processes start. Opening comes afterwards: it lets nothing else run. */
async function recordAll(): Promise<Recording[]> {
  const left = [...chosen];
  const recorded = new Map<Scenario, Recording>();
  const work = async (): Promise<void> => {
    for (let scenario = left.shift(); scenario !== undefined; scenario = left.shift())
      recorded.set(scenario, await record(scenario));
  };
  try {
    await Promise.all([work(), work(), work()]);
  } catch (error) {
    left.length = 0;
    for (const recording of recorded.values()) recording.remove();
    throw error;
  }
  return chosen.flatMap((scenario) => recorded.get(scenario) ?? []);
}

function print(name: string, { states, calls, problems }: Outcome): void {
  process.stdout.write(
    `${problems.length === 0 ? 'ok    ' : 'BROKEN'} ${name.padEnd(16)} ${calls} calls recorded, ${states} states\n`,
  );
  for (const { how, texts } of problems.slice(0, 5))
    process.stdout.write(`  ${how}: ${texts.slice(0, 3).join(' ')}\n`);
}

async function plant(name: string): Promise<number> {
  const names = name === 'all' ? PLANTED_NAMES : [plantedNamed(name)];
  let missed = 0;
  for (const fault of names) {
    const { what, scenario: where } = PLANTED[fault];
    const scenario = SCENARIOS.find((one) => one.name === where);
    if (scenario === undefined) throw new Error(`There is no scenario ${where}.`);
    const recording = await record(scenario, PLANTED[fault]);
    const { problems } = await recording.open({ states: 400, seed });
    recording.remove();
    if (problems.length === 0) missed += 1;
    process.stdout.write(
      `${problems.length > 0 ? 'found    ' : 'NOT FOUND'} ${fault}: ${what} (${problems[0]?.texts[0] ?? 'nothing'})\n`,
    );
  }
  return missed === 0 ? 0 : 1;
}
