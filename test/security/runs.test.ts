/** Runs: what a forged record or a forged row of a run starts, and what it allows. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Run } from '../../src/domain/runs.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { createRunFiles } from '../../src/infrastructure/platform/runs.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { noticesOf, recordingLog } from '../support/hive.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** A run that sleeps and waits for nothing: whoever looks at runs resumes it. */
const asleep = (differing: Partial<Run>): Run => ({
  run_id: 'run-1',
  session_id: '5e551000-0000-4000-8000-000000000001',
  status: 'sleeping',
  seat: thisSeat(),
  machine: hostname(),
  digest: '',
  patience_ms: 1_000,
  start: 1,
  heard: 1,
  crashes: 0,
  keeper: null,
  agent: null,
  calls: [],
  exit_code: null,
  problem: null,
  created_at: '2026-01-01T00:00:00.000Z',
  changed_at: '2026-01-01T00:00:00.000Z',
  ...differing,
});

interface Planted {
  hive: OpenedHive;
  env: Record<string, string>;
  record: object;
  /** Whether the program of the record ran. */
  ran: () => boolean;
  /** Stores the row, lets a process resume what can be resumed, and waits for the end of the run. */
  resume: (row: Partial<Run>) => Promise<Run | undefined>;
}

async function plant(): Promise<Planted> {
  const env = { HOME: tempFolder() };
  const folder = tempFolder();
  const program = join(folder, 'claude');
  writeFileSync(program, `#!/bin/sh\necho "$@" >'${join(folder, 'ran')}'\n`, { mode: 0o700 });
  const record = { program, options: [], prompt: 'go', run_id: 'run-1', dir: folder, env: {}, left_out: [] };
  const hive = await openHive({ store: tempStore(), env, log: recordingLog() });
  onTestFinished(() => hive.close());
  return {
    hive,
    env,
    record,
    ran: () => existsSync(join(folder, 'ran')),
    async resume(row) {
      await hive.store.write((tx) => tx.runs.put(asleep(row)));
      hive.startRuns({ jobs: 1 });
      const find = async (): Promise<Run | undefined> => (await hive.runs.list({ all: true }))[0];
      await eventually(async () => (await find())?.status === 'ended', 10_000);
      return find();
    },
  };
}

test('a record that hive run wrote is started', async () => {
  const { env, record, ran, resume } = await plant();
  const digest = createRunFiles(env).keep(record as never);
  expect(await resume({ digest })).toMatchObject({ problem: null, exit_code: 0 });
  expect(ran()).toBe(true);
});

test('a record that somebody else wrote starts nothing, although a row of the store names it', async () => {
  const { hive, env, record, ran, resume } = await plant();
  const folder = join(env['HOME'] ?? '', '.local/state/hive/runs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const mark = 'hmac-sha256 ';
  const guess = createHash('sha256').update(JSON.stringify(record)).digest('hex');
  for (const text of [JSON.stringify(record), `${JSON.stringify(record)}\n${mark}${guess}\n`]) {
    writeFileSync(join(folder, 'run-1.json'), text, { mode: 0o600 });
    const digest = createHash('sha256').update(text).digest('hex');
    expect(await resume({ digest })).toMatchObject({
      status: 'ended',
      problem: expect.stringContaining('was not written by hive run'),
    });
  }
  expect(ran()).toBe(false);
  expect(await noticesOf(hive)).toContainEqual(expect.stringMatching(/run-1 cannot go on: .*hive run/));
});

test('the record of another run starts nothing in its place', async () => {
  const { env, record, ran, resume } = await plant();
  const digest = createRunFiles(env).keep(record as never);
  const folder = join(env['HOME'] ?? '', '.local/state/hive/runs');
  renameSync(join(folder, 'run-1.json'), join(folder, 'run-2.json'));
  expect(await resume({ run_id: 'run-2', digest })).toMatchObject({
    problem: expect.stringContaining('was not written by hive run'),
  });
  expect(ran()).toBe(false);
});

test('the store gives the program no option', async () => {
  const { env, record, ran, resume } = await plant();
  const digest = createRunFiles(env).keep(record as never);
  expect(await resume({ digest, session_id: '--dangerously-skip-permissions' })).toMatchObject({
    problem: expect.stringContaining('is no id of a conversation'),
  });
  expect(ran()).toBe(false);
});
