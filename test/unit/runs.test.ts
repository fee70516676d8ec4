/** Runs: the command line, what needs the human, what the end of an agent means, and the files of the human's. */
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  agentEnded,
  allowedBy,
  argumentsOf,
  isOnlyCall,
  MOST_CRASHES,
  needsHuman,
  nextStart,
  type Run,
  type RunCall,
  readCommand,
  readStart,
  writeStart,
} from '../../src/domain/runs.ts';
import { createRunFiles, environmentToKeep } from '../../src/infrastructure/platform/runs.ts';
import { tempFolder } from '../support/temp.ts';

const NOW = '2026-11-22T12:00:00.000Z';
const KEEPER = { machine: 'here', pid: 1, started: 'then' };
const CALL: RunCall = { call_id: 'toolu_1', ask_id: 'ask-1', start: 1, deferred: true, given: false };

const run = (differing: Partial<Run> = {}): Run => ({
  run_id: 'run-1',
  session_id: 'session-1',
  status: 'working',
  seat: 'ada@here',
  machine: 'here',
  digest: 'd',
  patience_ms: 1_000,
  start: 1,
  heard: 1,
  crashes: 0,
  keeper: KEEPER,
  agent: null,
  calls: [],
  exit_code: null,
  problem: null,
  created_at: NOW,
  changed_at: NOW,
  ...differing,
});

describe('the command line of a run', () => {
  test('is taken apart into what each start needs', () => {
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
    [['codex', 'exec', 'x'], /starts Claude Code only/],
    [['claude', 'do it'], /right after -p/],
    [['claude', '-p', '--verbose', 'do it'], /right after -p/],
    [['claude', '-p', 'do it', '--resume', 'x'], /leave --resume out/],
    [['claude', '-p', 'do it', '--session-id=x'], /leave --session-id=x out/],
    [[], /starts Claude Code only/],
  ])('%j is refused', (words, sentence) => {
    expect(() => readCommand(words)).toThrow(sentence);
  });
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

  test.each([null, 137, 143])('and died (%s) goes on, but not for ever', (code) => {
    expect(agentEnded(run(), code, NOW)).toMatchObject({ status: 'sleeping', crashes: 1, exit_code: null });
    expect(agentEnded(run({ crashes: MOST_CRASHES }), code, NOW)).toMatchObject({
      status: 'ended',
      problem: expect.stringContaining('died'),
    });
  });

  test('after it had said that it is done, is over, whoever saw its end', () => {
    expect(agentEnded(run({ exit_code: 0 }), null, NOW)).toMatchObject({ status: 'ended', exit_code: 0 });
  });

  test('and could not make its call again is told to go on', () => {
    const resumed = run({ start: 2, heard: 1, calls: [CALL] });
    expect(agentEnded(resumed, 1, NOW)).toMatchObject({
      status: 'sleeping',
      crashes: 1,
      calls: [{ ...CALL, deferred: false }],
    });
  });

  test('and did not find its conversation is started again', () => {
    const resumed = run({ start: 2, heard: 1 });
    expect(agentEnded(resumed, 1, NOW)).toMatchObject({ status: 'sleeping', crashes: 1 });
    expect(agentEnded(run({ start: 2, heard: 2 }), 1, NOW)).toMatchObject({ status: 'ended', exit_code: 1 });
  });

  test('of an earlier start is none of the run', () => {
    const next = nextStart(run({ status: 'sleeping', exit_code: 3 }), KEEPER, NOW);
    expect(next).toMatchObject({ status: 'working', start: 2, exit_code: null });
    expect(readStart(writeStart(next))).toEqual({ run_id: 'run-1', start: 2 });
    expect(readStart('run-1')).toBeNull();
    expect(readStart(undefined)).toBeNull();
  });
});

describe('the only call of a step', () => {
  const line = (id: string, call: string, stop_reason: string | null = 'tool_use'): string =>
    JSON.stringify({ message: { id, stop_reason, content: [{ type: 'tool_use', id: call }] } });

  test('is known from a transcript that shows the whole step', () => {
    expect(isOnlyCall(`cut off"tool_use"\n${line('m1', 'a')}\n${line('m2', 'b')}\n`, 'b')).toBe(true);
    expect(isOnlyCall(`${line('m1', 'a')}\n${line('m1', 'b')}`, 'a')).toBe(false);
    expect(isOnlyCall(line('m1', 'a', null), 'a')).toBe(false);
    expect(isOnlyCall(line('m1', 'a'), 'b')).toBe(false);
    expect(isOnlyCall(null, 'a')).toBe(false);
  });
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

  test('is not believed once it is changed, or others could write it', () => {
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
    expect(() => files.output('../x')).toThrow(/is no id of a run/);
  });
});
