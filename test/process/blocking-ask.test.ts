/**
 * The blocking ask: it blocks only its caller, reports progress, and loses nothing when it is given up.
 *
 * @module-tag not-consumed
 * @module-tag mcp
 */
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, expect, test, vi } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, newHive, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { callInProcess, connectInProcess } from '../support/mcp-in-process.ts';
import { eventually } from '../support/wait.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function pendingOf(hive: OpenedHive): Promise<string[]> {
  const { items } = await hive.store.read((tx) => tx.prompts.list({ status: 'pending', limit: 10 }));
  return items.map(({ ask_id }) => ask_id);
}

test('it returns the answer when it comes', async () => {
  const { store, hive } = await newHive();
  const agent = await connectMcp({ store });
  const asking = agent.call('hivemind_ask', { question: 'Go on?', urgency: 'low' });
  await eventually(async () => (await pendingOf(hive)).length === 1);
  // In the meantime neither other connections nor this one are blocked.
  expect(await agent.call('hivemind_status')).toMatchObject({ pending_total: 1 });
  const [ask_id = ''] = await pendingOf(hive);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  const { next, ...answer } = await asking;
  expect(answer).toMatchObject({ ask_id, status: 'responded', decision: 'yes' });
  expect(answer).not.toHaveProperty('deprecated');
  expect(next).toMatch(/^ada answered\. Act on it/);
});

test('at its time limit it says how to continue, and the question stays open', async () => {
  const hive = await openTestHive();
  const agent = await callInProcess(hive);
  const { ask_id, status, timed_out, next } = await agent.call('hivemind_ask', {
    question: 'Go on?',
    timeout_ms: 1_000,
    urgency: 'low',
  });
  expect([status, timed_out]).toEqual(['pending', true]);
  expect(next).toContain(`hivemind_poll {"ask_id": "${String(ask_id)}"}`);
  expect((await hive.prompts.get(String(ask_id))).expires_at).toBeNull();
  await hive.prompts.respond({ ask_id: String(ask_id), decision: 'late, but in time', actor: HUMAN });
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'late, but in time' });
});

test('cancelled by its client, the question stays open', async () => {
  const hive = await openTestHive();
  const agent = await callInProcess(hive);
  const controller = new AbortController();
  const asking = agent.call(
    'hivemind_ask',
    { question: 'Go on?', urgency: 'low' },
    { signal: controller.signal },
  );
  await eventually(async () => (await pendingOf(hive)).length === 1);
  controller.abort();
  await expect(asking).rejects.toThrow();
  const [ask_id = ''] = await pendingOf(hive);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({
    status: 'responded',
    decision: 'yes',
  });
});

test('killed while it waits, the question stays open for the next child', async () => {
  const { store, hive } = await newHive();
  const agent = await connectMcp({ store });
  const asking = agent.call('hivemind_ask', { question: 'Go on?', urgency: 'low' }).catch(() => 'gone');
  await eventually(async () => (await pendingOf(hive)).length === 1);
  await agent.crash();
  expect(await asking).toBe('gone');
  const [ask_id = ''] = await pendingOf(hive);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  const next = await connectMcp({ store });
  const { prompts } = await next.call('hivemind_poll');
  expect(prompts).toMatchObject([{ ask_id, decision: 'yes' }]);
});

test('every 15 s it reports progress to a client that asked for it', async () => {
  const hive = await openTestHive();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const client = await connectInProcess(hive);
  const progress: Progress[] = [];
  const asking = client.callTool({ name: 'hivemind_ask', arguments: { question: 'Go on?' } }, undefined, {
    onprogress: (told) => progress.push(told),
  });
  await eventually(async () => (await pendingOf(hive)).length === 1);
  await eventually(() => vi.getTimerCount() > 0);
  for (let n = 1; n <= 3; n += 1) {
    vi.advanceTimersByTime(15_000);
    await eventually(() => progress.length === n);
  }
  expect(progress.map((told) => told.progress)).toEqual([1, 2, 3]);
  const [ask_id = ''] = await pendingOf(hive);
  expect(progress[0]?.message).toContain(ask_id);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  await asking;
  vi.advanceTimersByTime(60_000);
  expect(progress).toHaveLength(3);
});

test('its time limit applies to the wait, a day at most; the schema says so', async () => {
  const hive = await openTestHive();
  const client = await connectInProcess(hive);
  const { tools } = await client.listTools();
  const timeout = tools.find(({ name }) => name === 'hivemind_ask')?.inputSchema.properties?.['timeout_ms'];
  expect(timeout).toMatchObject({
    maximum: 86_400_000,
    description: expect.stringMatching(
      /this call waits.*Default 300000.*the question stays open and never expires/,
    ),
  });
  const longer = { question: 'Go on?', timeout_ms: 86_400_001 };
  expect(await client.callTool({ name: 'hivemind_ask', arguments: longer })).toMatchObject({ isError: true });
  expect(await pendingOf(hive)).toEqual([]);
});

test.each<[string, Record<string, unknown>, number]>([
  ['5 minutes unless told otherwise', {}, 300_000],
  ['as long as it is told', { timeout_ms: 86_400_000 }, 86_400_000],
])('it waits %s', async (_how, args, expected) => {
  const hive = await openTestHive();
  const waits: number[] = [];
  const wait: OpenedHive['prompts']['wait'] = (ask_ids, { wait_ms }) => {
    waits.push(wait_ms);
    return hive.prompts.wait(ask_ids, { wait_ms: 0 });
  };
  const client = await connectInProcess({ ...hive, prompts: { ...hive.prompts, wait } });
  const { structuredContent } = await client.callTool({
    name: 'hivemind_ask',
    arguments: { question: 'Go on?', ...args },
  });
  expect(waits).toEqual([expected]);
  expect(structuredContent).toMatchObject({
    timed_out: true,
    next: expect.stringContaining(`within ${expected} ms`),
  });
});

const INTERACTIVE = { HIVE_AGENT: 'agent-1', CLAUDE_CODE_ENTRYPOINT: 'cli' };

test.each<[string, string, Record<string, unknown>, Record<string, string>, number]>([
  ['an ask', 'hivemind_ask', { question: 'Go on?' }, {}, 115_000],
  [
    'an ask where it moves calls sooner',
    'hivemind_ask',
    { question: 'Go on?' },
    { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: '20000' },
    15_000,
  ],
  [
    'an ask that need not wait',
    'hivemind_ask_async',
    { question: 'Go on?', wait_ms: 25_000 },
    { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: '20000' },
    15_000,
  ],
])(
  'an interactive Claude Code would disown a late result, so %s ends before and names the call that goes on',
  async (_what, name, args, env, expected) => {
    const hive = await openTestHive();
    const waits: number[] = [];
    const wait: OpenedHive['prompts']['wait'] = (ask_ids, { wait_ms }) => {
      waits.push(wait_ms);
      return hive.prompts.wait(ask_ids, { wait_ms: 0 });
    };
    const client = await connectInProcess({ ...hive, prompts: { ...hive.prompts, wait } }, 'agent', {
      name: 'claude-code',
      connection: { env: { ...INTERACTIVE, ...env } },
    });
    const call = { name, arguments: args };
    const { structuredContent } = await client.callTool(call, undefined, { onprogress: () => undefined });
    const [ask_id] = await pendingOf(hive);
    expect(waits).toEqual([expected]);
    expect(structuredContent).toEqual({
      ask_id,
      status: 'pending',
      timed_out: false,
      next: `No answer within ${expected} ms, and this call could not wait longer. The question stays open: go on waiting with hivemind_poll {"ask_id": "${ask_id}", "wait_ms": 25000}.`,
    });
    // A poll waits no longer, either.
    await client.callTool({ name: 'hivemind_poll', arguments: { ask_id, wait_ms: 25_000 } });
    expect(waits.at(-1)).toBe(Math.min(25_000, expected));
  },
);
