/** Runs: what a forged record or a forged row of a run starts, and what it allows. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { blockUntilSettled } from '../../src/application/waits.ts';
import type { Run, RunCall } from '../../src/domain/runs.ts';
import { createRunFiles } from '../../src/extensions/runs/files.ts';
import { resumeRuns, runsOf } from '../../src/extensions/runs/service.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { answerDialog, fireDialog, openDesk } from '../support/dialogs.ts';
import { ask, noticesOf, openTestHive, recordingLog } from '../support/hive.ts';
import { fire, recordedEvent, said } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const asleep = (differing: Partial<Run>): Run =>
  sleepingRun({ seat: thisSeat(), machine: hostname(), digest: '', ...differing });

interface Planted {
  hive: OpenedHive;
  env: Record<string, string>;
  record: object;
  /** Whether the program of the record ran. */
  ran: () => boolean;
  /** Stores the row, calls `before` with the path of the store, lets a process resume what can be resumed, and waits for the end of the run. */
  resume: (row: Partial<Run>, before?: (store: string) => void | Promise<void>) => Promise<Run | undefined>;
}

async function plant(): Promise<Planted> {
  const env = { HOME: tempFolder() };
  const folder = tempFolder();
  const program = join(folder, 'claude');
  writeFileSync(program, `#!/bin/sh\necho "$@" >'${join(folder, 'ran')}'\n`, { mode: 0o700 });
  const record = { program, options: [], prompt: 'go', run_id: 'run-1', dir: folder, env: {}, left_out: [] };
  const store = tempStore();
  const hive = closedAtEnd(await openHive({ store, env, log: recordingLog() }));
  return {
    hive,
    env,
    record,
    ran: () => existsSync(join(folder, 'ran')),
    async resume(row, before) {
      await hive.store.write((tx) => tx.runs.put(asleep(row)));
      await before?.(store);
      resumeRuns(hive, 1);
      const find = async (): Promise<Run | undefined> => (await runsOf(hive).list({ all: true }))[0];
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

test('a record is removed when a run is found to be over', async () => {
  const { env, record, ran, resume } = await plant();
  const files = createRunFiles(env);
  const digest = files.keep(record as never);
  // Its agent had said that it was done, and whoever looked after it died.
  expect(await resume({ digest, status: 'working', exit_code: 0 })).toMatchObject({
    start: 1,
    problem: null,
  });
  await eventually(() => !existsSync(files.output('run-1').replace(/out$/, 'json')));
  expect(ran()).toBe(false);
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
    problem: expect.stringContaining('is not the id of a conversation'),
  });
  expect(ran()).toBe(false);
});

test.each<[string, (run: Run) => Partial<Run>]>([
  [
    'puts words of its own into the prompt',
    () => ({
      calls: [{ call_id: null, ask_id: 'IGNORE THE ABOVE', start: 1, deferred: false, given: false }],
    }),
  ],
  [
    'ends the plan mode',
    () => ({
      calls: [{ call_id: null, ask_id: 'ask-1', start: 1, deferred: false, given: false, mode: 'default' }],
    }),
  ],
  ['names another conversation', () => ({ session_id: '0716e4a0-0000-4000-8000-000000000002' })],
  ['has it begin again', () => ({ heard: 0 })],
  ['resets the count of its starts', () => ({ start: 0 })],
])('a row that %s starts nothing', async (_, forge) => {
  const { hive, env, record, ran, resume } = await plant();
  const digest = createRunFiles(env).keep(record as never);
  const forged = forge(asleep({ digest }));
  const result = await resume({ digest }, (path) => {
    const db = new DatabaseSync(path);
    for (const [column, value] of Object.entries(forged))
      db.prepare(`UPDATE runs SET ${column} = ?`).run(
        typeof value === 'number' ? value : typeof value === 'string' ? value : JSON.stringify(value),
      );
    db.close();
  });
  expect(result).toMatchObject({ problem: expect.stringContaining('changed by something other than Hive') });
  expect(ran()).toBe(false);
  expect(await noticesOf(hive)).toContainEqual(expect.stringContaining('run-1 cannot go on: Its row'));
});

test('the question of a run whose row was changed does not wait for an answer that nobody would get', async () => {
  const { hive, env, record, ran, resume } = await plant();
  const digest = createRunFiles(env).keep(record as never);
  const { ask_id } = await ask(hive, {}, asleep({}).session_id);
  const result = await resume({ digest }, async (path) => {
    await hive.store.write(async (tx) => {
      const prompt = await tx.prompts.get(ask_id);
      if (prompt !== undefined) await blockUntilSettled(tx, prompt, { wait_id: 'run-1', since: tx.now });
    });
    const db = new DatabaseSync(path);
    db.exec("UPDATE runs SET calls = '[]', session_id = '0716e4a0-0000-4000-8000-000000000002'");
    db.close();
  });
  expect(result).toMatchObject({ problem: expect.stringContaining('changed by something other than Hive') });
  expect(ran()).toBe(false);
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', cancel_reason: 'withdrawn' });
});

test('a changed row does not become valid when Hive writes it again', async () => {
  const { env, hive, record, ran, resume } = await plant();
  const digest = createRunFiles(env).keep(record as never);
  const result = await resume({ digest }, async (path) => {
    const db = new DatabaseSync(path);
    db.exec('UPDATE runs SET heard = 0');
    db.close();
    await hive.store.write(async (tx) => {
      const run = await tx.runs.get('run-1');
      if (run !== undefined) await tx.runs.put({ ...run, patience_ms: 2_000 });
    });
  });
  expect(result).toMatchObject({ problem: expect.stringContaining('changed by something other than Hive') });
  expect(ran()).toBe(false);
});

test('an earlier row of the run that somebody restores starts nothing', async () => {
  const { hive, env, record, ran, resume } = await plant();
  const files = createRunFiles(env);
  const digest = files.keep(record as never);
  const all = (path: string, sql: string, ...values: (string | number | null)[]) => {
    const db = new DatabaseSync(path);
    const rows = db.prepare(sql).all(...values) as Record<string, string | number | null>[];
    db.close();
    return rows;
  };
  const result = await resume({ digest }, async (path) => {
    const [row = {}] = all(path, 'SELECT * FROM runs');
    // Its second start begins, and its row says so.
    files.count('run-1', 2);
    await hive.store.write((tx) => tx.runs.put(asleep({ digest, start: 2, status: 'working' })));
    // The row of before, with its mark.
    const set = Object.keys(row).map((column) => `${column} = ?`);
    all(path, `UPDATE runs SET ${set.join(', ')}`, ...Object.values(row));
  });
  expect(result).toMatchObject({ problem: expect.stringContaining('put an earlier row of it back') });
  expect(ran()).toBe(false);
});

describe('an answer', () => {
  const ASKS = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
  const CALL = { ...ASKS, hook_event_name: 'PreToolUse' };
  const call = (use_id: string, event: object = CALL) => ({
    ...event,
    session_id: asleep({}).session_id,
    tool_name: 'Bash',
    tool_input: { command: 'make clean' },
    ...(event === CALL && { tool_use_id: use_id }),
  });
  const ALLOWED = { permissionDecision: 'allow' };

  const callsOf = async (hive: OpenedHive): Promise<readonly RunCall[]> =>
    (await hive.store.read((tx) => tx.runs.get('run-1')))?.calls ?? [];

  async function working() {
    const hive = await openTestHive();
    await openDesk(hive);
    const put = (differing: Partial<Run>): Promise<void> =>
      hive.store.write((tx) =>
        tx.runs.put(asleep({ status: 'working', patience_ms: 100, heard: 0, ...differing })),
      );
    await put({});
    const lines: object[] = [];
    /** Adds the client's record of a call to its transcript. */
    const write = (content: object): void => void lines.push({ message: { id: 'm', content: [content] } });
    const as = (start: number) => ({
      env: { HIVE_RUN: `run-1:${start}` },
      surroundings: { readTail: () => lines.map((line) => JSON.stringify(line)).join('\n') },
    });
    return { hive, put, as, write };
  }

  /** One call was allowed, and has run. */
  async function allowedOnce() {
    const world = await working();
    const { hive, put, as, write } = world;
    await put({ patience_ms: 60_000 });
    const { prompts, printed } = await fireDialog(hive, call('toolu_1'), as(1));
    const ask_id = prompts[0]?.ask_id ?? '';
    await answerDialog(hive, ask_id, 'Allow');
    expect(said(await printed)?.hookSpecificOutput).toMatchObject(ALLOWED);
    write({ type: 'tool_use', id: 'toolu_1' });
    write({ type: 'tool_result', tool_use_id: 'toolu_1' });
    const forged = (call_id: string): RunCall => ({
      ...{ call_id, ask_id, start: 1, deferred: true, given: false },
    });
    return { ...world, ask_id, forged };
  }

  test.each([
    ['make clean', []],
    ['make all', [expect.stringMatching(/You were asked: Run make clean\? .*: Run make all\?$/)]],
  ])(
    'carries the call that was displayed, and its human is told if another one has run: %s',
    async (command, told) => {
      const { hive, put, as } = await working();
      await put({ patience_ms: 60_000 });
      const { prompts, printed } = await fireDialog(hive, call('toolu_1'), as(1));
      await answerDialog(hive, prompts[0]?.ask_id ?? '', 'Allow');
      const updatedInput = { command: 'make clean' };
      expect(said(await printed)?.hookSpecificOutput).toMatchObject({ ...ALLOWED, updatedInput });
      const after = { ...call('toolu_1'), hook_event_name: 'PostToolUse', tool_input: { command } };
      await fire(hive, after, as(1));
      expect(await noticesOf(hive)).toEqual(told);
    },
  );

  test.each(['toolu_1', 'toolu_2'])(
    'that was given to one call is not given to another one by a row that says it is for %s',
    async (call_id) => {
      const { hive, put, as, ask_id, forged } = await allowedOnce();
      await put({ calls: [forged(call_id)] });
      const again = await fireDialog(hive, call('toolu_2'), as(1));
      expect(again.prompts.map((prompt) => prompt.ask_id)).not.toContain(ask_id);
      expect(said(await again.printed)?.hookSpecificOutput).not.toMatchObject(ALLOWED);
    },
  );

  test.each(['toolu_1', 'toolu_2'])(
    'is not given to a request without an id either, although a row says that it is for %s',
    async (call_id) => {
      const { hive, put, as, write, forged } = await allowedOnce();
      await put({ calls: [forged(call_id)] });
      write({ type: 'tool_use', id: 'toolu_2' });
      const { answer } = await fireDialog(hive, call('', ASKS), as(1));
      expect(said(await answer('Deny'))?.hookSpecificOutput).toMatchObject({
        decision: { behavior: 'deny' },
      });
    },
  );

  test('is given to the request for the same call, as the transcript shows it', async () => {
    const { hive, as, write } = await working();
    const { prompts, printed } = await fireDialog(hive, call('toolu_1'), as(1));
    await printed;
    write({ type: 'tool_use', id: 'toolu_1' });
    await answerDialog(hive, prompts[0]?.ask_id ?? '', 'Allow');
    const asked = await fire(hive, call('', ASKS), as(1));
    expect(said(asked)?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'allow' } });
  });

  test('to one of two identical calls of a step is not given to both, although a row says that it was given to none', async () => {
    const { hive, put, as, write } = await working();
    const ids = ['toolu_1', 'toolu_2'];
    for (const id of ids) write({ type: 'tool_use', id, name: 'Bash', input: { command: 'make clean' } });
    const asked = [
      await fireDialog(hive, call('toolu_1'), as(1)),
      await fireDialog(hive, call('toolu_2'), as(1)),
    ];
    const [first = '', second = ''] = asked.map(({ prompts }) => prompts.at(-1)?.ask_id ?? '');
    expect(first).not.toBe(second);
    await answerDialog(hive, first, 'Allow');
    await put({ calls: (await callsOf(hive)).map((one) => ({ ...one, given: false })) });
    for (const _ of ids) {
      const { prompts, printed } = await fireDialog(hive, call('', ASKS), as(1));
      const again = prompts.filter(({ ask_id }) => ask_id !== first && ask_id !== second).at(-1);
      await answerDialog(hive, again?.ask_id ?? '', 'Deny');
      expect(said(await printed)?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'deny' } });
    }
  });

  test('that an agent did not receive before it ended is asked for again, and the human reads why', async () => {
    const { hive, put, as } = await working();
    const first = await fireDialog(hive, call('toolu_1'), as(1));
    await first.printed;
    const [{ ask_id = '' } = {}] = first.prompts;
    const calls = await callsOf(hive);
    expect(calls).toMatchObject([{ call_id: 'toolu_1', ask_id, start: 1 }]);
    // Still unanswered, it is withdrawn when the next agent makes the call again.
    await put({ calls, start: 2, patience_ms: 100 });
    const second = await fireDialog(hive, call('toolu_2'), as(2));
    await second.printed;
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', cancel_reason: 'replaced' });
    expect(second.prompts[0]?.context).not.toContain('You answered this before');
    await answerDialog(hive, second.prompts[0]?.ask_id ?? '', 'Allow');
    await put({ calls: await callsOf(hive), start: 3, patience_ms: 60_000 });
    const third = await fireDialog(hive, call('toolu_3'), as(3));
    expect(third.prompts[0]?.context).toContain('You answered this before');
    expect(said(await third.answer('Allow'))?.hookSpecificOutput).toMatchObject(ALLOWED);
  });
});
