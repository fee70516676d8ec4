/** Runs: two processes see at the same time that a run can go on, and one of them starts its agent; and who its questions are of. */
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/application/ports.ts';
import { HiveError } from '../../src/domain/errors.ts';
import type { Run } from '../../src/domain/runs.ts';
import type { RunFiles } from '../../src/extensions/runs/files.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { runsWith } from '../support/runs.ts';
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

/** A run whose agent is gone, of a session with two open questions, of which it waits for one; and what looks after it. */
async function openLeftRun(differing: Partial<Run> = {}) {
  const hive = await openTestHive();
  const { ask_id, session_id } = await ask(hive);
  const other = await ask(hive, { question: 'And then?' });
  const call = { call_id: null, ask_id, start: 1, deferred: false, given: false };
  const run = sleepingRun({ session_id, status: 'working', exit_code: 0, calls: [call], ...differing });
  await hive.store.write((tx) => tx.runs.put(run));
  const files: RunFiles = {
    keep: () => 'd',
    read() {
      throw new HiveError('store_unsafe', 'Its file is gone.');
    },
    start: () => expect.fail('It was started.'),
    count: () => undefined,
    forget: () => undefined,
    output: () => '',
  };
  const runs = runsWith(hive, hive.store, files);
  const status = async () => (await hive.store.read((tx) => tx.runs.get('run-1')))?.status;
  const orphaned = async () => [
    (await hive.prompts.get(ask_id)).orphaned,
    (await hive.prompts.get(other.ask_id)).orphaned,
  ];
  const look = (): void => onTestFinished(runs.watch({ jobs: 1 }));
  return { hive, runs, ask_id, session_id, status, orphaned, look };
}

test('the questions of a sleeping run do not count as those of an ended session, whichever ends first', async () => {
  const before = await openLeftRun();
  await before.hive.sessions.end(before.session_id);
  expect(await before.orphaned()).toEqual([true, true]);
  before.look();
  await eventually(async () => (await before.status()) === 'sleeping');
  expect(await before.orphaned()).toEqual([false, false]);

  // Of an agent that was killed, nobody knows before the next sweep.
  const after = await openLeftRun();
  after.look();
  await eventually(async () => (await after.status()) === 'sleeping');
  await after.hive.sessions.end(after.session_id);
  expect(await after.orphaned()).toEqual([false, false]);
});

test('what is open once a run is over counts as a question of its ended session', async () => {
  const failed = await openLeftRun({ status: 'sleeping' });
  await failed.hive.sessions.end(failed.session_id);
  await failed.hive.prompts.respond({ ask_id: failed.ask_id, decision: 'yes', actor: HUMAN });
  failed.look();
  await eventually(async () => (await failed.status()) === 'ended');
  expect(await failed.orphaned()).toEqual([false, true]);

  const stopped = await openLeftRun({ status: 'sleeping' });
  await stopped.hive.sessions.end(stopped.session_id);
  await stopped.runs.stop('run-1');
  expect(await stopped.hive.prompts.get(stopped.ask_id)).toMatchObject({ status: 'cancelled' });
  expect(await stopped.orphaned()).toEqual([false, true]);
});

test('a run whose turn was interrupted did not succeed, although its client ends with 0', async () => {
  const left = await openLeftRun({ calls: [] });
  const turn = await left.hive.turns.start({ session_id: left.session_id, client_turn_id: null, by: 'ada' });
  await left.hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
  left.look();
  await eventually(async () => (await left.status()) === 'ended');
  expect(await left.hive.store.read((tx) => tx.runs.get('run-1'))).toMatchObject({
    problem: 'Its turn was interrupted.',
  });
});

test('an interrupt of an agent whose run sleeps says how to end the run', async () => {
  const hive = await openTestHive();
  const { session_id } = await introduce(hive);
  const interrupted = () => hive.interrupts.interrupt({ session: session_id, actor: HUMAN });
  await expect(interrupted()).rejects.toThrow(/is idle; nothing to interrupt\.$/);
  await hive.store.write((tx) => tx.runs.put(sleepingRun({ session_id, seat: hive.parts.seat })));
  await expect(interrupted()).rejects.toThrow(
    / sleeps; nothing to interrupt\. To end its run: hive runs --stop run-1$/,
  );
});
