/**
 * Hooks over the connection: the client calls a tool that no model sees, and nothing else on the connection delays it.
 *
 * @module-tag cheap-hooks
 * @module-tag mcp
 * @module-tag hook
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HiveEvent } from '../../src/domain/events.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { outputsAge } from '../support/ageing.ts';
import { childEnvironment, outputOf, spawnHive } from '../support/children.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { ask, HUMAN, introduce, newHive, prefer, untilPending } from '../support/hive.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { HEADLESS } from '../support/outreach.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const SESSION = '5e551000-0000-4000-8000-00000000000a';

interface Output {
  content: { type: string; text: string }[];
  isError?: boolean;
}

/** The output that the client would read for an event of Claude Code, as it fills in the fields: all of them are text. */
async function fire(
  agent: McpCaller,
  event: Record<string, unknown>,
  { meta, signal }: { meta?: Record<string, unknown>; signal?: AbortSignal } = {},
): Promise<Output> {
  const fields = { client: 'claude-code', protocol: '1', session_id: SESSION, cwd: '/', prompt_id: 'p-1' };
  const call = {
    name: 'hook_event',
    arguments: { ...fields, agent_id: '', transcript_path: '', ...event },
    ...(meta === undefined ? {} : { _meta: meta }),
  };
  return (await agent.client.callTool(call, undefined, signal === undefined ? {} : { signal })) as Output;
}

const said = ({ content }: Output): Record<string, unknown> => JSON.parse(content[0]?.text ?? '');

const TURN = { hook_event_name: 'UserPromptSubmit', prompt: 'go' };
const bash = (id: string): Record<string, unknown> => ({
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: '{"command":"make"}',
  tool_use_id: id,
});

interface Started {
  store: string;
  hive: OpenedHive;
  agent: McpCaller;
}

async function claude(env: Record<string, string> = {}): Promise<Started> {
  const { store, hive } = await newHive();
  return { store, hive, agent: await connect(store, env) };
}

/** A client that survives its server: this process. */
const connect = (store: string, env: Record<string, string> = {}): Promise<McpCaller> =>
  connectMcp({
    store,
    client: 'claude-code',
    env: { CLAUDE_CODE_ENTRYPOINT: 'cli', ...env },
    wrap: (program, args) => ({ program, args: [...args] }),
  });

/** The notices of this kind that the human was shown. */
async function told(hive: OpenedHive, notice: string): Promise<HiveEvent[]> {
  return (await hive.notices.list(10)).filter(({ data }) => data['notice'] === notice);
}

describe('the tool of the hooks', () => {
  test('is in no list, and does nothing for a model', async () => {
    const { hive, agent } = await claude();
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('hook_event');
    const called = await fire(agent, bash('t-1'), { meta: { 'claudecode/toolUseId': 'toolu_1' } });
    expect(called).toMatchObject({ isError: true });
    expect(called.content[0]?.text).toMatch(/^not_allowed: .*not for you/);
    expect(await hive.sessions.find(SESSION)).toBeUndefined();
    // A hook's call contains at most where progress goes.
    expect(said(await fire(agent, bash('t-1'), { meta: { progressToken: 7 } }))).toEqual({});
    expect(await hive.sessions.find(SESSION)).toMatchObject({ client: 'claude-code', source: 'main' });
  });

  test('carries the session, its subagents, and the gate', async () => {
    const { hive, agent } = await claude();
    await fire(agent, { hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    await fire(agent, { hook_event_name: 'SubagentStart', agent_id: 'a1' });
    const { handle } = (await hive.sessions.find(`${SESSION}:a1`)) ?? {};
    const author = agentAuthor(await introduce(hive, 'other-1'), 'mcp');
    await hive.messages.post({ body: `Stop @${handle}`, scope: 'all', author });
    expect(said(await fire(agent, bash('t-1')))).toEqual({});
    expect(said(await fire(agent, { ...bash('t-2'), agent_id: 'a1' }))).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
  });

  test('delivers an answer, before a tool that only reads', async () => {
    const { hive, agent } = await claude();
    await fire(agent, { hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    const { ask_id } = await ask(hive, {}, SESSION);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    const read = { ...bash('t-1'), tool_name: 'Read', tool_input: '{"file_path":"/etc/hostname"}' };
    const { hookSpecificOutput } = said(await fire(agent, read)) as { hookSpecificOutput: object };
    expect(JSON.stringify(hookSpecificOutput)).toContain('blue');
    // It has left the process, so it is not handed over again.
    await eventually(async () => (await hive.store.read((tx) => tx.hookOutputs.of(SESSION))).length === 0);
    expect(said(await fire(agent, { ...read, tool_use_id: 't-2' }))).toEqual({});
  });

  test('is answered while the same connection waits in a poll', async () => {
    const { hive, agent } = await claude();
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Which?', options: ['a', 'b'] });
    const poll = agent.call('hivemind_poll', { ask_id, wait_ms: 25_000 });
    expect(await Promise.all([1, 2, 3].map((n) => fire(agent, bash(`t-${n}`))))).toHaveLength(3);
    await hive.prompts.respond({ ask_id: String(ask_id), decision: 'a', actor: HUMAN });
    expect(await poll).toMatchObject({ decision: 'a' });
  });
});

test('an edit is claimed for the version that the client names when it connects, whatever its transcript says', async () => {
  const { hive, agent } = await claude();
  await openDesk(hive);
  const transcript_path = join(tempFolder(), 'transcript.jsonl');
  writeFileSync(transcript_path, JSON.stringify({ type: 'user', version: '2.1.330' }));
  const file_path = join(tempFolder(), 'made.txt');
  const tool_input = JSON.stringify({ file_path, content: 'one\n' });
  const edit = { hook_event_name: 'PermissionRequest', tool_name: 'Write', tool_input, transcript_path };
  const hook = fire(agent, edit);
  const [{ ask_id, context } = expect.fail()] = await untilPending(hive);
  expect(context).toContain('and this is 1.0.0.');
  await answerDialog(hive, ask_id, 'Deny');
  await hook;
});

describe('a hook over the connection that fails', () => {
  const broken = { ...bash('t-1'), session_id: '' };

  test('lets the tool run', async () => {
    const { agent } = await claude();
    expect(said(await fire(agent, broken))).toEqual({});
  });

  test('denies it if HIVE_GATE_FAIL is closed, and never blocks a Stop', async () => {
    const { agent } = await claude({ HIVE_GATE_FAIL: 'closed' });
    expect(said(await fire(agent, broken))).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
    expect(said(await fire(agent, { hook_event_name: 'Stop', session_id: '' }))).toEqual({});
  });
});

test('the human is told once why hooks over the connection failed, as soon as one works again', async () => {
  const { hive, agent } = await claude();
  for (const id of ['t-1', 't-2']) await fire(agent, { ...bash(id), session_id: '' });
  expect(await told(hive, 'hook_failed')).toEqual([]);
  await fire(agent, TURN);
  await eventually(async () => (await told(hive, 'hook_failed')).length > 0);
  await fire(agent, { ...bash('t-3'), session_id: '' });
  // It works again, and its failure has been reported.
  await fire(agent, { hook_event_name: 'Stop' });
  await fire(agent, { ...bash('t-4'), hook_event_name: 'Unheard', session_id: '' });
  await fire(agent, TURN);
  await eventually(async () => (await told(hive, 'hook_failed')).length > 1);
  const [second, first] = await told(hive, 'hook_failed');
  expect(first).toMatchObject({ session_id: SESSION, data: { severity: 'warning' } });
  expect(first?.data['text']).toContain('The hook event PreToolUse has no session_id.');
  expect(second?.data['text']).toContain('The hook event Unheard has no session_id.');
  expect(second?.data['text']).not.toContain('PreToolUse');
});

describe('a server that died under its client', () => {
  /** The hook that a client starts as a process, although its others go over the connection. */
  async function fireProcess(store: string, event: Record<string, unknown>): Promise<void> {
    const env = { CLAUDE_PID: String(process.pid), CLAUDE_CODE_ENTRYPOINT: 'cli' };
    const child = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(store, env));
    child.process.stdin.end(JSON.stringify({ session_id: SESSION, cwd: '/', ...event }));
    await outputOf(child);
  }

  async function died(): Promise<Started> {
    const started = await claude({ CLAUDE_PID: String(process.pid) });
    await fire(started.agent, TURN);
    await started.agent.crash();
    await expect(fire(started.agent, bash('t-1'))).rejects.toThrow();
    expect(await told(started.hive, 'server_lost')).toEqual([]);
    return started;
  }

  test('is reported once by the next hook that is a process', async () => {
    const { store, hive, agent } = await died();
    await fireProcess(store, { hook_event_name: 'SessionStart', source: 'compact' });
    // It may never come back.
    const text = expect.stringMatching(/ died\. Without it, hooks .* do not run.* start the client again\.$/);
    const lost = { session_id: SESSION, data: { severity: 'warning', pid: agent.pid, text } };
    expect(await told(hive, 'server_lost')).toMatchObject([lost]);
    await fireProcess(store, { hook_event_name: 'SessionEnd', reason: 'other' });
    await connect(store);
    expect(await told(hive, 'server_lost')).toHaveLength(1);
  });

  test('leaves the dialog for which its hook waited to the terminal: an answer would reach nobody', async () => {
    const { hive, agent } = await claude({ CLAUDE_PID: String(process.pid) });
    await openDesk(hive);
    await fire(agent, TURN);
    const { tool_use_id: _, ...call } = bash('t-1');
    const hook = fire(agent, { ...call, hook_event_name: 'PermissionRequest' });
    hook.catch(() => undefined);
    const [{ ask_id } = expect.fail()] = await untilPending(hive);
    await eventually(() => hive.store.read(async (tx) => (await tx.waits.ofHooks()).length > 0));
    await agent.crash();
    await expect(answerDialog(hive, ask_id, 'Allow')).rejects.toThrow(
      / waits in the terminal of .* there\.$/,
    );
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', decision: null });
  });

  test('is reported once by the next connection', async () => {
    const { store, hive, agent } = await died();
    const again = await connect(store);
    const lost = { session_id: SESSION, data: { severity: 'warning', pid: agent.pid } };
    expect(await told(hive, 'server_lost')).toMatchObject([lost]);
    await fire(again, TURN);
    await fireProcess(store, { hook_event_name: 'SessionEnd', reason: 'other' });
    expect(await told(hive, 'server_lost')).toHaveLength(1);
  });
});

describe('a hook whose client takes its call back (Escape)', () => {
  test('withdraws the permission that it asked for; the next one is asked again', async () => {
    const { hive, agent } = await claude();
    await openDesk(hive);
    await fire(agent, TURN);
    const { tool_use_id: _, ...call } = bash('t-1');
    const permission = { ...call, hook_event_name: 'PermissionRequest' };
    const pressed = new AbortController();
    const hook = fire(agent, permission, { signal: pressed.signal });
    const [first = expect.fail()] = await untilPending(hive);
    pressed.abort();
    await expect(hook).rejects.toThrow();
    await eventually(async () => (await hive.prompts.get(first.ask_id)).status === 'cancelled');
    expect(await hive.prompts.get(first.ask_id)).toMatchObject({
      cancel_reason: 'answered_elsewhere',
      by: 'terminal',
      terminal_since: null,
    });
    const again = fire(agent, permission);
    const [second = expect.fail()] = await untilPending(hive);
    await answerDialog(hive, second.ask_id, 'Deny', 'not now');
    expect(JSON.stringify(said(await again))).toContain('ada says: not now');
  });

  test('is no end of its connection: then its dialog may still be in the terminal, and is not called answered', async () => {
    const { hive, agent } = await claude();
    await openDesk(hive);
    await fire(agent, TURN);
    const { tool_use_id: _, ...call } = bash('t-1');
    const hook = fire(agent, { ...call, hook_event_name: 'PermissionRequest' });
    hook.catch(() => undefined);
    const [{ ask_id } = expect.fail()] = await untilPending(hive);
    await agent.close();
    await expect(hook).rejects.toThrow();
    await eventually(async () => (await hive.prompts.get(ask_id)).terminal_since !== null);
    expect(await hive.prompts.get(ask_id)).toMatchObject({
      status: 'pending',
      blocked_since: expect.any(String),
    });
  });

  test('keeps the question for which its Stop waited, and delivers the answer later', async () => {
    const { hive, agent } = await claude(HEADLESS);
    await prefer(hive, { stop_wait: 590 });
    await fire(agent, TURN);
    const { ask_id } = await ask(hive, {}, SESSION);
    const pressed = new AbortController();
    const hook = fire(agent, { hook_event_name: 'Stop' }, { signal: pressed.signal });
    const blocks = async (): Promise<boolean> => (await hive.prompts.get(ask_id)).blocked_since !== null;
    await eventually(blocks);
    pressed.abort();
    await expect(hook).rejects.toThrow();
    await eventually(async () => !(await blocks()));
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    // The call that was taken back may still be ending, and take the answer with it: then it is handed over again.
    await eventually(async () => {
      const next = await fire(agent, { ...TURN, prompt_id: 'p-2' });
      return JSON.stringify(said(next)).includes('blue');
    });
  });

  test('hands over again what its output carried', async () => {
    const { hive, agent } = await claude();
    await fire(agent, TURN);
    const { ask_id } = await ask(hive, {}, SESSION);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    const released = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = hive.store.write(async () => {
      held.resolve();
      await released.promise;
    });
    await held.promise;
    const after = { ...bash('t-1'), hook_event_name: 'PostToolUse', tool_response: '{}' };
    const pressed = new AbortController();
    const hook = fire(agent, after, { signal: pressed.signal });
    pressed.abort();
    await expect(hook).rejects.toThrow();
    // Everything that was sent before this call has been read.
    await agent.client.listTools();
    released.resolve();
    await holding;
    await eventually(async () => (await hive.prompts.get(ask_id)).handed_at !== null);
    // By then it counts as never printed.
    await outputsAge(hive, SESSION);
    expect(JSON.stringify(said(await fire(agent, { ...TURN, prompt_id: 'p-2' })))).toContain('blue');
  });
});
