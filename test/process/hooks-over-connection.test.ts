/**
 * Hooks over the connection: the client calls a tool that no model sees, and nothing else on the connection delays it.
 *
 * @module-tag cheap-hooks
 * @module-tag sqlite
 * @module-tag mcp
 * @module-tag hook
 */
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { agentAuthor } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const SESSION = '5e551000-0000-4000-8000-00000000000a';

interface Output {
  content: { type: string; text: string }[];
  isError?: boolean;
}

/** What the client would read for an event of Claude Code, as it fills in the fields: all of them are text. */
async function fire(
  agent: McpCaller,
  event: Record<string, unknown>,
  meta?: Record<string, unknown>,
): Promise<Output> {
  const fields = { client: 'claude-code', protocol: '1', session_id: SESSION, cwd: '/', prompt_id: 'p-1' };
  return (await agent.client.callTool({
    name: 'hook_event',
    arguments: { ...fields, agent_id: '', transcript_path: '', ...event },
    ...(meta === undefined ? {} : { _meta: meta }),
  })) as Output;
}

const said = ({ content }: Output): Record<string, unknown> => JSON.parse(content[0]?.text ?? '');

const bash = (id: string): Record<string, unknown> => ({
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: '{"command":"make"}',
  tool_use_id: id,
});

async function claude(env: Record<string, string> = {}): Promise<{ hive: OpenedHive; agent: McpCaller }> {
  const store = tempStore();
  const hive = await openTestHive(store);
  const agent = await connectMcp({
    store,
    client: 'claude-code',
    env: { CLAUDE_CODE_ENTRYPOINT: 'cli', ...env },
  });
  return { hive, agent };
}

describe('the tool of the hooks', () => {
  test('is in no list, and does nothing for a model', async () => {
    const { hive, agent } = await claude();
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('hook_event');
    const called = await fire(agent, bash('t-1'), { 'claudecode/toolUseId': 'toolu_1' });
    expect(called).toMatchObject({ isError: true });
    expect(called.content[0]?.text).toMatch(/^not_allowed: .*not for you/);
    expect(await hive.sessions.find(SESSION)).toBeUndefined();
    // A hook's call contains at most where progress goes.
    expect(said(await fire(agent, bash('t-1'), { progressToken: 7 }))).toEqual({});
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

test("the human is notified once that an agent's server died, by the next hook of its client", async () => {
  const { hive, agent } = await claude();
  await fire(agent, { hook_event_name: 'UserPromptSubmit', prompt: 'go' });
  const { pid } = spawnSync('true');
  const dead = { connection_id: 'connection-dead', machine: hostname(), pid, parent_pid: process.pid };
  await hive.store.write(async (tx) => {
    await tx.sessions.openConnection({ ...dead, session_id: SESSION, opened_at: tx.now });
  });
  const lost = async (): Promise<unknown[]> =>
    (await hive.notices.list(10)).filter(({ data }) => data['notice'] === 'server_lost');
  await fire(agent, bash('t-1'));
  expect(await lost()).toEqual([]);
  await fire(agent, { hook_event_name: 'Stop' });
  await fire(agent, { hook_event_name: 'Stop' });
  expect(await lost()).toMatchObject([{ session_id: SESSION, data: { severity: 'warning' } }]);
  expect(await hive.store.read((tx) => tx.sessions.connection('connection-dead'))).toBeUndefined();
});
