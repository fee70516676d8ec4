/**
 * Bad input from an agent: each with a clear error, and nothing lost.
 *
 * @module-tag untrusted
 * @module-tag mcp
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';

import { HUMAN, introduce, openTestHive, withoutQuotas } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { callInProcess } from '../support/mcp-in-process.ts';
import { newPrompt } from '../support/new-prompt.ts';
import { serveInProcess } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';

describe('an agent', () => {
  test('is notified of each error, continues over the same connection, and its valid question is stored', async () => {
    const store = tempStore();
    const agent = await connectMcp({ store });
    const good = await agent.call('hivemind_ask_async', { question: 'Good?', urgency: 'low' });
    const cases: [object, RegExp][] = [
      [{ question: '' }, /question is empty/],
      [{ question: '\u200b\u00ad' }, /question is empty/],
      [{ question: 'x'.repeat(10 * 1024 * 1024) }, /question is too long: at most 8,000 characters/],
      [{ question: 'Q', context: 'x'.repeat(70_000) }, /context is too long: at most 64 KB/],
      [{ question: 'Q', options: ['a', 'b', 'a'] }, /"a" is given twice/],
      [{ question: 'Q', options: ['a\0', 'a\ufffd'] }, /is given twice/],
      [{ question: 'Q', options: Array.from({ length: 21 }, String) }, /options/],
      [{ question: 'Q', timeout_ms: -5 }, /timeout_ms/],
      [{ question: 'Q', timeout_ms: 1e18 }, /timeout_ms/],
      [{ question: 'Q', allow_free_text: false }, /nobody could answer/],
      [{ question: 7 }, /question/],
    ];
    for (const [args, sentence] of cases)
      await expect(agent.call('hivemind_ask_async', { ...args })).rejects.toThrow(sentence);
    await expect(agent.call('hivemind_poll', { ask_id: 'ask-0000000000000000' })).rejects.toThrow(
      /There is no question/,
    );
    await expect(agent.call('hivemind_poll', { wait_ms: 26_000 })).rejects.toThrow(/wait_ms/);
    const { prompts } = await agent.call('hivemind_poll');
    expect(prompts).toMatchObject([{ ask_id: good['ask_id'], status: 'pending' }]);
  });

  test('gets unusual text back as it was sent, made storable', async () => {
    const hive = await openTestHive();
    const agent = await callInProcess(hive);
    const question = 'NUL \0, lone \ud800, \u202eright to left\u202c, zero\u200bwidth, 🐝?';
    const { ask_id } = await agent.call('hivemind_ask_async', {
      question,
      options: ['כן', 'לא'],
      urgency: 'low',
    });
    const clean = 'NUL \ufffd, lone \ufffd, \u202eright to left\u202c, zero\u200bwidth, 🐝?';
    expect((await hive.prompts.get(String(ask_id))).question).toBe(clean);
    await hive.prompts.respond({ ask_id: String(ask_id), decision: 'כן', comment: '\0', actor: HUMAN });
    const answer = await agent.call('hivemind_poll', { ask_id });
    expect(answer).toMatchObject({ question: clean, decision: 'כן', comment: '\ufffd' });
  });

  test('that sends an oversized message is cut off, and its process does not stay behind without input', async () => {
    const store = tempStore();
    const agent = await connectMcp({ store });
    const absurd = agent.call('hivemind_ask_async', { question: 'x'.repeat(20 * 1024 * 1024) });
    await expect(absurd).rejects.toThrow();
    const next = await connectMcp({ store });
    expect(await next.call('hivemind_status')).toMatchObject({ pending_total: 0 });
  });
});

test('a human is notified of what is wrong with an answer, and the question is still open', async () => {
  const hive = await openTestHive();
  const session = await introduce(hive);
  const request = {
    question: 'Which?',
    options: ['red', 'blue'],
    allow_free_text: false,
    urgency: 'low' as const,
  };
  const { ask_id } = (await hive.prompts.ask(request, session)).prompt;
  const desk = await serveInProcess(hive);
  const answer = { ask_id, by: 'ada', response_id: 'r1' };
  const cases: [object, RegExp][] = [
    [
      { decision: 'green' },
      /^invalid_answer: .*"green" is none of the options and free text is off.*"red", "blue"/,
    ],
    [{ decision: '' }, /^invalid_answer: .*the answer is empty/],
    [{ selected: ['red', 'blue'] }, /^invalid_answer: .*only one option/],
    [
      { decision: 'red', store_id: 'store-elsewhere' },
      /^wrong_store: .*written for the store store-elsewhere/,
    ],
    [{ decision: 'red', ask_id: 'nothing' }, /^prompt_not_found: /],
    [{ decision: 'red', response_id: '' }, /^invalid_input: .*response_id/],
  ];
  for (const [change, sentence] of cases)
    await expect(desk.request('hivemind-response', { ...answer, ...change })).rejects.toThrow(sentence);
  expect((await hive.prompts.get(ask_id)).status).toBe('pending');
  expect(await desk.request('hivemind-response', { ...answer, decision: 'red' })).toMatchObject({
    accepted: true,
  });
});

test('10,000 pending prompts: asking, listing and answering stay quick', async () => {
  const hive = await withoutQuotas(await openTestHive());
  const { session_id, handle: agent, source, project, project_dir } = await introduce(hive, 'agent-1');
  const asker = { session_id, agent, agent_title: null, source, project, project_dir, turn_id: null };
  await hive.store.write(async (tx) => {
    for (let n = 0; n < 10_000; n += 1)
      await tx.prompts.insert(newPrompt({ question: `Question ${n}?` }, asker, `ask-${n}`, tx.now));
  });
  const client = await callInProcess(hive);
  const { ask_id } = await client.call('hivemind_ask_async', { question: 'One more?', urgency: 'low' });
  await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
  expect(await client.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'yes' });
  expect(await client.call('hivemind_status')).toMatchObject({ pending_total: 10_000 });
  const all = await client.call('hivemind_poll');
  const shown = (all['prompts'] as unknown[]).length;
  expect(all).toMatchObject({ more: { settled: 0, pending: 10_000 - shown } });
  expect(all['next']).toContain('0 settled, 10000 pending');
});

test('an agent whose store cannot be opened keeps its tools, each says why, and all work once it can be', async () => {
  const store = tempStore();
  mkdirSync(dirname(store), { recursive: true, mode: 0o700 });
  writeFileSync(store, 'no store of ours, but somebody may need it', { mode: 0o600 });
  const agent = await connectMcp({ store });
  expect((await agent.client.listTools()).tools.map(({ name }) => name)).toContain('hivemind_ask_async');
  await expect(agent.call('hivemind_ask_async', { question: 'Anyone?' })).rejects.toThrow(
    /store_foreign: .* is not a Hive store\. Nothing was changed.* each call tries again/,
  );
  expect(readFileSync(store, 'utf8')).toBe('no store of ours, but somebody may need it');
  rmSync(store);
  await expect(agent.call('hivemind_ask_async', { question: 'Anyone?' })).rejects.toThrow(/open again/);
  const { ask_id, agent: handle } = await agent.call('hivemind_ask_async', { question: 'Anyone now?' });
  expect(handle, 'the client and its environment are known as ever').toBe('agent-1');
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({ status: 'pending' });
  await agent.close();
});
