/** Runs: the command line, what needs the human, what the end of an agent means, and the human's files. */
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRequest } from '../../src/domain/prompts.ts';
import { type Run, type RunCall, readStart, writeStart } from '../../src/domain/runs.ts';
import { createRunFiles, environmentToKeep } from '../../src/extensions/runs/files.ts';
import { waitsForIt } from '../../src/extensions/runs/questions.ts';
import {
  agentEnded,
  allowedBy,
  argumentsOf,
  askingOptions,
  blockingAsk,
  isOnlyCall,
  MOST_CRASHES,
  mayGoOn,
  needsHuman,
  nextStart,
  readCommand,
} from '../../src/extensions/runs/run.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { tempFolder } from '../support/temp.ts';

const NOW = '2026-11-22T12:00:00.000Z';
const KEEPER = { machine: 'here', pid: process.pid, started: 'then' };
const CALL: RunCall = { call_id: 'toolu_1', ask_id: 'ask-1', start: 1, deferred: true, given: false };

const run = (differing: Partial<Run> = {}): Run =>
  sleepingRun({ session_id: 'session-1', status: 'working', keeper: KEEPER, ...differing });

describe('the command line of a run', () => {
  test('is split into what each start needs', () => {
    const command = readCommand(['claude', '--model', 'opus', '-p', 'do it', '--verbose']);
    expect(command).toEqual({
      program: 'claude',
      prompt: 'do it',
      options: ['--model', 'opus', '--verbose'],
    });
    const first = run({ heard: 0 });
    expect(argumentsOf(command, first)).toEqual([
      ...['-p', 'do it', '--session-id', 'session-1', '--model', 'opus', '--verbose'],
    ]);
    const resumed = ['--resume', 'session-1', '--model', 'opus', '--verbose'];
    expect(argumentsOf(command, run({ start: 2, calls: [CALL] }))).toEqual(['-p', ...resumed]);
    expect(argumentsOf(command, run({ start: 2 }))).toEqual([
      '-p',
      expect.stringContaining('Continue'),
      ...resumed,
    ]);
  });

  test.each([
    [['gemini', '-p', 'x'], /starts Claude Code and Codex/],
    [['codex', 'do it'], /right after exec/],
    [['codex', 'exec', '--json', 'do it'], /right after exec/],
    [['codex', 'exec', 'resume', '--last'], /leave resume out/],
    [['codex', 'exec', 'do it', '--ephemeral'], /leave --ephemeral out/],
    [['claude', 'do it'], /right after -p/],
    [['claude', '-p', '--verbose', 'do it'], /right after -p/],
    [['claude', '-p', 'do it', '--resume', 'x'], /leave --resume out/],
    [['claude', '-p', 'do it', '--session-id=x'], /leave --session-id=x out/],
    [[], /starts Claude Code and Codex/],
  ])('%j is refused', (words, sentence) => {
    expect(() => readCommand(words)).toThrow(sentence);
  });
});

describe('the command line of a run of Codex', () => {
  const command = readCommand(['/opt/bin/codex', 'exec', 'do it', '-s', 'read-only']);

  test('keeps its options before the prompt, and before resume', () => {
    expect(argumentsOf(command, run({ heard: 0 }))).toEqual(['exec', '-s', 'read-only', '--', 'do it']);
    const [, , , resume, session, prompt] = argumentsOf(command, run({ start: 2 }));
    expect([resume, session, prompt]).toEqual(['resume', 'session-1', expect.stringContaining('Continue')]);
  });

  test('says which question was answered', () => {
    const left = { ...CALL, call_id: null, deferred: false };
    expect(argumentsOf(command, run({ start: 2, calls: [left] })).at(-1)).toContain('while ask-1 was open');
  });
});

describe('plan mode', () => {
  const command = readCommand(['claude', '-p', 'do it', '--permission-mode', 'plan', '--verbose']);
  const called = (mode: string) => run({ start: 2, calls: [{ ...CALL, mode }] });

  test('ends for later starts when the plan is approved', () => {
    expect(argumentsOf(command, called('plan'))).toContain('plan');
    expect(argumentsOf(command, called('default'))).toEqual(['-p', '--resume', 'session-1', '--verbose']);
    const inline = readCommand(['claude', '-p', 'do it', '--permission-mode=plan']);
    expect(argumentsOf(inline, called('default'))).toEqual(['-p', '--resume', 'session-1']);
    const edits = readCommand(['claude', '-p', 'do it', '--permission-mode', 'acceptEdits']);
    expect(argumentsOf(edits, called('default'))).toContain('acceptEdits');
  });

  test('is left to the client, but what follows it needs the human', () => {
    const tool = { name: 'Bash', input: {}, use_id: 'u', response: null, own: null };
    const allowed = allowedBy(command.options);
    expect(needsHuman(tool, allowed, 'plan')).toBe(false);
    expect(needsHuman(tool, allowed, 'default')).toBe(true);
  });
});

describe('a run asks', () => {
  const serve = ['node', 'hive', 'mcp', '--deny'];

  test('with a tool that denies, unless its human chose another', () => {
    const added = askingOptions(readCommand(['claude', '-p', 'x']), serve);
    expect(added.slice(-2)).toEqual(['--permission-prompt-tool', 'mcp__hive-run__deny']);
    expect(JSON.parse(added[1] ?? '')).toEqual({
      mcpServers: { 'hive-run': { type: 'stdio', command: 'node', args: ['hive', 'mcp', '--deny'] } },
    });
    for (const own of [['--permission-prompt-tool', 'mcp__x__y'], ['--permission-prompts=none']])
      expect(askingOptions(readCommand(['claude', '-p', 'x', ...own]), serve)).toEqual([]);
    expect(askingOptions(readCommand(['codex', 'exec', 'x']), serve)).toEqual([]);
  });

  const ask = (input: unknown, own: string | null = 'hivemind_ask') =>
    blockingAsk({ name: 'x', input, use_id: 'u', response: null, own });

  test('before its tool does, if the call would wait long enough', () => {
    expect(ask({ question: 'Red?', options: ['yes', { label: 'no' }], to: null })).toEqual({
      request: { question: 'Red?', options: ['yes', { label: 'no' }] },
      wait_ms: 300_000,
    });
    const short = ask({ question: 'Red?', timeout_ms: 5_000 });
    expect(short).toEqual({ request: { question: 'Red?' }, wait_ms: 5_000 });
    expect(ask({ question: 'Red?', wait_ms: 90_000, timeout_ms: 5_000 }, 'hivemind_ask_async')).toEqual({
      request: { question: 'Red?', timeout_ms: 5_000 },
      wait_ms: 90_000,
    });
    expect(ask({ question: 'Red?' }, 'hivemind_ask_async')).toMatchObject({ wait_ms: 0 });
    const patient = run({ patience_ms: 60_000 });
    const waits = (wait_ms: number): boolean =>
      waitsForIt({ request: checkRequest({ question: 'Red?' }), wait_ms }, patient);
    expect([waits(59_999), waits(60_000)]).toEqual([false, true]);
    expect(ask({ question: 'Red?', hasOwnProperty: 'question' })).toBeNull();
  });

  test.each([
    [{ question: 7 }],
    [{ questions: 'Red?' }],
    [{ question: 'Red?', options: 'yes' }],
    [{ question: 'Red?', kind: 'order' }],
    ['Red?'],
    [null],
  ])('and leaves to the tool a call that only the tool can read or refuse: %j', (input) => {
    expect(ask(input)).toBeNull();
    expect(ask({ question: 'Red?' }, null)).toBeNull();
  });
});

const call = (ask_id: string, call_id: string | null = 'toolu'): RunCall => ({ ...CALL, ask_id, call_id });

test.each([
  ['when its call is answered', [call('a')], [], true],
  ['not while its call waits', [call('a')], ['a'], false],
  ['not while one of two questions of a call waits', [call('a'), call('b')], ['b'], false],
  ['when one of the questions that it left open is settled', [call('a', null), call('b', null)], ['b'], true],
  ['not while all of them are open', [call('a', null), call('b', null)], ['a', 'b'], false],
  ['when nothing waits, because its agent died', [], [], true],
])('a sleeping run goes on: %s', (_title, calls, pending: string[], goes) => {
  expect(mayGoOn({ calls }, (ask_id) => pending.includes(ask_id))).toBe(goes);
});

describe('a call needs the human', () => {
  const bash = (command: string) => ({
    name: 'Bash',
    input: { command },
    use_id: 'u',
    response: null,
    own: null,
  });
  const tool = (name: string, own: string | null = null) => ({ ...bash('x'), name, own });

  test('unless it only reads, is ours, or the command line allows it', () => {
    const allowed = allowedBy([
      '--allowedTools',
      'Edit,Bash(git log:*)',
      'mcp__github',
      '--verbose',
      'Write',
    ]);
    expect(needsHuman(tool('Read'), [])).toBe(false);
    expect(needsHuman(tool('mcp__hive__hivemind_poll', 'hivemind_poll'), [])).toBe(false);
    expect(needsHuman(tool('Edit'), allowed)).toBe(false);
    expect(needsHuman(tool('mcp__github__create'), allowed)).toBe(false);
    expect(needsHuman(bash('git log -3'), allowed)).toBe(false);
    expect(needsHuman(tool('Write'), allowed)).toBe(true);
    expect(needsHuman(tool('mcp__githubby__create'), allowed)).toBe(true);
    expect(needsHuman(bash('git logger'), allowed)).toBe(true);
    expect(needsHuman(bash('git log; rm -rf .'), allowed)).toBe(true);
    expect(needsHuman(tool('Bash'), [])).toBe(true);
  });

  test('and in a mode in which the client asks nobody, none does', () => {
    expect(needsHuman(tool('Bash'), allowedBy(['--permission-mode=bypassPermissions']))).toBe(false);
    expect(needsHuman(tool('Bash'), allowedBy(['--dangerously-skip-permissions']))).toBe(false);
    expect(needsHuman(tool('Bash'), allowedBy(['--permission-mode', 'acceptEdits']))).toBe(true);
    expect(needsHuman(tool('Edit'), allowedBy(['--permission-mode', 'acceptEdits']))).toBe(false);
    expect(needsHuman(tool('Edit'), allowedBy(['--permission-mode', 'default']))).toBe(true);
  });
});

describe('an agent that is gone', () => {
  test('sleeps if it deferred a call, and is over if it did not', () => {
    expect(agentEnded(run({ calls: [CALL] }), 0, NOW)).toMatchObject({ status: 'sleeping', calls: [CALL] });
    expect(agentEnded(run(), 0, NOW)).toMatchObject({ status: 'ended', exit_code: 0 });
    expect(agentEnded(run(), 1, NOW)).toMatchObject({ status: 'ended', exit_code: 1 });
  });

  test('sleeps if it left a question open', () => {
    const left = { ...CALL, call_id: null, deferred: false };
    expect(agentEnded(run({ calls: [left] }), 0, NOW)).toMatchObject({ status: 'sleeping', exit_code: null });
  });

  test('without having read what it was started for is started again, but not for ever', () => {
    const left = { ...CALL, call_id: null, deferred: false };
    let now = run({ calls: [left] });
    let starts = 0;
    for (now = agentEnded(now, 0, NOW); now.status === 'sleeping' && starts < 100; starts += 1)
      now = agentEnded(nextStart(now, KEEPER, NOW), 0, NOW);
    expect(starts).toBe(MOST_CRASHES + 1);
    expect(now).toMatchObject({ status: 'ended', problem: expect.stringContaining('11 times') });
  });

  test('and that died while its own ask waited is continued when that is answered', () => {
    const asked = { ...CALL, deferred: false, by_tool: true };
    expect(agentEnded(run({ calls: [asked] }), null, NOW)).toMatchObject({
      status: 'sleeping',
      calls: [{ call_id: null, ask_id: 'ask-1' }],
    });
  });

  test.each([null, 137, 143])('and that died (%s) is started again, but not for ever', (code) => {
    expect(agentEnded(run(), code, NOW)).toMatchObject({ status: 'sleeping', crashes: 1, exit_code: null });
    expect(agentEnded(run({ crashes: MOST_CRASHES }), code, NOW)).toMatchObject({
      status: 'ended',
      problem: expect.stringContaining('died'),
    });
  });

  test('after it had said that it is done is over, whoever saw its end', () => {
    expect(agentEnded(run({ exit_code: 0 }), null, NOW)).toMatchObject({ status: 'ended', exit_code: 0 });
  });

  test('and that could not repeat its call is told to continue', () => {
    const resumed = run({ start: 2, heard: 1, calls: [CALL] });
    expect(agentEnded(resumed, 1, NOW)).toMatchObject({
      status: 'sleeping',
      crashes: 1,
      calls: [{ ...CALL, deferred: false }],
    });
  });

  test('and that did not find its conversation is started again', () => {
    const resumed = run({ start: 2, heard: 1 });
    expect(agentEnded(resumed, 1, NOW)).toMatchObject({ status: 'sleeping', crashes: 1 });
    expect(agentEnded(run({ start: 2, heard: 2 }), 1, NOW)).toMatchObject({ status: 'ended', exit_code: 1 });
  });

  test('of an earlier start does not belong to the run', () => {
    const next = nextStart(run({ status: 'sleeping', exit_code: 3 }), KEEPER, NOW);
    expect(next).toMatchObject({ status: 'working', start: 2, exit_code: null });
    expect(readStart(writeStart(next))).toEqual({ run_id: 'run-1', start: 2 });
    expect(readStart('run-1')).toBeNull();
    expect(readStart(undefined)).toBeNull();
  });
});

const line = (id: string, call: string, stop_reason: string | null = 'tool_use'): string =>
  JSON.stringify({ message: { id, stop_reason, content: [{ type: 'tool_use', id: call }] } });

test('the only call of a step is known from a transcript that shows the whole step', () => {
  expect(isOnlyCall(`cut off"tool_use"\n${line('m1', 'a')}\n${line('m2', 'b')}\n`, 'b')).toBe(true);
  expect(isOnlyCall(`${line('m1', 'a')}\n${line('m1', 'b')}`, 'a')).toBe(false);
  expect(isOnlyCall(line('m1', 'a', null), 'a')).toBe(false);
  expect(isOnlyCall(line('m1', 'a'), 'b')).toBe(false);
  expect(isOnlyCall(null, 'a')).toBe(false);
});

describe('what a run starts', () => {
  const record = {
    ...readCommand(['claude', '-p', 'go']),
    run_id: 'run-1',
    dir: '/',
    ...environmentToKeep({ HOME: '/home/ada', API_TOKEN: 's3cret', GH_TOKEN: 'kept' }, ['GH_TOKEN']),
  };

  test('is kept for its owner alone, without the secrets that were not named', () => {
    expect(record.env).toEqual({ HOME: '/home/ada', GH_TOKEN: 'kept' });
    expect(record.left_out).toEqual(['API_TOKEN']);
    const files = createRunFiles({ HOME: tempFolder() });
    const digest = files.keep(record);
    const file = files.output('run-1').replace(/out$/, 'json');
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(files.read('run-1', digest)).toEqual(record);
    files.forget('run-1');
    expect(() => files.read('run-1', digest)).toThrow(/is missing/);
  });

  test('is not trusted once it was changed, or if others could write it', () => {
    const state = tempFolder();
    const files = createRunFiles({ HOME: tempFolder(), XDG_STATE_HOME: state });
    const digest = files.keep(record);
    const file = join(state, 'hive/runs/run-1.json');
    expect(() => files.read('run-1', 'another digest')).toThrow(/was changed/);
    chmodSync(file, 0o640);
    expect(() => files.read('run-1', digest)).toThrow(/open to other users/);
    chmodSync(file, 0o600);
    chmodSync(dirname(file), 0o770);
    expect(() => files.read('run-1', digest)).toThrow(/can be written by other users/);
    chmodSync(dirname(file), 0o700);
    writeFileSync(file, JSON.stringify({ ...record, program: 'evil' }));
    expect(() => files.read('run-1', digest)).toThrow(/was changed/);
    expect(() => files.output('../x')).toThrow(/is not the id of a run/);
  });

  test('is not started in a directory that is missing, and the error says that', async () => {
    const state = tempFolder();
    const files = createRunFiles({ HOME: tempFolder(), XDG_STATE_HOME: state });
    files.keep(record);
    const started = (program: string, dir: string) => files.start({ ...record, program, dir }, [], {});
    const missing = join(state, 'gone');
    await expect(started(process.execPath, missing)).rejects.toThrow(`there is no directory ${missing}`);
    await expect(started(join(missing, 'claude'), state)).rejects.toThrow('ENOENT');
  });
});
