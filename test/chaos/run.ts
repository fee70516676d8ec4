/** One leg of a run: workers and nemesis over one engine, then everything is read and checked. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkAll } from './checker.ts';
import type { StoredRow } from './facts.ts';
import { Failure } from './failures.ts';
import { openHistory, readHistory } from './history.ts';
import type { Installation } from './installation.ts';
import { checkHistory } from './linearizable.ts';
import { readLog } from './log.ts';
import { unleash } from './nemesis.ts';
import { type Fault, neverStruck, planStrokes, type Stroke } from './plan.ts';
import type { Leg } from './report.ts';
import { lastOf, readSnapshot } from './snapshot.ts';
import { agent } from './workers/agent.ts';
import { claude } from './workers/claude.ts';
import { desk } from './workers/desk.ts';
import { follower } from './workers/follower.ts';
import { terminal } from './workers/terminal.ts';
import type { Worker, World } from './world.ts';

export interface LegOptions {
  engine: string;
  seed: number;
  duration_ms: number;
  installation: Installation;
  faults: readonly Fault[];
  /** See `NemesisOptions`. */
  disk: string | null;
  restartPostgres: (() => Promise<void>) | null;
}

function workersOf(world: World): Worker[] {
  return [
    agent(world, { name: 'agent-1', env: { HIVE_AGENT: 'first-agent' } }),
    agent(world, { name: 'agent-2', env: { HIVE_AGENT: 'other-agent' } }),
    agent(world, { name: 'coordinator', env: { HIVE_AGENT: 'coordinator' }, coordinator: true }),
    claude(world, 'claude', 'c1a0de00-0000-4000-8000-000000000001'),
    desk(world, 'desk-ada'),
    desk(world, 'desk-bob'),
    terminal(world, 'terminal'),
    follower(world, 'follower-1'),
    follower(world, 'follower-2'),
  ];
}

/** `missed`: the faults that the plan held and that could not be done. */
export async function runLeg({
  faults,
  disk,
  restartPostgres,
  ...run
}: LegOptions): Promise<Leg & { missed: readonly Fault[] }> {
  const { seed, duration_ms, installation } = run;
  let plan: readonly Stroke[] = [];
  const done = await runWorkers({
    ...run,
    workers: workersOf,
    nemesis: (workers) => {
      plan = planStrokes(seed, { duration_ms, workers, faults });
      return unleash(plan, { installation, disk, restartPostgres });
    },
  });
  return { ...done, missed: neverStruck(plan, done.struck) };
}

export interface RunOptions extends Pick<LegOptions, 'engine' | 'seed' | 'duration_ms' | 'installation'> {
  workers: (world: World) => Worker[];
  /** Strikes the workers of these names; resolves when all is healed, with how often each fault struck. */
  nemesis: (workers: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

/** Lets workers work for a time beside a nemesis, finish without it, and compares what they know with the store. */
export async function runWorkers({
  engine,
  seed,
  duration_ms,
  installation,
  workers: make,
  nemesis,
}: RunOptions): Promise<Leg> {
  const started = performance.now();
  await liftQuotas(installation);
  const file = join(installation.logs, HISTORY);
  const history = openHistory(file);
  const world: World = { installation, seed, history, handles: new Set(), asks: [], working: true };
  const workers = make(world);
  const timeUp = setTimeout(() => {
    world.working = false;
  }, duration_ms);
  try {
    const working = workers.map((worker) => worker.work());
    const [struck] = await Promise.all([nemesis(workers.map(({ name }) => name)), ...working]);
    const stuck = [
      ...(await allOf(workers, 'settle', (worker) => worker.settle())),
      ...(await allOf(workers, 'finish', (worker) => worker.finish())),
    ];
    const store = await readSnapshot(installation.store);
    history.invoke('store', 'read all', {})({ got: store.prompts.map(readingOf) });
    const last = lastOf(store);
    stuck.push(...(await allOf(workers, 'end', (worker) => worker.end(last))));
    const names = readdirSync(installation.logs).filter((file) => file.endsWith('.log'));
    const logs = names.map((file) => readLog(join(installation.logs, file)));
    const evidence = { logs, store, cut: struck.has('power'), stuck };
    const seconds = (performance.now() - started) / 1000;
    const checked = [...checkAll(evidence), { ...LINEARIZABLE, ...checkHistory(readHistory(file)) }];
    return { engine, seconds, struck, evidence, checked };
  } finally {
    clearTimeout(timeUp);
    world.working = false;
    await installation.clear();
  }
}

/**
 * Lets every worker do this; returns, as sentences, which of them could not. A store that lost something may refuse whoever
 * relies on it: what was lost is found in the store, so this must not end the run.
 */
async function allOf(
  workers: readonly Worker[],
  what: string,
  act: (worker: Worker) => Promise<void>,
): Promise<string[]> {
  const results = await Promise.allSettled(workers.map(act));
  return results.flatMap((result, n) => {
    if (result.status === 'fulfilled') return [];
    // Any other error is a bug of ours.
    if (!(result.reason instanceof Failure)) throw result.reason;
    return [`${workers[n]?.name}, at its last acts (${what}): ${result.reason.message}`];
  });
}

const HISTORY = 'history.jsonl';
const LINEARIZABLE = {
  name: 'linearizable',
  proves:
    'one order of all operations, within the times that they took, explains everything that anybody was told',
};

/** A prompt at the end, as a read of the history. */
function readingOf(row: StoredRow): Record<string, unknown> {
  const late = row['late_response'] as { decision?: unknown } | null;
  return {
    ask_id: row['ask_id'],
    key: row['idempotency_key'],
    status: row['status'],
    decision: row['decision'],
    late: late?.decision ?? null,
  };
}

/** A run asks more than any agent. */
async function liftQuotas(installation: Installation): Promise<void> {
  const { exited, stderr } = await installation.start('human', ['config', 'quotas', 'no']);
  if ((await exited) !== 0) throw new Error(`The person could not end the quotas: ${stderr()}`);
}
