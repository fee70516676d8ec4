/** One leg of a run: workers and nemesis over one engine, then everything is read and checked. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkAll } from './checker.ts';
import { readLog } from './log.ts';
import { unleash } from './nemesis.ts';
import { type Fault, planStrokes } from './plan.ts';
import type { Leg } from './report.ts';
import { lastOf, readSnapshot } from './snapshot.ts';
import { agent } from './workers/agent.ts';
import { claude } from './workers/claude.ts';
import { desk } from './workers/desk.ts';
import { follower } from './workers/follower.ts';
import { terminal } from './workers/terminal.ts';
import type { Worker, World } from './world.ts';
import type { Yard } from './yard.ts';

export interface LegOptions {
  engine: string;
  seed: number;
  duration_ms: number;
  yard: Yard;
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

export async function runLeg({
  engine,
  seed,
  duration_ms,
  yard,
  faults,
  disk,
  restartPostgres,
}: LegOptions): Promise<Leg> {
  const started = performance.now();
  const world: World = { yard, seed, handles: new Set(), asks: [], working: true };
  const workers = workersOf(world);
  const names = workers.map(({ name }) => name);
  const plan = planStrokes(seed, { duration_ms, workers: names, faults });
  const timeUp = setTimeout(() => {
    world.working = false;
  }, duration_ms);
  try {
    const working = workers.map((worker) => worker.work());
    const [struck] = await Promise.all([unleash(plan, { yard, disk, restartPostgres }), ...working]);
    await Promise.all(workers.map((worker) => worker.settle()));
    await Promise.all(workers.map((worker) => worker.finish()));
    const store = await readSnapshot(yard.store);
    const last = lastOf(store);
    await Promise.all(workers.map((worker) => worker.end(last)));
    const logs = readdirSync(yard.logs).map((file) => readLog(join(yard.logs, file)));
    const evidence = { logs, store };
    const seconds = (performance.now() - started) / 1000;
    return { engine, seconds, struck, evidence, checked: checkAll(evidence) };
  } finally {
    clearTimeout(timeUp);
    world.working = false;
    await yard.clear();
  }
}
