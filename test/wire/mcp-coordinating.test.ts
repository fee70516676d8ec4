/**
 * A coordinator gets the questions that it may answer, and nothing hides them: its own, permissions, or their size.
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag mcp
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { RESULT_BYTES } from '../../src/adapters/mcp/tool.ts';
import type { UntilOptions } from '../../src/application/feed.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { shell } from '../support/cli.ts';
import { ask, HUMAN, introduction, openTestHive, withoutQuotas } from '../support/hive.ts';
import { connectMcp, type McpOptions } from '../support/mcp-client.ts';
import { connectInProcess } from '../support/mcp-in-process.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

interface Awaited {
  prompts: Record<string, unknown>[];
  timed_out?: boolean;
  waited_ms?: number;
  next: string;
}

async function scene(): Promise<{ hive: OpenedHive; coordinator: Client }> {
  const hive = await openTestHive();
  return { hive, coordinator: await connectInProcess(hive, 'coordinator') };
}

async function awaitAsk(client: Client, args: Record<string, unknown> = { timeout_ms: 0 }): Promise<Awaited> {
  const { structuredContent } = await client.callTool({ name: 'hivemind_await_ask', arguments: args });
  return structuredContent as unknown as Awaited;
}

function leave(client: Client, ask_id: string, answer: Record<string, unknown> = {}) {
  return client.callTool({ name: 'hivemind_respond', arguments: { ask_id, leave: true, ...answer } });
}

function idsOf({ prompts }: Awaited): unknown[] {
  return prompts.map(({ ask_id }) => ask_id);
}

test("its own questions, older and however many, hide nobody else's", async () => {
  const { hive, coordinator } = await scene();
  await withoutQuotas(hive);
  for (let n = 0; n < 120; n += 1) await ask(hive, { question: `mine ${n}` }, 'agent-1');
  expect(idsOf(await awaitAsk(coordinator))).toEqual([]);
  const { ask_id } = await ask(hive, { question: 'Go on?' }, 'agent-2');
  expect(idsOf(await awaitAsk(coordinator))).toEqual([ask_id]);
});

test('a question that it may never answer is not shown, and does not end its wait', async () => {
  const { hive, coordinator } = await scene();
  await withoutQuotas(hive);
  for (let n = 0; n < 25; n += 1)
    await ask(hive, { question: `Run ${n}?`, kind: 'permission', urgency: 'critical' }, 'agent-2');
  expect(await awaitAsk(coordinator)).toMatchObject({ prompts: [], timed_out: true });
  const waiting = awaitAsk(coordinator, { timeout_ms: 25_000 });
  const { ask_id } = await ask(hive, { question: 'Which one?', urgency: 'low' }, 'agent-2');
  expect(idsOf(await waiting)).toEqual([ask_id]);
});

test('nor does a question of the session it descends from', async () => {
  const { hive, coordinator } = await scene();
  await ask(hive, { question: 'Mine?' }, 'parent-1');
  await hive.sessions.introduce(introduction({ session_id: 'agent-1', parent_session_id: 'parent-1' }));
  expect(idsOf(await awaitAsk(coordinator))).toEqual([]);
});

test('a question that it left to the human is not given to it again, and is still pending for the human', async () => {
  const { hive, coordinator } = await scene();
  const left = await ask(hive, { question: 'Delete the data?' }, 'agent-2');
  const found = await awaitAsk(coordinator);
  expect(idsOf(found)).toEqual([left.ask_id]);
  expect(found.next).toContain('hivemind_respond {"ask_id": "ask-…", "leave": true}');
  expect(await leave(coordinator, left.ask_id)).toMatchObject({ structuredContent: { status: 'pending' } });
  const waiting = awaitAsk(coordinator, { timeout_ms: 25_000 });
  const other = await ask(hive, { question: 'Which colour?' }, 'agent-2');
  expect(idsOf(await waiting)).toEqual([other.ask_id]);
  expect(idsOf(await awaitAsk(coordinator))).toEqual([other.ask_id]);
  // This applies to this coordinator only.
  const second = await connectInProcess(hive, 'coordinator', {
    connection: { env: { HIVE_AGENT: 'agent-3' }, connection_id: 'connection-3' },
  });
  expect(idsOf(await awaitAsk(second))).toEqual([left.ask_id, other.ask_id]);
  expect(await hive.prompts.get(left.ask_id)).toMatchObject({ status: 'pending', left_by: ['agent-1'] });
  const events = await hive.history.eventsOf(left.ask_id, 10);
  expect(events.filter(({ type }) => type === 'prompt/left_to_human')).toHaveLength(1);
  // It may still answer it, for example when the human asks it to.
  const { structuredContent } = await coordinator.callTool({
    name: 'hivemind_respond',
    arguments: { ask_id: left.ask_id, decision: 'no' },
  });
  expect(structuredContent).toMatchObject({ accepted: true });
});

test('a question that it may not answer it cannot leave either', async () => {
  const { hive, coordinator } = await scene();
  const own = await ask(hive, {}, 'agent-1');
  const { isError, content } = await leave(coordinator, own.ask_id);
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('cannot answer its own');
});

test('a question is answered or left, not both', async () => {
  const { hive, coordinator } = await scene();
  const { ask_id } = await ask(hive, {}, 'agent-2');
  const { isError, content } = await leave(coordinator, ask_id, { decision: 'yes' });
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('not both');
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', left_by: [] });
});

test('a decision and a selection that say different things are refused; a comment adds to either', async () => {
  const { hive, coordinator } = await scene();
  const { ask_id } = await ask(hive, { options: ['yes', 'no'] }, 'agent-2');
  const respond = (answer: Record<string, unknown>) =>
    coordinator.callTool({ name: 'hivemind_respond', arguments: { ask_id, ...answer } });
  for (const decision of ['no', 'Only after a backup']) {
    const { isError, content } = await respond({ decision, selected: ['yes'] });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain('Give decision or selected, not both');
  }
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
  await respond({ decision: 'yes', selected: ['yes'], comment: 'only after a backup' });
  expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'yes', comment: 'only after a backup' });
});

test('waiting changes nothing, as the tool declares: only a tool that answers writes', async () => {
  const { hive, coordinator } = await scene();
  const { ask_id } = await ask(hive, {}, 'agent-2');
  await awaitAsk(coordinator);
  const before = await hive.history.eventsOf(ask_id, 10);
  await awaitAsk(coordinator, { leave: [ask_id], timeout_ms: 0 });
  await awaitAsk(coordinator, { ask_id });
  expect(await hive.history.eventsOf(ask_id, 10)).toEqual(before);
  const { tools } = await coordinator.listTools();
  const declared = tools.flatMap(({ name, annotations }) =>
    annotations?.readOnlyHint === true ? [name] : [],
  );
  expect(declared).toContain('hivemind_await_ask');
  expect(declared).not.toContain('hivemind_respond');
});

test('contexts are cut if they do not fit, and each can be read whole', async () => {
  const { hive, coordinator } = await scene();
  const context = 'é'.repeat(32_000);
  for (let n = 0; n < 20; n += 1) await ask(hive, { question: `Question ${n}?`, context }, 'agent-2');
  const cut = await awaitAsk(coordinator);
  expect(Buffer.byteLength(JSON.stringify(cut.prompts))).toBeLessThanOrEqual(RESULT_BYTES);
  expect(cut.prompts).toHaveLength(20);
  expect(cut.prompts[0]).toMatchObject({ context_cut: true, question: 'Question 0?' });
  const ask_id = cut.prompts[0]?.['ask_id'];
  expect(cut.next).toContain(`hivemind_await_ask {"ask_id": "${String(ask_id)}"}`);
  const [whole] = (await awaitAsk(coordinator, { ask_id })).prompts;
  expect(whole).toMatchObject({ ask_id, context });
  expect(whole).not.toHaveProperty('context_cut');
});

test('more than fits is counted', async () => {
  const { hive, coordinator } = await scene();
  for (let n = 0; n < 12; n += 1) await ask(hive, { question: 'x'.repeat(8_000) }, 'agent-2');
  const { prompts, next } = await awaitAsk(coordinator);
  expect(Buffer.byteLength(JSON.stringify(prompts))).toBeLessThanOrEqual(RESULT_BYTES);
  expect(next).toContain(`${12 - prompts.length} more are pending: you get them when these are answered.`);
});

test('asked for one question, it gets that only if it is pending and it may answer it', async () => {
  const { hive, coordinator } = await scene();
  const own = await ask(hive, {}, 'agent-1');
  const other = await ask(hive, {}, 'agent-2');
  expect(await awaitAsk(coordinator, { ask_id: own.ask_id })).toMatchObject({
    prompts: [],
    next: expect.stringMatching(/cannot answer its own/),
  });
  expect(idsOf(await awaitAsk(coordinator, { ask_id: other.ask_id }))).toEqual([other.ask_id]);
  await hive.prompts.respond({ ask_id: other.ask_id, decision: 'yes', actor: HUMAN });
  expect(await awaitAsk(coordinator, { ask_id: other.ask_id })).toMatchObject({
    prompts: [],
    next: `${other.ask_id} is responded already.`,
  });
});

/** How long each call waits on the feed, and what the last one returned. Nobody asks anything. */
async function waitsOf(
  client: Parameters<typeof connectInProcess>[2],
  args: Record<string, unknown>,
  onprogress?: () => void,
): Promise<{ wait_ms: number | undefined; result: Awaited }> {
  const hive = await openTestHive();
  const waits: number[] = [];
  const until = async (_check: unknown, options: UntilOptions): Promise<undefined> =>
    void waits.push(options.wait_ms);
  const coordinator = await connectInProcess(
    { ...hive, feed: { ...hive.feed, until } },
    'coordinator',
    client,
  );
  const call = { name: 'hivemind_await_ask', arguments: args };
  const { structuredContent } = await coordinator.callTool(
    call,
    undefined,
    onprogress === undefined ? {} : { onprogress },
  );
  return { wait_ms: waits[0], result: structuredContent as unknown as Awaited };
}

const HEARS = (): void => undefined;

test.each<[string, Record<string, unknown>, Partial<Awaited>, RegExp]>([
  ['60 s unless asked otherwise', {}, { timed_out: false, waited_ms: 25_000 }, /with timeout_ms 35000 to/],
  [
    'as long as it asked for, if that is short',
    { timeout_ms: 1_000 },
    { timed_out: true, waited_ms: 1_000 },
    /Nothing was asked in that time/,
  ],
  [
    '25 s a call',
    { timeout_ms: 35_000 },
    { timed_out: false, waited_ms: 25_000 },
    /with timeout_ms 10000 to/,
  ],
  [
    'to the end with the last call',
    { timeout_ms: 25_000 },
    { timed_out: true, waited_ms: 25_000 },
    /Nothing was asked in that time/,
  ],
])('an unknown client waits %s, and is told how to continue', async (_how, args, told, next) => {
  // Asking for progress proves nothing: most clients still end a call after a minute.
  const { wait_ms, result } = await waitsOf({}, args, HEARS);
  expect(wait_ms).toBe(told.waited_ms);
  expect(result).toMatchObject({ prompts: [], ...told });
  expect(result.next).toMatch(next);
});

describe('Claude Code waits as long as it asked for', () => {
  const headless = (env: Record<string, string> = {}): Parameters<typeof waitsOf>[0] => ({
    name: 'claude-code',
    connection: { env: { HIVE_AGENT: 'agent-1', CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', ...env } },
  });
  const claude = headless();
  const limited = (MCP_TOOL_TIMEOUT: string) => headless({ MCP_TOOL_TIMEOUT });
  const interactive = (CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS?: string) =>
    headless({
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      ...(CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS === undefined ? {} : { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS }),
    });

  test.each<[string, Parameters<typeof waitsOf>[0], number, number]>([
    ['in one call', claude, 60_000, 60_000],
    ['for an hour', claude, 3_600_000, 3_600_000],
    ['within MCP_TOOL_TIMEOUT', limited('120000'), 600_000, 115_000],
    ['within an MCP_TOOL_TIMEOUT that is short', limited('8000'), 60_000, 4_000],
    ['whatever an MCP_TOOL_TIMEOUT that is no number says', limited('soon'), 600_000, 600_000],
    ['until an interactive one would move the call to the background', interactive(), 600_000, 115_000],
    ['until then by its own setting', interactive('30000'), 600_000, 25_000],
    ['until then by a setting that is no number', interactive('later'), 600_000, 115_000],
    ['unless it never does that', interactive('0'), 600_000, 600_000],
    [
      'and less where the headless one does it',
      headless({ CLAUDE_AUTO_BACKGROUND_TASKS: '1' }),
      600_000,
      115_000,
    ],
  ])('%s', async (_how, client, timeout_ms, wait_ms) => {
    const waited = await waitsOf(client, { timeout_ms }, HEARS);
    expect(waited.wait_ms).toBe(wait_ms);
    expect(waited.result).toMatchObject({ timed_out: wait_ms === timeout_ms, waited_ms: wait_ms });
  });

  test('but with progress, and not if its own limit is unknown', async () => {
    expect((await waitsOf(claude, {})).wait_ms).toBe(25_000);
    const remote = { name: 'claude-code', connection: { trusts_meta: false } };
    expect((await waitsOf(remote, {}, HEARS)).wait_ms).toBe(25_000);
  });
});

/** How long an interrupt waits for its turn to end. */
async function interruptWaits(
  client: Parameters<typeof connectInProcess>[2],
  args: Record<string, unknown> = {},
): Promise<number | undefined> {
  const hive = await openTestHive();
  const waits: (number | null | undefined)[] = [];
  const interrupts = {
    ...hive.interrupts,
    interrupt: async ({ timeout_ms }: { timeout_ms?: number | null | undefined }): Promise<never> => {
      waits.push(timeout_ms);
      throw new Error('It has waited long enough for this test.');
    },
  };
  const coordinator = await connectInProcess({ ...hive, interrupts }, 'coordinator', client);
  await coordinator.callTool(
    { name: 'hivemind_interrupt', arguments: { session: 'agent-2', ...args } },
    undefined,
    { onprogress: HEARS },
  );
  return waits[0] ?? undefined;
}

test('an interrupt waits for a turn in a long tool as long as the client allows, or as its caller says', async () => {
  const claude = (CLAUDE_CODE_ENTRYPOINT: string) => ({
    name: 'claude-code',
    connection: { env: { HIVE_AGENT: 'agent-1', CLAUDE_CODE_ENTRYPOINT } },
  });
  expect(await interruptWaits(claude('sdk-cli'))).toBe(86_400_000);
  expect(await interruptWaits(claude('sdk-cli'), { wait_ms: 600_000 })).toBe(600_000);
  expect(await interruptWaits(claude('cli'))).toBe(115_000);
  expect(await interruptWaits({ connection: { tool_timeout_ms: 120_000 } })).toBe(115_000);
  expect(await interruptWaits({}, { wait_ms: 600_000 })).toBe(25_000);
});

test('a limit that its human names does not let an interactive Claude Code wait until it disowns the result', async () => {
  const env = { HIVE_AGENT: 'agent-1', CLAUDE_CODE_ENTRYPOINT: 'cli' };
  const told = { name: 'claude-code', connection: { env, tool_timeout_ms: 600_000 } };
  expect((await waitsOf(told, { timeout_ms: 600_000 })).wait_ms).toBe(115_000);
});

test('any client waits as long as its human configured that a call may take', async () => {
  const told = { connection: { tool_timeout_ms: 120_000 } };
  expect((await waitsOf(told, { timeout_ms: 600_000 })).wait_ms).toBe(115_000);
});

test('a wait that was cut short has not timed out', async () => {
  const stopping = new AbortController();
  const hive = await openTestHive();
  const coordinator = await connectInProcess(hive, 'coordinator', {
    connection: { stopping: stopping.signal },
  });
  const waiting = awaitAsk(coordinator, { timeout_ms: 20_000 });
  stopping.abort();
  const cut = await waiting;
  expect(cut).toMatchObject({ prompts: [], timed_out: false });
  expect(cut.next).toMatch(/Call again with timeout_ms \d+ to go on waiting\./);
});

test.each<[string, McpOptions]>([
  ["the client's MCP_TOOL_TIMEOUT", { store: '', env: { HIVE_AGENT: 'agent-1', MCP_TOOL_TIMEOUT: '400' } }],
  ['--tool-timeout', { store: '', client: 'test', args: ['--tool-timeout', '400ms'] }],
])('a real hive mcp returns before %s', async (_limit, { args = [], ...options }) => {
  const coordinator = await connectMcp({
    client: 'claude-code',
    ...options,
    store: tempStore(),
    args,
    coordinates: true,
  });
  const waited = await coordinator.call('hivemind_await_ask', {}, { onprogress: HEARS });
  expect(waited).toMatchObject({ prompts: [], timed_out: false, waited_ms: 200 });
});

test('--tool-timeout with --url is refused, because the other side could not follow it', async () => {
  const remote = ['--url', 'http://127.0.0.1:9', '--token-file', '/nowhere'];
  const { code, err } = await shell(tempStore()).hive('mcp', ...remote, '--tool-timeout', '5m');
  expect(code).not.toBe(0);
  expect(err).toContain('--tool-timeout does not work with --url. Leave it out.');
});

test('while it waits, the client is told that the call is alive', async () => {
  const hive = await openTestHive();
  const coordinator = await connectInProcess(hive, 'coordinator', { name: 'claude-code' });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const heard: Progress[] = [];
  const waiting = coordinator.callTool(
    { name: 'hivemind_await_ask', arguments: { timeout_ms: 60_000 } },
    undefined,
    { onprogress: (progress) => heard.push(progress) },
  );
  await eventually(() => {
    vi.advanceTimersByTime(15_000);
    return heard.length >= 2;
  });
  expect(heard[0]).toMatchObject({ message: 'No agent has asked anything yet.' });
  const { ask_id } = await ask(hive, { question: 'Go on?' }, 'agent-2');
  const { structuredContent } = await waiting;
  expect(idsOf(structuredContent as unknown as Awaited)).toEqual([ask_id]);
});

test('an agent that calls a tool of coordinators is told how its human can enable it; the tool stays unlisted', async () => {
  const hive = await openTestHive();
  const said = async (client: string, name: string): Promise<string> => {
    const agent = await connectInProcess(hive, 'agent', { name: client });
    const { tools } = await agent.listTools();
    expect(tools.map((tool) => tool.name)).not.toContain(name);
    const { isError, content } = await agent.callTool({ name, arguments: { anything: true } });
    expect(isError).toBe(true);
    return (content as { text: string }[]).map(({ text }) => text).join();
  };
  expect(await said('claude-code', 'hivemind_await_ask')).toMatch(
    /^not_allowed: hivemind_await_ask is for coordinators.* hive init claude --role coordinator\./,
  );
  expect(await said('codex-mcp-client', 'hivemind_respond')).toContain('hive init codex --role coordinator');
  for (const client of ['cursor', 'claude-ai'])
    expect(await said(client, 'hivemind_interrupt')).toContain('hive mcp --role coordinator');
  expect(await said('cursor', 'hivemind_nonsense')).toContain('There is no tool hivemind_nonsense');
  expect(await hive.sessions.list()).toEqual([]);
});
