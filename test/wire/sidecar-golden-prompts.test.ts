/** Golden frames of prompts and of their history, as Emacs and the sidecar exchange them. */
import { describe, expect, test } from 'vitest';
import { ask, HUMAN } from '../support/hive.ts';
import type { Frame } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { askedAndShown, askFully, connectDesk, exchange, expectTold } from './sidecar-wire.ts';

describe('prompts', () => {
  test('an ask, its answer and the notifications of both', async () => {
    const { hive, sidecar } = await connectDesk();
    const { ask_id } = await askFully(hive);
    await expectTold(sidecar, 'hivemind-ask');
    await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);
    await exchange(sidecar, 'prompt/seen', { ask_id });
    const answer = {
      ask_id,
      selected: ['blue', 'red'],
      comment: 'both',
      by: 'ada',
      response_id: 'response-000000000001',
    };
    await exchange(sidecar, 'hivemind-response', answer);
    await expectTold(sidecar, 'prompt/changed', (prompt) => prompt.status === 'responded');
    await exchange(
      sidecar,
      'hivemind-response',
      { ...answer, response_id: 'response-000000000002', by: 'bob' },
      'hivemind-response-lost',
    );
    await exchange(sidecar, 'prompt/amend', {
      ...answer,
      selected: ['red'],
      response_id: 'response-000000000003',
    });
    await exchange(sidecar, 'prompt/get', { ask_id });
  });

  test('a late answer', async () => {
    const { hive, sidecar } = await connectDesk();
    const ask_id = await askedAndShown(hive);
    await exchange(sidecar, 'prompt/cancel', { ask_id, by: 'ada' });
    const late = { ask_id, decision: 'yes', by: 'ada', response_id: 'response-000000000001' };
    await exchange(sidecar, 'hivemind-response', late, 'hivemind-response-late');
  });

  test('an answer in the words of the first design, and one that cannot be taken', async () => {
    const { hive, sidecar } = await connectDesk();
    const ask_id = await askedAndShown(hive);
    const answer = { 'ask-id': ask_id, decision: 'yes', by: 'human' };
    await exchange(sidecar, 'hivemind-response', answer, 'hivemind-response-plain');
    sidecar.notify('hivemind-response', { ask_id, desicion: 'no' });
    await expectTold(sidecar, 'desk/notice', () => true, 'desk/notice-unread-answer');
  });

  test('lists, page by page', async () => {
    const { hive, sidecar } = await connectDesk();
    await askFully(hive);
    const { ask_id } = await ask(hive, { question: 'Go on?', urgency: 'critical' });
    await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);
    const { next_cursor } = await exchange(sidecar, 'prompt/list', { status: 'pending', limit: 1 });
    const rest = await sidecar.request('prompt/list', { status: 'pending', limit: 1, cursor: next_cursor });
    expect([rest.prompts.length, rest.next_cursor, rest.total]).toEqual([1, null, 2]);
  });

  test('what a human does with one', async () => {
    const { hive, sidecar } = await connectDesk();
    const ask_id = await askedAndShown(hive);
    await exchange(sidecar, 'prompt/snooze', { ask_id, until: '2030-01-01T00:00:00Z' });
    await exchange(sidecar, 'prompt/claim', { ask_id, by: 'ada' });
    await exchange(sidecar, 'prompt/release', { ask_id });
  });

  test('one for a team, which is escalated to everybody', async () => {
    const { hive, sidecar } = await connectDesk();
    await hive.humans.setTeam({ name: 'Ops', members: ['Bob', 'Eve'] });
    const { ask_id } = await ask(hive, { to: 'ops', escalate_after_ms: 1_000, urgency: 'low' });
    await expectTold(sidecar, 'hivemind-ask', ({ to }) => to === 'Ops', 'hivemind-ask-addressed');
    expect((await hive.prompts.get(ask_id)).offered_at).toBeNull();
    await expectTold(
      sidecar,
      'prompt/changed',
      ({ escalated_at, offered_at }) => escalated_at !== null && offered_at === null,
      'prompt/changed-escalated',
    );
    await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);
  });

  test.each<[string, string, (ask_id: string) => object]>([
    ['unknown', 'prompt/get', () => ({ ask_id: 'nothing' })],
    ['wrong-type', 'prompt/list', () => ({ limit: 'many' })],
    ['empty', 'hivemind-response', (ask_id) => ({ ask_id, decision: '', by: 'ada', response_id: 'r1' })],
    [
      'none-of-the-options',
      'hivemind-response',
      (ask_id) => ({ ask_id, selected: ['green'], by: 'ada', response_id: 'r1' }),
    ],
    [
      'another-store',
      'hivemind-response',
      (ask_id) => ({ ask_id, decision: 'red', by: 'ada', response_id: 'r1', store_id: 'elsewhere' }),
    ],
    ['not-answered', 'prompt/amend', (ask_id) => ({ ask_id, decision: 'red', by: 'ada', response_id: 'r1' })],
  ])('refusals: %s', async (why, method, params) => {
    const { hive, sidecar } = await connectDesk();
    const { ask_id } = await askFully(hive);
    await exchange(sidecar, method, params(ask_id), `refusals/${why}`);
  });
});

test('history finds what was asked, by its words', async () => {
  const { hive, sidecar } = await connectDesk();
  const { ask_id } = await askFully(hive);
  await ask(hive, { question: 'Something else?', urgency: 'low' });
  await hive.prompts.respond({ ask_id, selected: ['red'], actor: HUMAN });
  await exchange(sidecar, 'history/search', { query: 'COLOUR', limit: 10 });
});

test('an answer may come as a notification: it is stored, and there is no reply', async () => {
  const { hive, sidecar } = await connectDesk();
  const { ask_id } = await ask(hive, { urgency: 'low' });
  sidecar.notify('hivemind-response', { ask_id, decision: 'yes', by: 'ada', response_id: 'r1' });
  await sidecar.seen((frame) => frame.method === 'prompt/changed' && frame.params.status === 'responded');
  const replies = sidecar.frames.filter((frame: Frame) => frame.id !== undefined && frame.id !== 1);
  expect(replies).toEqual([]);
  expect((await hive.prompts.get(ask_id)).by).toBe(HUMAN.by);
});
