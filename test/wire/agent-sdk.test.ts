/**
 * The callbacks of a program on the Agent SDK, called as the SDK calls them.
 *
 * @module-tag hook
 */
import { hostname } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import {
  type AgentHive,
  hiveServer,
  onInterrupt,
  openAgentHive,
} from '../../src/extensions/runs/agent-sdk/agent-hive.ts';
import { hiveCanUseTool, hiveHooks } from '../../src/extensions/runs/agent-sdk/hooks.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openDesk } from '../support/dialogs.ts';
import { HUMAN, recordingLog, untilPending } from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

async function open(env: Record<string, string> = {}): Promise<AgentHive> {
  return closedAtEnd(
    await openAgentHive({
      store: tempStore(),
      env: { HOME: tempFolder(), ...env },
      log: recordingLog(),
    }),
  );
}

const { signal } = new AbortController();

/** Fires events of one session into the hooks of its query. */
function sayer(hooks: ReturnType<typeof hiveHooks>, session_id: string) {
  return (hook_event_name: string, fields: object = {}) =>
    hooks[hook_event_name]?.[0]?.hooks[0]?.({ hook_event_name, session_id, cwd: '/', ...fields }, undefined, {
      signal,
    });
}

const begin = { prompt_id: 'p1', prompt: 'go' };

test('the server of an agent (hiveServer) uses the store that its program has opened', async () => {
  const hive = await open();
  expect(hiveServer(hive).env).toEqual({ HIVE_STORE: hive.store });
  const store = tempStore();
  const other = closedAtEnd(await openAgentHive({ env: { HOME: tempFolder(), HIVE_STORE: store } }));
  expect(hiveServer(other, { A: '1' }).env).toEqual({ HIVE_STORE: store, A: '1' });
});

describe('two queries of one program (onInterrupt)', () => {
  test('each stops only for an interrupt of its own session', async () => {
    const hive = await open();
    const stopped: string[] = [];
    const query = (name: string) => {
      const say = sayer(hiveHooks(hive), name);
      onInterrupt(hive, { interrupt: async () => stopped.push(name) });
      return say;
    };
    await query('aaaaa')('UserPromptSubmit', begin);
    await query('bbbbb')('UserPromptSubmit', begin);
    const outcome = await hive.hive.interrupts.interrupt({ session: 'bbbbb', actor: HUMAN });
    expect(outcome).toMatchObject({ outcome: 'aborted', by: 'ada' });
    expect(stopped).toEqual(['bbbbb']);
    expect(await hive.hive.turns.current('aaaaa')).toMatchObject({ state: 'in_progress' });
  });

  test('that share their hooks stop with the next hook, each for its own session', async () => {
    const hive = await open();
    const stopped: string[] = [];
    const hooks = hiveHooks(hive);
    for (const name of ['aaaaa', 'bbbbb']) onInterrupt(hive, { interrupt: async () => stopped.push(name) });
    const [a, b] = [sayer(hooks, 'aaaaa'), sayer(hooks, 'bbbbb')];
    await a('UserPromptSubmit', begin);
    await b('UserPromptSubmit', begin);
    const outcome = hive.hive.interrupts.interrupt({ session: 'bbbbb', actor: HUMAN });
    const { turn_id = '' } = (await hive.hive.turns.current('bbbbb')) ?? {};
    await eventually(async () => (await hive.hive.interrupts.stopRequestFor(turn_id)) !== null);
    const call = { prompt_id: 'p1', tool_name: 'Bash', tool_use_id: 'u1', tool_input: {} };
    expect(await a('PreToolUse', call)).toEqual({});
    expect(await b('PreToolUse', { ...call, tool_use_id: 'u2' })).toMatchObject({ continue: false });
    expect(await outcome).toMatchObject({ outcome: 'aborted' });
    expect(stopped).toEqual([]);
  });

  test('a turn that has ended by itself is no longer waited for', async () => {
    const hive = await open();
    const say = sayer(hiveHooks(hive), 'aaaaa');
    const until = vi.spyOn(hive.hive.interrupts, 'untilInterrupted');
    onInterrupt(hive, { interrupt: async () => undefined });
    await say('UserPromptSubmit', begin);
    await eventually(() => until.mock.calls.length === 1);
    await say('Stop', { prompt_id: 'p1' });
    expect(await until.mock.results[0]?.value).toBeNull();
  });
});

test('what a hook says reaches the agent although its receipt could not be stored', async () => {
  const hive = await open();
  const say = sayer(hiveHooks(hive), 'aaaaa');
  await say('UserPromptSubmit', begin);
  const session = await hive.hive.sessions.resolve('aaaaa');
  const { prompt } = await hive.hive.prompts.ask({ question: 'Red or blue?' }, session);
  await hive.hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'blue', actor: HUMAN });
  vi.spyOn(hive.hive.hooks, 'printed').mockRejectedValue(new Error('The store is locked.'));
  const said = await say('PostToolUse', { prompt_id: 'p1', tool_name: 'Bash', tool_use_id: 'u1' });
  expect(JSON.stringify(said)).toContain('blue');
});

test('a permission that cannot be asked at a desk is asked elsewhere, or denied', async () => {
  const hive = await open();
  await sayer(hiveHooks(hive), 'aaaaa')('UserPromptSubmit', begin);
  vi.spyOn(hive.hive.hooks, 'handle').mockRejectedValue(new Error('The store is gone.'));
  const call = ['Bash', { command: 'ls' }, { signal }] as const;
  const next = hiveCanUseTool(hive, async () => ({ behavior: 'allow' }));
  expect(await next(...call)).toEqual({ behavior: 'allow' });
  expect(await hiveCanUseTool(hive)(...call)).toMatchObject({ behavior: 'deny' });
});

test('a permission is shown with the directory in which its query works, which is not that of the program', async () => {
  const hive = await open();
  await openDesk(hive.hive as OpenedHive);
  const say = sayer(hiveHooks(hive), 'aaaaa');
  await say('UserPromptSubmit', { ...begin, cwd: '/elsewhere' });
  const call = { tool_name: 'Bash', tool_use_id: 'u1', tool_input: { command: 'make' } };
  await say('PreToolUse', { ...call, prompt_id: 'p1', cwd: '/elsewhere' });
  // Another query of the program, which works in another directory.
  await say('PreToolUse', { ...call, session_id: 'bbbbb', tool_use_id: 'u2', cwd: '/third' });
  const stop = new AbortController();
  const answer = hiveCanUseTool(hive)('Bash', call.tool_input, { signal: stop.signal, toolUseID: 'u1' });
  expect((await untilPending(hive.hive))[0]?.context).toContain('Directory: /elsewhere');
  stop.abort();
  expect(await answer).toMatchObject({ behavior: 'deny' });
});

test('an agent of a program that another agent started is below that agent, and nobody sits at its terminal', async () => {
  const { ppid } = process;
  const outer = { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' };
  const env = { ...outer, CLAUDE_PID: String(ppid) };
  const hive = await open(env);
  await fire(
    hive.hive as OpenedHive,
    { session_id: 'outer', cwd: '/demo', hook_event_name: 'SessionStart', source: 'startup' },
    { env, surroundings: { machine: hostname(), above: [ppid] } },
  );
  await sayer(hiveHooks(hive), 'inner')('SessionStart', { source: 'startup' });
  expect(await hive.hive.sessions.find('outer')).toMatchObject({ pid: ppid, source: 'main' });
  expect(await hive.hive.sessions.find('inner')).toMatchObject({
    pid: null,
    parent_session_id: 'outer',
    source: 'bg',
  });
});
