/** A coordinator gets the questions that it may answer, and nothing hides them: its own, permissions, or their size. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { RESULT_BYTES } from '../../src/adapters/mcp/tool.ts';
import type { UntilOptions } from '../../src/application/feed.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduction, openTestHive } from '../support/hive.ts';
import { connectInProcess } from '../support/mcp-in-process.ts';

interface Awaited {
  prompts: Record<string, unknown>[];
  timed_out?: boolean;
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

function idsOf({ prompts }: Awaited): unknown[] {
  return prompts.map(({ ask_id }) => ask_id);
}

test("its own questions, older and however many, hide nobody else's", async () => {
  const { hive, coordinator } = await scene();
  for (let n = 0; n < 120; n += 1) await ask(hive, { question: `mine ${n}` }, 'agent-1');
  expect(idsOf(await awaitAsk(coordinator))).toEqual([]);
  const { ask_id } = await ask(hive, { question: 'Go on?' }, 'agent-2');
  expect(idsOf(await awaitAsk(coordinator))).toEqual([ask_id]);
});

test('what it may never answer is not shown, and does not end its waiting', async () => {
  const { hive, coordinator } = await scene();
  for (let n = 0; n < 25; n += 1)
    await ask(hive, { question: `Run ${n}?`, kind: 'permission', urgency: 'critical' }, 'agent-2');
  expect(await awaitAsk(coordinator)).toMatchObject({ prompts: [], timed_out: true });
  const waiting = awaitAsk(coordinator, { timeout_ms: 25_000 });
  const { ask_id } = await ask(hive, { question: 'Which one?', urgency: 'low' }, 'agent-2');
  expect(idsOf(await waiting)).toEqual([ask_id]);
});

test('nor a question of the session it descends from', async () => {
  const { hive, coordinator } = await scene();
  await ask(hive, { question: 'Mine?' }, 'parent-1');
  await hive.sessions.introduce(introduction({ session_id: 'agent-1', parent_session_id: 'parent-1' }));
  expect(idsOf(await awaitAsk(coordinator))).toEqual([]);
});

test('contexts are cut where they do not fit, and each is to be had whole', async () => {
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
  expect(next).toContain(`${12 - prompts.length} more wait: they come when these are answered.`);
});

test('asked for one question, it gets that only where it waits and may be answered by it', async () => {
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

test.each<[string, Record<string, unknown>, number, RegExp]>([
  ['60 s unless told otherwise', {}, 25_000, /Call again with timeout_ms 35000 to go on waiting/],
  [
    'as long as it is told, where that is short',
    { timeout_ms: 1_000 },
    1_000,
    /Nothing was asked in that time/,
  ],
  ['25 s a call', { timeout_ms: 35_000 }, 25_000, /Call again with timeout_ms 10000 to go on/],
  ['to the end with the last call', { timeout_ms: 25_000 }, 25_000, /Nothing was asked in that time/],
])('it waits %s, and says how to go on', async (_how, args, wait_ms, next) => {
  const hive = await openTestHive();
  const waits: number[] = [];
  const until = async (_check: unknown, options: UntilOptions): Promise<undefined> =>
    void waits.push(options.wait_ms);
  const coordinator = await connectInProcess({ ...hive, feed: { ...hive.feed, until } }, 'coordinator');
  const waited = await awaitAsk(coordinator, args);
  expect(waits).toEqual([wait_ms]);
  expect(waited).toMatchObject({ prompts: [], timed_out: true });
  expect(waited.next).toMatch(next);
});
