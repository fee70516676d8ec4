/** Runs: two processes see at the same time that a run can go on, and one of them starts its agent. */
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/application/ports.ts';
import type { RunFiles } from '../../src/extensions/runs/files.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { runsWith, sleepingRun } from '../support/run-rows.ts';
import { eventually } from '../support/wait.ts';

test('a run that two processes want to resume is resumed once', async () => {
  const hive = await openTestHive();
  await hive.store.write((tx) => tx.runs.put(sleepingRun()));
  let starts = 0;
  let claims = 0;
  const readers = new Set<number>();
  const files: RunFiles = {
    keep: () => 'd',
    read: (run_id) => ({
      run_id,
      program: 'claude',
      options: [],
      prompt: 'go',
      dir: '/',
      env: {},
      left_out: [],
    }),
    async start() {
      starts += 1;
      // The agent lives until both processes have decided.
      return { pid: process.pid, ended: eventually(() => claims >= 2).then(() => 0) };
    },
    count: () => undefined,
    forget: () => undefined,
    output: () => '',
  };
  const serviceOf = (pid: number) => {
    // Neither writes before both have read that the run sleeps.
    const store: Store = {
      ...hive.store,
      async read(work) {
        const found = await hive.store.read(work);
        readers.add(pid);
        return found;
      },
      async write(work) {
        await eventually(() => readers.size === 2);
        return hive.store.write(work).finally(() => {
          claims += 1;
        });
      },
    };
    return runsWith(hive, store, files, {
      // Both live.
      processes: { ...processes, alive: () => true, startedAt: () => 'then' },
      pid,
    });
  };
  const stops = [1, 2].map((pid) => serviceOf(pid).watch({ jobs: 4 }));
  onTestFinished(() => Promise.all(stops.map((stop) => stop())).then(() => undefined));
  await eventually(async () => (await hive.store.read((tx) => tx.runs.get('run-1')))?.status === 'ended');
  expect(starts).toBe(1);
  expect(await hive.store.read((tx) => tx.runs.get('run-1'))).toMatchObject({ start: 2, exit_code: 0 });
});

test('a question that a sleeping run waits for does not count as one of an ended session', async () => {
  const hive = await openTestHive();
  const { ask_id, session_id } = await ask(hive);
  await hive.sessions.end(session_id);
  expect(await hive.prompts.get(ask_id)).toMatchObject({ orphaned: true });
  const call = { call_id: 'call-1', ask_id, start: 1, deferred: true, given: false };
  const run = sleepingRun({ session_id, status: 'working', calls: [call] });
  await hive.store.write((tx) => tx.runs.put(run));
  const files: RunFiles = {
    keep: () => 'd',
    read: () => expect.fail('It was started.'),
    start: () => expect.fail('It was started.'),
    count: () => undefined,
    forget: () => undefined,
    output: () => '',
  };
  const runs = runsWith(hive, hive.store, files);
  onTestFinished(runs.watch({ jobs: 1 }));
  await eventually(async () => (await hive.store.read((tx) => tx.runs.get('run-1')))?.status === 'sleeping');
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', orphaned: false });
});
