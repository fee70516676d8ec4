/**
 * The result of a poll fits into what clients pass on; the rest is counted, kept, and not lost.
 *
 * @module-tag not-consumed
 * @module-tag at-least-once
 * @module-tag late
 * @module-tag mcp
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { RESULT_BYTES } from '../../src/adapters/mcp/tool.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { eventsOf, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { connectInProcess } from '../support/mcp-in-process.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { eventually } from '../support/wait.ts';

interface Polled {
  prompts: (Prompt & { next: string })[];
  more?: { settled: number; pending: number };
  left_out?: string[];
  next: string;
}

async function scene(): Promise<{ hive: OpenedHive; agent: Client }> {
  const hive = await openTestHive();
  return { hive, agent: await connectInProcess(hive) };
}

async function poll<T = Polled>(agent: Client, args: Record<string, unknown> = {}): Promise<T> {
  const { structuredContent } = await agent.callTool({ name: 'hivemind_poll', arguments: args });
  return structuredContent as T;
}

/** `count` questions of the agent, in one transaction. */
async function asked(hive: OpenedHive, count: number): Promise<string[]> {
  const { session_id, handle: agent, source, project, project_dir } = await introduce(hive, 'agent-1');
  const asker = { session_id, agent, agent_title: null, source, project, project_dir, turn_id: null };
  const ids = Array.from({ length: count }, (_, n) => `ask-${String(n).padStart(4, '0')}`);
  await hive.store.write(async (tx) => {
    for (const ask_id of ids)
      await tx.prompts.insert(newPrompt({ question: `Question ${ask_id}?` }, asker, ask_id, tx.now));
  });
  return ids;
}

async function answered(
  hive: OpenedHive,
  count: number,
  decision: string,
  comment?: string,
): Promise<string[]> {
  const ids = await asked(hive, count);
  for (const ask_id of ids) await hive.prompts.respond({ ask_id, decision, comment, actor: HUMAN });
  return ids;
}

async function handed(hive: OpenedHive): Promise<string[]> {
  return (await eventsOf(hive, 'prompt/handed')).map(({ subject }) => String(subject));
}

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

test('60 answers of 20 kB come in as many polls as they need: each fits, each answer once, in order', async () => {
  const { hive, agent } = await scene();
  const ids = await answered(hive, 60, 'x'.repeat(20_000));
  const read: string[] = [];
  for (;;) {
    const { prompts, more, next } = await poll(agent);
    if (prompts.length === 0) break;
    expect(bytes(prompts)).toBeLessThanOrEqual(RESULT_BYTES + 1024);
    expect(prompts.every((prompt) => prompt.decision?.length === 20_000)).toBe(true);
    expect(prompts.some((prompt) => 'repeated' in prompt)).toBe(false);
    read.push(...prompts.map(({ ask_id }) => ask_id));
    expect(await handed(hive), 'only what is returned is handed over').toEqual(read);
    expect(more?.settled ?? 0).toBe(60 - read.length);
    if (more !== undefined)
      expect(next).toContain(
        `${more.settled} more settled, which did not fit into one result: when you have`,
      );
  }
  expect(read).toEqual(ids);
});

test('what was not shown is not proved read by the next call', async () => {
  const { hive, agent } = await scene();
  const [first = '', second = ''] = await answered(hive, 3, 'x'.repeat(30_000));
  expect((await poll(agent)).prompts.map(({ ask_id }) => ask_id)).toEqual([first]);
  await agent.callTool({ name: 'hivemind_status', arguments: {} });
  expect((await hive.prompts.get(first)).collected_at).not.toBeNull();
  expect(await hive.prompts.get(second)).toMatchObject({ handed_at: null, collected_at: null });
});

test('everything is counted, however much is pending; answered questions come first', async () => {
  const { hive, agent } = await scene();
  const ids = await asked(hive, 230);
  const last = ids.at(-1) ?? '';
  await hive.prompts.respond({ ask_id: last, decision: 'yes', actor: HUMAN });
  const { prompts, more, next } = await poll(agent);
  expect(prompts[0]).toMatchObject({ ask_id: last, decision: 'yes' });
  expect(bytes(prompts)).toBeLessThanOrEqual(RESULT_BYTES + 1024);
  expect(more).toEqual({ settled: 0, pending: 229 - (prompts.length - 1) });
  expect(next).toContain('1 settled, 229 pending');
  expect(next).toContain(`${more?.pending} of the pending are only counted`);
});

test('a wait for anything open ends with a question that is only counted', async () => {
  const { hive, agent } = await scene();
  const last = (await asked(hive, 230)).at(-1) ?? '';
  const waiting = poll(agent, { wait_ms: 25_000 });
  await hive.prompts.respond({ ask_id: last, decision: 'yes', actor: HUMAN });
  expect((await waiting).prompts[0]).toMatchObject({ ask_id: last, decision: 'yes' });
});

test('questions that are named come as far as they fit, and the others are named', async () => {
  const { hive, agent } = await scene();
  const ids = await answered(hive, 5, 'x'.repeat(20_000));
  const first = await poll(agent, { ask_ids: ids });
  expect(first.prompts.map(({ ask_id }) => ask_id)).toEqual(ids.slice(0, 2));
  expect(first.left_out).toEqual(ids.slice(2));
  expect(first.next).toContain('5 settled, 0 pending');
  expect(await handed(hive)).toEqual(ids.slice(0, 2));
  const second = await poll(agent, { ask_ids: first.left_out });
  expect(second.prompts.map(({ ask_id }) => ask_id)).toEqual(ids.slice(2, 4));
  expect((await poll(agent, { ask_ids: second.left_out })).prompts).toHaveLength(1);
  expect(await handed(hive)).toEqual(ids);
});

test('an answer longer than any result comes alone and whole, and says first how to read it otherwise', async () => {
  const { hive, agent } = await scene();
  const [ask_id = '', other = ''] = await answered(hive, 2, 'd'.repeat(65_536), 'c'.repeat(65_536));
  const { prompts, more } = await poll(agent);
  expect(prompts).toMatchObject([{ ask_id, decision: 'd'.repeat(65_536), comment: 'c'.repeat(65_536) }]);
  expect(more).toEqual({ settled: 1, pending: 0 });
  const alone = await poll<Prompt & { next: string }>(agent, { ask_id: other });
  for (const view of [prompts[0], alone]) {
    expect(Object.keys(view ?? {})[0]).toBe('next');
    expect(view?.next).toMatch(/^This answer is long \(\d+ KB\)\. .*hive poll ask-000\d --json/);
  }
  expect(alone.comment).toHaveLength(65_536);
});

test('an answer that a waiting call returned comes once more, because its client may have given up on that call', async () => {
  const { hive, agent } = await scene();
  const [ask_id = ''] = await asked(hive, 1);
  const waiting = poll(agent, { wait_ms: 25_000 });
  await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
  await hive.prompts.respond({ ask_id, decision: 'no', actor: HUMAN });
  expect((await waiting).prompts).toMatchObject([{ ask_id, decision: 'no' }]);
  await agent.callTool({ name: 'hivemind_sessions', arguments: {} });
  expect((await hive.prompts.get(ask_id)).collected_at).toBeNull();
  expect((await poll(agent)).prompts).toMatchObject([{ ask_id, decision: 'no', repeated: true }]);
  expect((await poll(agent)).prompts).toEqual([]);
  expect((await hive.prompts.get(ask_id)).collected_at).not.toBeNull();
});

test('a call that need not wait, although it would, proves as any other', async () => {
  const { hive, agent } = await scene();
  const [ask_id = ''] = await answered(hive, 1, 'yes');
  expect((await poll(agent, { wait_ms: 25_000 })).prompts).toMatchObject([{ ask_id }]);
  expect((await poll(agent)).prompts).toEqual([]);
});

test('only what a waiting call returned is free for another carrier after the next call', async () => {
  const { hive, agent } = await scene();
  const [waited = '', quick = ''] = await asked(hive, 2);
  const waiting = poll(agent, { ask_ids: [waited], wait_ms: 25_000 });
  await eventually(async () => (await hive.prompts.get(waited)).blocked_since !== null);
  for (const ask_id of [waited, quick])
    await hive.prompts.respond({ ask_id, decision: `answer to ${ask_id}`, actor: HUMAN });
  await waiting;
  await poll(agent, { ask_ids: [quick] });
  const carried = (await hive.prompts.get(quick)).carrier;
  expect(carried).toBe('mcp:connection-1');
  expect(await hive.prompts.get(waited)).toMatchObject({ carrier: null, collected_at: null });
});
