/**
 * Frames to Emacs stay under 256 KB, whatever is in the store.
 *
 * @module-tag untrusted
 * @module-tag emacs
 * @module-tag mcp
 */
import { expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { type RpcClient, serveInProcess } from '../support/sidecar.ts';

const LIMIT = 256 * 1024;
const MANY = 10_000;

async function connect(): Promise<{ hive: OpenedHive; sidecar: RpcClient }> {
  const hive = await openTestHive();
  return { hive, sidecar: await serveInProcess(hive) };
}

function idOf(n: number): string {
  return `ask-${String(n).padStart(16, '0')}`;
}

/** Many prompts in a few transactions; asked one by one they would take a while. */
async function fill(hive: OpenedHive, count: number): Promise<void> {
  const { session_id, handle: agent, source, project, project_dir } = await introduce(hive);
  const asker = { session_id, agent, agent_title: null, source, project, project_dir, turn_id: null };
  const request = { question: 'q'.repeat(2_000), context: 'ü'.repeat(2_000), urgency: 'low' as const };
  for (let begun = 0; begun < count; begun += 1_000) {
    await hive.store.write(async (tx) => {
      for (let n = begun; n < Math.min(count, begun + 1_000); n += 1)
        await tx.prompts.insert(newPrompt(request, asker, idOf(n), tx.now));
    });
  }
}

let crowded: RpcClient;
beforeFile(async () => {
  const { hive, sidecar } = await connect();
  await fill(hive, MANY);
  crowded = sidecar;
});

test(`${MANY} pending prompts of long texts come page by page, each in a frame`, async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < 20; page += 1) {
    const { prompts, total, next_cursor }: { prompts: Prompt[]; total: number; next_cursor: string | null } =
      await crowded.request('prompt/list', { status: 'pending', limit: 500, cursor });
    expect(total).toBe(MANY);
    expect(prompts.length).toBeGreaterThan(10);
    seen.push(...prompts.map(({ ask_id }) => ask_id));
    cursor = next_cursor;
  }
  expect(crowded.largest()).toBeLessThan(LIMIT);
  // Oldest first, none twice, none left out.
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, n) => idOf(n)));
});

test('the full history has whole entries, as many as a frame holds', async () => {
  const { hive, sidecar } = await connect();
  const questions = Array.from({ length: 60 }, (_, n) => `${n} ${'ü'.repeat(7_900)}`);
  for (const question of questions) await ask(hive, { question, urgency: 'low' });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { entries: { text: string }[]; next_cursor: string | null } = await sidecar.request(
      'history/search',
      { full: true, limit: 200, cursor },
    );
    seen.push(...page.entries.map(({ text }) => text));
    cursor = page.next_cursor;
  } while (cursor !== null);
  // None is cut, repeated or left out; compared in short form, because a failure would print them all.
  expect(seen.filter((text) => !questions.includes(text)).map((text) => text.length)).toEqual([]);
  expect([seen.length, new Set(seen).size]).toEqual([questions.length, questions.length]);
  expect(sidecar.largest()).toBeLessThan(LIMIT);
  const { entries } = await sidecar.request('history/search', { limit: 200 });
  expect(entries.every(({ text }: { text: string }) => text.length === 400)).toBe(true);
});

test('a page of many prompts costs hardly more than a page of few', async () => {
  /** Processor time, and the least of several: what else the machine does is not counted. */
  async function pageCost(sidecar: RpcClient): Promise<number> {
    const costs: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      const before = process.cpuUsage();
      await sidecar.request('prompt/list', { status: 'pending', limit: 40 });
      const { user, system } = process.cpuUsage(before);
      costs.push(user + system);
    }
    return Math.min(...costs);
  }
  const { hive, sidecar } = await connect();
  await fill(hive, 100);
  const [few, many] = [await pageCost(sidecar), await pageCost(crowded)];
  expect(many / few).toBeLessThan(4);
});

test('all pages together have everything once, and whole', async () => {
  const { hive, sidecar } = await connect();
  const options = Array.from({ length: 20 }, (_, n) => ({ label: `${n}`, description: 'd'.repeat(2_000) }));
  const asked: string[] = [];
  for (let n = 0; n < 30; n += 1) asked.push((await ask(hive, { options, urgency: 'low' })).ask_id);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { prompts: Prompt[]; next_cursor: string | null } = await sidecar.request('prompt/list', {
      status: 'pending',
      limit: 20,
      cursor,
    });
    expect(page.prompts.length).toBeLessThanOrEqual(20);
    for (const prompt of page.prompts) expect(prompt.options).toEqual(options);
    seen.push(...page.prompts.map(({ ask_id }) => ask_id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen.toSorted()).toEqual(asked.toSorted());
  expect(sidecar.largest()).toBeLessThan(LIMIT);
});

test('a long context is cut in a list and whole in prompt/get', async () => {
  const { hive, sidecar } = await connect();
  const context = 'ü'.repeat(32_000);
  const { ask_id } = await ask(hive, { context, urgency: 'low' });
  const { params } = await sidecar.seen((frame) => frame.method === 'hivemind-ask');
  expect(params).toMatchObject({ context_truncated: true });
  expect(params.context.length).toBeLessThanOrEqual(2_000);
  const { prompt } = await sidecar.request('prompt/get', { ask_id });
  expect(prompt.context).toBe(context);
  expect(prompt).not.toHaveProperty('context_truncated');
});

test.each([
  ['quotes', '"'],
  ['control characters', 'x\u0001\u0002'],
  ['emoji', '🐝'],
])('texts of %s that grow on the wire are cut, and their frame is sent', async (_what, character) => {
  const { hive, sidecar } = await connect();
  const bytes = Buffer.byteLength(character);
  const { ask_id } = await ask(hive, {
    question: character.repeat(Math.floor(8_000 / character.length)),
    context: character.repeat(Math.floor((64 * 1024) / bytes)),
    options: Array.from({ length: 20 }, (_, n) => ({
      label: `${n}${character.repeat(150)}`,
      description: character.repeat(600),
    })),
    idempotency_key: 'key',
    urgency: 'low',
  });
  await sidecar.seen((frame) => frame.method === 'hivemind-ask');
  const long = character.repeat(Math.floor((64 * 1024) / character.length));
  for (let n = 0; n < 5; n += 1) {
    const command = { ask_id, decision: `${n}${long.slice(0, -8)}`, comment: long, actor: HUMAN };
    await (n === 0 ? hive.prompts.respond(command) : hive.prompts.amend(command));
  }
  const { prompt, events } = await sidecar.request('prompt/get', { ask_id });
  expect(prompt).toMatchObject({ ask_id, status: 'responded', by: 'ada' });
  expect(events.length).toBeGreaterThanOrEqual(6);
  await sidecar.request('prompt/list', { status: 'responded' });
  expect(sidecar.largest()).toBeLessThan(LIMIT);
});

test('the reply to a long answer fits as well', async () => {
  const { hive, sidecar } = await connect();
  const { ask_id } = await ask(hive, { urgency: 'low' });
  const long = `x${'\u0001'.repeat(65_000)}`;
  const answer = { ask_id, decision: long, comment: long, by: 'ada', response_id: 'r1' };
  expect(await sidecar.request('hivemind-response', answer)).toMatchObject({ accepted: true });
  expect(sidecar.largest()).toBeLessThan(LIMIT);
  expect((await hive.prompts.get(ask_id)).decision).toBe(long);
});

test.each([
  ['a name that nobody knows', 'desk/preferences', { ['k'.repeat(1_000_000)]: 1 }],
  [
    'many of them',
    'desk/preferences',
    Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`k${n}`, 1])),
  ],
  ['an id of a megabyte', 'prompt/get', { ask_id: 'x'.repeat(1_000_000) }],
  ['an agent of a megabyte', 'turn/interrupt', { session: 'x'.repeat(1_000_000) }],
])('the refusal of %s fits as well', async (_what, method, params) => {
  const { sidecar } = await connect();
  await expect(sidecar.request(method, params)).rejects.toThrow();
  expect(sidecar.largest()).toBeLessThan(LIMIT);
});

test('what only the store needs is not sent', async () => {
  const { hive, sidecar } = await connect();
  await ask(hive, { idempotency_key: 'key', urgency: 'low' });
  const { params } = await sidecar.seen((frame) => frame.method === 'hivemind-ask');
  expect(params).not.toHaveProperty('fingerprint');
  expect(params).not.toHaveProperty('carrier');
});

test('every string is well-formed and free of NUL', async () => {
  const { hive, sidecar } = await connect();
  await ask(hive, { question: 'a\0b\ud800c', header: '\udfff', options: ['x\0'], urgency: 'low' });
  const { params } = await sidecar.seen((frame) => frame.method === 'hivemind-ask');
  expect([params.question, params.header, params.options[0].label]).toEqual([
    'a\ufffdb\ufffdc',
    '\ufffd',
    'x\ufffd',
  ]);
});
