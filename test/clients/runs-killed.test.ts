/** Client suite 12: runs of the real Claude Code whose processes are killed at random. */
import { describe, expect, test } from 'vitest';
import type { HookWay } from '../../src/domain/installation.ts';
import { runsOf } from '../../src/extensions/runs/service.ts';
import { randomOf } from '../chaos/random.ts';
import { grow } from '../support/ageing.ts';
import { type Child, remainingProcesses, spawnHive } from '../support/children.ts';
import { eventually, moment } from '../support/wait.ts';
import { claudeEnvironment } from './support/claude.ts';
import { answer, effects, ended, KEEPERS, kill, nextLine, runOf, start } from './support/runs.ts';

/** `npm run ci:clients` has fewer; HIVE_TEST_RUNS=200 is the long proof. */
const RUNS = Number(process.env['HIVE_TEST_RUNS'] ?? 20);
/** HIVE_SEED repeats the plan of a run: its seed is in the title of the test. How the machine schedules is not repeated. */
const SEED = Number(process.env['HIVE_SEED'] ?? 20_261_123);
/** Of each pair: the two runs take the two ways of hooks. */
const SEEDS = Array.from({ length: Math.ceil(RUNS / 2) }, (_, n) => SEED + 2 * n);

describe('a run of Claude Code', () => {
  test.each(SEEDS)(
    'that is killed at random has each effect once, and none without its answer (seed %i, and the next)',
    async (seed) => {
      // Most of the time such a run waits for its human, so two of them take hardly longer than one.
      const two = await Promise.allSettled([
        killAtRandom(seed, 'connection'),
        killAtRandom(seed + 1, 'process'),
      ]);
      for (const one of two) if (one.status === 'rejected') throw one.reason;
    },
    300_000,
  );
});

async function killAtRandom(seed: number, way: HookWay): Promise<void> {
  const random = randomOf(seed, 'runs');
  const lines = ['one', 'two', 'three'];
  const started = await start({ script: (request) => nextLine(request, lines), patience: '300ms', way });
  const { hive, folder, child, run } = started;
  // Any process of the person's may look after the run.
  const startKeeper = (): Child => spawnHive(random.pick(KEEPERS), claudeEnvironment(run));
  let keeper = startKeeper();
  const allowed = new Set<string>();
  let isOver = false;
  const human = (async () => {
    const random = randomOf(seed, 'human');
    while (!isOver) {
      for (const prompt of (await hive.prompts.list({ status: 'pending', limit: 10 })).items) {
        const line = lines.find((one) => prompt.question.includes(one)) ?? '';
        await moment(random.between(0, 1_500));
        // A week passes, and old records are removed.
        if (random.chance(0.3)) {
          grow(run.store, 7);
          await hive.retention.sweep(1);
        }
        const isThere = effects(folder).includes(line);
        if (!isThere) allowed.add(line);
        const { status } = await hive.prompts.get(prompt.ask_id);
        if (status === 'pending') await answer(hive, prompt, isThere ? 'Deny' : 'Allow');
      }
      // An effect without an answer would be seen here.
      for (const line of lines)
        if (effects(folder).includes(line) && !allowed.has(line)) throw new Error(`${line} came unasked`);
      await moment(50);
    }
  })();
  await eventually(async () => (await runsOf(hive).list({ all: true })).length > 0, 20_000);
  for (let kills = 0; kills < 4; kills += 1) {
    await moment(random.between(0, 3_000));
    const [now] = await runsOf(hive).list({ all: true });
    const victim = random.next();
    if (victim < 0.4) {
      await keeper.kill('SIGKILL');
      keeper = startKeeper();
    } else if (victim < 0.6) await child.kill('SIGKILL');
    else if (now?.agent != null) kill(now.agent.pid);
  }
  // If the human's part fails, nothing is answered any more, and the run would never end.
  const problem = await Promise.race([ended(hive), human]).then(
    () => null,
    async (error: unknown) =>
      `${String(error)} ${JSON.stringify(await runOf(hive))} ${keeper.process.spawnargs.at(2)}: ${keeper.stderr()}`,
  );
  isOver = true;
  if (problem === null) await human;
  // The keeper of this agent was killed before it had recorded the agent. The agent's first hook would stop it if the model still answered.
  for (const line of remainingProcesses(`HOME=${folder}`))
    if (line.includes(run.clients.claude)) kill(Number.parseInt(line, 10));
  const plan = `seed ${seed}, hooks by ${way}`;
  expect(problem, plan).toBeNull();
  expect(await runOf(hive), plan).toMatchObject({ problem: null, exit_code: 0 });
  expect(effects(folder), plan).toBe('one\ntwo\nthree\n');
}
