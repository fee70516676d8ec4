/**
 * Notes: what an agent adds to its own pending question, who sees it, and what it means for the answer.
 *
 * @module-tag provenance
 * @module-tag mcp
 * @module-tag cli
 */
import { describe, expect, test } from 'vitest';
import { describeSettlement, type Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { shell } from '../support/cli.ts';
import { ask, eventsOf, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { isTold, serveInProcess, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';

const NOTE = 'The cache is warm: b got cheaper.';

/** A question of `agent-1` over its own connection. */
async function asked(agent: CallerInProcess): Promise<string> {
  const question = { question: 'Which?', options: ['a', 'b'], urgency: 'low' };
  return String((await agent.call('hivemind_ask_async', question))['ask_id']);
}

test('a note reaches every desk, the poll of its asker, coordinators and shells', async () => {
  const store = tempStore();
  const [agent, coordinator, desk] = await Promise.all([
    connectMcp({ store }),
    connectMcp({ store, coordinates: true, env: { HIVE_AGENT: 'agent-2' } }),
    startSidecar(store),
  ]);
  const ask_id = await asked(agent);
  // That its coordinator asks to be one is a question, too.
  const { params: before } = await desk.seen(isTold('hivemind-ask', (told) => told.ask_id === ask_id));
  expect(before.notes).toEqual([]);
  expect(await agent.call('hivemind_poll', { ask_id })).not.toHaveProperty('notes');

  expect(await agent.call('hivemind_note', { ask_id, note: ` ${NOTE}\n` })).toMatchObject({ accepted: true });
  const { params } = await desk.seen(isTold('prompt/changed', ({ notes }) => notes.length === 1));
  const notes = [{ text: NOTE, at: expect.stringMatching(/Z$/) }];
  expect(params).toMatchObject({ ask_id, status: 'pending', notes });
  expect(params.notes[0].at > params.created_at).toBe(true);
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({ status: 'pending', notes });
  expect(await coordinator.call('hivemind_await_ask')).toMatchObject({ prompts: [{ ask_id, notes }] });
  const person = shell(store);
  expect((await person.hive('poll', ask_id)).out).toMatch(/\n {2}note, \d+ s ago +The cache is warm: b got/);
  expect((await person.hive('list')).out).toContain('[1 note] Which?');
  expect((await person.hive('poll', ask_id, '--json')).json()).toMatchObject({ notes });
});

describe('a note is taken', () => {
  test('only from the asker', async () => {
    const hive = await openTestHive();
    const connection = { env: { HIVE_AGENT: 'agent-2' }, connection_id: 'connection-2' };
    const [agent, other] = [await callInProcess(hive), await callInProcess(hive, 'agent', { connection })];
    const ask_id = await asked(agent);
    await expect(other.call('hivemind_note', { ask_id, note: NOTE })).rejects.toThrow(
      /not_allowed: ask-\w+ is a question of agent-1: only its asker adds notes/,
    );
    await expect(agent.call('hivemind_note', { ask_id: 'ask-none', note: NOTE })).rejects.toThrow(
      'prompt_not_found',
    );
    expect(await agent.call('hivemind_poll', { ask_id })).not.toHaveProperty('notes');
  });

  test('for no permission: what is approved is what was displayed', async () => {
    const hive = await openTestHive();
    const { ask_id } = await ask(hive, { kind: 'permission' });
    await expect(hive.prompts.note(ask_id, NOTE, await introduce(hive))).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringMatching(/asks for a permission.*cancel it and ask again/),
    });
  });

  test('for no dialog of a client, which would not show it', async () => {
    const hive = await openTestHive();
    const prompt = { ...(await ask(hive)), ask_id: 'ask-0000000000000001', dialog: true };
    await hive.store.write((tx) => tx.prompts.insert(prompt));
    await expect(hive.prompts.note(prompt.ask_id, NOTE, await introduce(hive))).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('comes from a dialog of your client'),
    });
  });

  test.each(['responded', 'cancelled'] as const)('not once the question is %s', async (status) => {
    const hive = await openTestHive();
    const prompt = await ask(hive);
    const { ask_id } = prompt;
    if (status === 'responded') await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    else await hive.prompts.cancel(ask_id, HUMAN, 'human');
    const noted = await hive.prompts.note(ask_id, NOTE, await introduce(hive));
    expect(noted).toMatchObject({ accepted: false, prompt: { status, notes: [] } });
    expect(await eventsOf(hive, 'prompt/noted')).toEqual([]);
  });

  test('not after it has expired, and the expiry is recorded first', async () => {
    const hive = await openTestHive();
    const { ask_id } = await ask(hive, { timeout_ms: 1_000 });
    await expect
      .poll(async () => (await hive.prompts.note(ask_id, NOTE, await introduce(hive))).prompt.status, {
        timeout: 5_000,
      })
      .toBe('expired');
    expect((await eventsOf(hive, 'prompt/expired')).map(({ subject }) => subject)).toEqual([ask_id]);
  });

  test('once, however often the call is repeated; ten in all, of bounded and storable text', async () => {
    const hive = await openTestHive();
    const session = await introduce(hive);
    const { ask_id } = await ask(hive);
    const note = (text: string) => hive.prompts.note(ask_id, text, session);
    await note('one\u0000 and \ud800 two');
    await note('one\u0000 and \ud800 two');
    expect((await hive.prompts.get(ask_id)).notes).toMatchObject([{ text: 'one\ufffd and \ufffd two' }]);
    expect(await eventsOf(hive, 'prompt/noted')).toHaveLength(1);
    await expect(note(' \u200b')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(note('x'.repeat(2_001))).rejects.toThrow('at most 2,000 characters');
    for (let n = 2; n <= 10; n += 1) await note(`${n}${'€'.repeat(1_990)}`);
    await expect(note('eleven')).rejects.toThrow(
      /has 10 notes, and can have no more: cancel the question and ask/,
    );
    expect((await note('one\u0000 and \ud800 two')).accepted).toBe(true);
    const { items } = await hive.prompts.list({ query: '10€€', limit: 10 });
    expect(items.map((found) => [found.ask_id, found.notes.length])).toEqual([[ask_id, 10]]);
    // The longest one fits into one frame for Emacs.
    const desk = await serveInProcess(hive);
    const { prompts } = await desk.request('prompt/list', {});
    expect(prompts[0].notes).toEqual(items[0]?.notes);
  });
});

test('a note and an answer at the same time have an order: an answered question has exactly the notes that were accepted', async () => {
  const store = tempStore();
  const [hive, desk] = await Promise.all([openTestHive(store), openTestHive(store)]);
  const session = await introduce(hive);
  let accepted = 0;
  for (let n = 0; n < 42; n += 1) {
    const { ask_id } = await ask(hive);
    const note = () => hive.prompts.note(ask_id, NOTE, session);
    const answer = () => desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const noteFirst = n % 2 === 0;
    const early = noteFirst ? note() : undefined;
    // The first two rounds are one after the other, so that both orders are seen; in the rest either side may win.
    if (n === 0) await early;
    const answering = answer();
    if (n === 1) await answering;
    const [noted, answered] = await Promise.all([early ?? note(), answering]);
    expect(answered.outcome).toBe('accepted');
    const { notes, status } = await hive.prompts.get(ask_id);
    expect([status, notes.length]).toEqual(['responded', noted.accepted ? 1 : 0]);
    const events = await hive.history.eventsOf(ask_id, 10);
    const order = events.map(({ type }) => type).filter((type) => type !== 'prompt/created');
    expect(order).toEqual(noted.accepted ? ['prompt/noted', 'prompt/responded'] : ['prompt/responded']);
    if (noted.accepted) accepted += 1;
    if (n < 2) expect(accepted).toBe(1);
  }
});

test('a shell adds one to its own question, and to no other', async () => {
  const store = tempStore();
  const builder = shell(store, { HIVE_AGENT: 'builder' });
  const ask_id = (await builder.hive('ask', 'Which?', '--option', 'a')).out.trim();
  const added = await builder.hive('ask', NOTE, '--note-to', ask_id);
  expect([added.code, added.out]).toEqual([0, `Added to ${ask_id}.\n`]);
  expect((await builder.hive('poll', ask_id, '--json')).json().notes).toMatchObject([{ text: NOTE }]);
  const other = await shell(store, { HIVE_AGENT: 'other' }).hive('ask', NOTE, '--note-to', ask_id);
  expect([other.code, other.err]).toEqual([
    7,
    expect.stringContaining('a question of builder: only its asker'),
  ]);
  // Options that only a new question can have are not dropped silently.
  for (const more of [['--option', 'b'], ['--wait'], ['--urgency', 'low'], ['--no-free-text']]) {
    const refused = await builder.hive('ask', 'More.', '--note-to', ask_id, ...more);
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringMatching(/--note-to.* cannot be used with/),
    ]);
  }
  await shell(store).hive('respond', ask_id, 'a');
  const late = await builder.hive('ask', 'Too late.', '--note-to', ask_id, '--json');
  expect([late.code, late.json()]).toMatchObject([6, { ask_id, accepted: false, status: 'responded' }]);
  expect((await builder.hive('list', '--status', 'all')).out).toContain('[1 note] Which?');
  expect((await builder.hive('poll', ask_id)).out).toMatch(
    /warning +It may have been given before your note/,
  );
});

describe('the answer of a human who', () => {
  const WARNING = /may have been given before your note of \S+Z was read: check that it still holds/;

  async function settled(
    way: (at: { hive: OpenedHive; ask_id: string; claim: () => Promise<unknown> }) => Promise<unknown>,
  ): Promise<{ prompt: Prompt; next: string }> {
    const hive = await openTestHive();
    const agent = await callInProcess(hive);
    const desk = await serveInProcess(hive);
    const ask_id = await asked(agent);
    const claim = () => desk.request('prompt/claim', { ask_id, by: HUMAN.by });
    await way({ hive, ask_id, claim });
    await hive.prompts.respond({ ask_id, decision: 'a', actor: HUMAN });
    const { next } = await agent.call('hivemind_poll', { ask_id });
    return { prompt: await hive.prompts.get(ask_id), next: String(next) };
  }

  async function add({ hive, ask_id }: { hive: OpenedHive; ask_id: string }): Promise<void> {
    const { session_id } = await hive.prompts.get(ask_id);
    const session = await hive.sessions.find(session_id);
    if (session === undefined) throw new Error('The asker is unknown.');
    const { prompt } = await hive.prompts.note(ask_id, NOTE, session);
    // From here on, times are later.
    const at = prompt.notes[0]?.at ?? '';
    await expect.poll(() => hive.store.read(async ({ now }) => now > at)).toBe(true);
  }

  test('opened the question after the note is an answer like any other', async () => {
    const { prompt, next } = await settled(async (at) => {
      await add(at);
      await at.claim();
    });
    expect(prompt).toMatchObject({ status: 'responded', decision: 'a', notes: [{ text: NOTE }] });
    expect(next).toBe('ada answered. Act on it.');
    expect(describeSettlement(prompt, false)).not.toMatch(WARNING);
  });

  test('opened it before the note counts, and the asker is asked to check it', async () => {
    const { prompt, next } = await settled(async (at) => {
      await at.claim();
      await add(at);
    });
    expect(prompt).toMatchObject({ status: 'responded', decision: 'a' });
    expect(next).toMatch(WARNING);
    expect(describeSettlement(prompt, false)).toMatch(WARNING);
  });

  test('never opened it, as in a popup or a shell, counts in the same way', async () => {
    const { prompt, next } = await settled(add);
    expect(next).toMatch(WARNING);
    expect(describeSettlement(prompt, true)).toMatch(WARNING);
  });
});
