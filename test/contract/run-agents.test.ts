/** Runs: a stop reaches the agent whenever it comes, and a store that is busy for a moment loses no run. */
import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/application/ports.ts';
import { HiveError } from '../../src/domain/errors.ts';
import type { RunFiles, StartedAgent } from '../../src/extensions/runs/files.ts';
import type { NewRun } from '../../src/extensions/runs/service.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { openTestHive } from '../support/hive.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { runsWith } from '../support/runs.ts';
import { eventually } from '../support/wait.ts';

const COMMAND = { program: 'claude', options: [], prompt: 'go' };
const RUN: NewRun = { command: COMMAND, dir: '/', env: {}, left_out: [], patience_ms: 1_000 };

const BUSY = new HiveError('store_busy', 'The store was locked by another process.');
const UNSAFE = new HiveError('store_unsafe', 'The file of the store was replaced.');

/** A service, and the agents that it has started: each lives until it is interrupted. Each of `refusals` fails one write. */
async function openRuns({
  whenStarted = async () => undefined,
}: {
  whenStarted?: () => Promise<unknown>;
} = {}) {
  const hive = await openTestHive();
  const agents: StartedAgent[] = [];
  const refusals: HiveError[] = [];
  const remembered = new Set<string>();
  const store: Store = {
    ...hive.store,
    async write(work) {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
      return hive.store.write(work);
    },
  };
  const files: RunFiles = {
    keep({ run_id }) {
      remembered.add(run_id);
      return 'd';
    },
    read: (run_id) => ({ ...COMMAND, run_id, dir: '/', env: {}, left_out: [] }),
    async start() {
      const child = spawn('sleep', ['1d'], { stdio: 'ignore' });
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
      agents.push({ pid: child.pid ?? 0, ended });
      await whenStarted();
      return { pid: child.pid ?? 0, ended };
    },
    count: () => undefined,
    forget: (run_id) => void remembered.delete(run_id),
    output: () => '',
  };
  const runs = runsWith(hive, store, files);
  /** Those of a process that dies before it has stopped an agent. */
  const dying = runsWith(hive, store, files, {
    processes: {
      ...processes,
      interrupt() {
        throw new Error('This process has died.');
      },
    },
  });
  const hasAgent = async () => (await runs.list({ all: true }))[0]?.agent != null;
  return { hive, runs, dying, agents, refusals, remembered, hasAgent };
}

test('a run whose signal has fired before it begins starts no agent', async () => {
  const { runs, agents } = await openRuns();
  expect(await runs.begin({ ...RUN, stop: AbortSignal.abort() })).toMatchObject({
    status: 'ended',
    problem: 'It was stopped.',
  });
  expect(agents).toEqual([]);
});

test('the arguments and the environment of a run that cannot be started are not kept', async () => {
  const { runs, remembered } = await openRuns({
    whenStarted: () => Promise.reject(new Error('no such file')),
  });
  expect(await runs.begin(RUN)).toMatchObject({ status: 'ended', problem: 'no such file' });
  expect(remembered).toEqual(new Set());
});

test('nor are those of a run that could not be stored', async () => {
  const { runs, refusals, remembered } = await openRuns();
  refusals.push(UNSAFE);
  await expect(runs.begin(RUN)).rejects.toBe(UNSAFE);
  expect(remembered).toEqual(new Set());
});

test('a run that is stopped before its agent is recorded stops that agent', async () => {
  const { runs, agents } = await openRuns({
    whenStarted: async () => {
      const [run] = await runs.list({ all: false });
      await runs.stop(run?.run_id ?? '');
    },
  });
  expect(await runs.begin(RUN)).toMatchObject({ status: 'ended', problem: 'It was stopped.' });
  expect(await agents[0]?.ended).toBeNull();
});

test('an agent is stopped although the process that began to stop its run has died', async () => {
  const { runs, dying, agents, hasAgent } = await openRuns();
  const began = runs.begin(RUN);
  await eventually(hasAgent);
  const [{ run_id } = { run_id: '' }] = await runs.list({ all: false });
  await expect(dying.stop(run_id)).rejects.toThrow('has died');
  expect(await runs.stop(run_id)).toMatchObject({
    run: { status: 'ended', problem: 'It was stopped.' },
    killed: false,
  });
  expect(await agents[0]?.ended).toBeNull();
  await began;
});

test('an agent is recorded, and stopped, although the store is busy for a moment', async () => {
  const { runs, agents, refusals, hasAgent } = await openRuns({
    whenStarted: async () => refusals.push(BUSY, BUSY),
  });
  const stop = new AbortController();
  const began = runs.begin({ ...RUN, stop: stop.signal });
  await eventually(hasAgent);
  refusals.push(BUSY);
  stop.abort();
  expect(await began).toMatchObject({ status: 'ended', problem: 'It was stopped.' });
  expect(agents).toHaveLength(1);
});

test('an agent that cannot be recorded is stopped', async () => {
  const { runs, agents, refusals } = await openRuns({ whenStarted: async () => refusals.push(UNSAFE) });
  expect(await runs.begin(RUN)).toMatchObject({ status: 'ended', problem: UNSAFE.message });
  expect(await agents[0]?.ended).toBeNull();
});

test('the end of an agent is stored although the store is busy then', async () => {
  const { runs, agents, refusals, hasAgent } = await openRuns();
  const began = runs.begin(RUN);
  await eventually(hasAgent);
  refusals.push(BUSY, BUSY);
  processes.interrupt(agents[0]?.pid ?? 0);
  // An agent that a signal ended is started again.
  expect(await began).toMatchObject({ status: 'sleeping', crashes: 1, keeper: null });
});

test('a run whose end this process could not store is resumed by this process', async () => {
  const { hive, runs, agents, refusals, hasAgent } = await openRuns();
  await hive.store.write((tx) => tx.runs.put(sleepingRun()));
  const unwatch = runs.watch({ jobs: 1 });
  onTestFinished(unwatch);
  await eventually(hasAgent);
  refusals.push(UNSAFE);
  processes.interrupt(agents[0]?.pid ?? 0);
  await eventually(async () => (await runs.list({ all: true }))[0]?.start === 3);
});
