/**
 * The answer of a human, however it comes over the wire: accepted in its plainest form, one answer however often it is
 * repeated, and kept and announced if it cannot be accepted.
 *
 * @module-tag one-winner
 * @module-tag provenance
 * @module-tag late
 * @module-tag emacs
 */
import { describe, expect, test } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { shell } from '../support/cli.ts';
import { ask, eventsOf, HUMAN, newHive, noticesOf, openTestHive, recordingLog } from '../support/hive.ts';
import { callInProcess } from '../support/mcp-in-process.ts';
import { isTold, type Loose, serveInProcess } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

async function question(hive: OpenedHive): Promise<string> {
  return (await ask(hive, { urgency: 'low' })).ask_id;
}

/** The answers that reached a question, whatever became of them. */
async function answersTo(hive: OpenedHive, ask_id: string): Promise<string[]> {
  const events = await eventsOf(hive, 'prompt/responded', 'prompt/lost_response', 'prompt/late_response');
  return events.filter(({ subject }) => subject === ask_id).map(({ type }) => type);
}

describe('{ask-id, decision, by} is an answer', () => {
  test.each(['ask-id', 'askId'])('with %s, as a notification, up to the agent', async (name) => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const agent = await callInProcess(hive);
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' });
    desk.notify('hivemind-response', { [name]: ask_id, decision: 'yes', by: 'human' });
    expect(await agent.call('hivemind_poll', { 'ask-id': ask_id, wait_ms: 10_000 })).toMatchObject({
      status: 'responded',
      decision: 'yes',
      by: 'human',
    });
  });

  test('who answers may be left out: it is the human of this desk', async () => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    expect(await desk.request('hivemind-response', { ask_id, decision: 'yes', by: null })).toMatchObject({
      accepted: true,
      by: 'Ada',
    });
  });
});

describe('without a response_id', () => {
  test('a repeated frame is one answer', async () => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    const answer = { 'ask-id': ask_id, decision: 'yes', by: 'human' };
    desk.notify('hivemind-response', answer);
    desk.notify('hivemind-response', answer);
    for (let n = 0; n < 2; n += 1)
      expect(await desk.request('hivemind-response', answer)).toMatchObject({ accepted: true });
    expect(await answersTo(hive, ask_id)).toEqual(['prompt/responded']);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another decision', { decision: 'no' }],
    ['another comment', { comment: 'but slowly' }],
    ['another person', { by: 'bob' }],
  ])('%s is another answer', async (_what, change) => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    const answer = { ask_id, decision: 'yes', by: 'human' };
    await desk.request('hivemind-response', answer);
    expect(await desk.request('hivemind-response', { ...answer, ...change })).toMatchObject({
      accepted: false,
      decision: 'yes',
      by: 'human',
    });
    expect(await answersTo(hive, ask_id)).toEqual(['prompt/responded', 'prompt/lost_response']);
  });

  test('the same words from another desk are another answer', async () => {
    const hive = await openTestHive();
    const [one, other] = [await serveInProcess(hive), await serveInProcess(hive)];
    const ask_id = await question(hive);
    const answer = { ask_id, decision: 'yes', by: 'human' };
    expect(await one.request('hivemind-response', answer)).toMatchObject({ accepted: true });
    expect(await other.request('hivemind-response', answer)).toMatchObject({ accepted: false });
  });

  test('an answer that is repeated after a correction changes nothing', async () => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    const answer = { ask_id, decision: 'yes', by: 'human' };
    await desk.request('hivemind-response', answer);
    await desk.request('prompt/amend', { ...answer, decision: 'no', response_id: 'r2' });
    await desk.request('hivemind-response', answer);
    expect((await hive.prompts.get(ask_id)).decision).toBe('no');
    await expect(desk.request('prompt/amend', answer)).rejects.toThrow(/response_id/);
  });
});

/** Answers that cannot be accepted, and what the human reads about them. */
const UNREAD: readonly [string, (ask_id: string) => unknown, RegExp][] = [
  ['without a question', () => ({ decision: 'yes', by: 'human' }), /^An answer could not be accepted\./],
  [
    'to a question that is not there',
    () => ({ 'ask-id': 'ask-0000000000000000', decision: 'yes', by: 'human' }),
    /^An answer to ask-0000000000000000 could not be accepted\. There is no question/,
  ],
  [
    'without a decision',
    (ask_id) => ({ ask_id, by: 'human' }),
    /could not be accepted\. The answer is empty\. It is kept/,
  ],
  [
    'with a misspelled decision',
    (ask_id) => ({ ask_id, desicion: 'yes' }),
    /"desicion"; "decision" is probably/,
  ],
  ['with a decision that is no text', (ask_id) => ({ ask_id, decision: { yes: true } }), /decision/],
  ['with two questions', (ask_id) => ({ ask_id, askId: 'other', decision: 'yes' }), /the same argument/],
  [
    'for another store',
    (ask_id) => ({ ask_id, decision: 'yes', store_id: 'store-of-yesterday' }),
    /store-of-yesterday/,
  ],
];

/** The notices of answers, as a desk lists them. */
async function listed(desk: { request(method: string, params: unknown): Promise<Loose> }): Promise<Loose[]> {
  const { notices } = await desk.request('notice/list', {});
  return notices.filter(({ notice }: Loose) => notice === 'unread_answer');
}

describe('an answer that cannot be accepted', () => {
  test.each(UNREAD)(
    '%s: as a notification it is kept and announced at every desk, once',
    async (_what, make, text) => {
      const hive = await openTestHive();
      const [desk, other] = [await serveInProcess(hive), await serveInProcess(hive)];
      const ask_id = await question(hive);
      const answer = make(ask_id);
      desk.notify('hivemind-response', answer);
      desk.notify('hivemind-response', answer);
      for (const one of [desk, other]) {
        const { params } = await one.seen(isTold('desk/notice'));
        expect(params).toMatchObject({ severity: 'error', notice: 'unread_answer', sender_told: false });
        expect(params.text).toMatch(text);
      }
      const kept = await listed(other);
      expect(kept).toHaveLength(1);
      expect(JSON.parse(kept[0].sent)).toEqual(answer);
      expect((await hive.prompts.get(ask_id)).status).toBe('pending');
    },
  );

  test.each(UNREAD)('%s: as a request it is refused, and kept as well', async (_what, make, text) => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const answer = make(await question(hive));
    await expect(desk.request('hivemind-response', answer)).rejects.toThrow(/^[a-z_]+: ./);
    const kept = await listed(desk);
    expect(kept).toMatchObject([{ sender_told: true }]);
    expect(kept[0].text).toMatch(text);
    expect(JSON.parse(kept[0].sent)).toEqual(answer);
  });

  test.each<[string, (ask_id: string) => object, unknown]>([
    ['by position', (ask_id) => ({ jsonrpc: '2.0', params: [ask_id, 'yes'] }), ['ask', 'yes']],
    ['as a mere text', () => ({ jsonrpc: '2.0', params: 'yes' }), 'yes'],
    [
      'in another version of JSON-RPC',
      (ask_id) => ({ params: { ask_id, decision: 'yes' } }),
      { ask_id: 'ask', decision: 'yes' },
    ],
  ])('%s, in a frame that is no message, is kept', async (_what, frame, sent) => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    desk.frame(JSON.stringify({ method: 'hivemind-response', ...frame(ask_id) }));
    const { params } = await desk.seen(isTold('desk/notice'));
    expect(JSON.parse(params.sent.replace(ask_id, 'ask'))).toEqual(sent);
  });

  test('is limited in size and storable, whatever was sent', async () => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    desk.notify('hivemind-response', { ask_id: 'a\0b', decision: '\ud800', comment: 'x'.repeat(1_000_000) });
    const { params } = await desk.seen(isTold('desk/notice'));
    expect(params.ask_id).toBe('a\ufffdb');
    expect(params.sent).toMatch(/^\{"ask_id":"a\ufffdb","decision":"\ufffd","comment":"xxx/);
    const [notice] = await eventsOf(hive, 'desk/notice');
    expect(String(notice?.data['sent']).length).toBeLessThan(200_000);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    desk.frame(`{"jsonrpc":"2.0","method":"hivemind-response","params":{"decision":${deep}}}`);
    await desk.seen(isTold('desk/notice', ({ sent }) => /nested too deeply/.test(sent)));
  });

  test('is shown by the doctor, in Emacs and in a shell, until its question is answered', async () => {
    const { store, hive } = await newHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    desk.notify('hivemind-response', { ask_id, desicion: 'yes' });
    await desk.seen(isTold('desk/notice'));
    const { checks } = await desk.request('doctor/run', {});
    expect(checks.filter(({ name }: Loose) => name === 'Answer')).toMatchObject([
      {
        state: 'broken',
        text: expect.stringContaining('"desicion":"yes"'),
        advice: expect.stringContaining(ask_id),
      },
    ]);
    const doctor = await shell(store).hive('doctor');
    expect(doctor.code).not.toBe(0);
    expect(doctor.out).toMatch(new RegExp(`FAIL +Answer +one to ${ask_id} .*"desicion":"yes"`));
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect((await hive.doctor.run()).filter(({ name }) => name === 'Answer')).toEqual([]);
  });
});

test('unknown parts of an answer are reported: to the sender of a request, and to the human for a notification', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  const [one, other] = [await question(hive), await question(hive)];
  const answer = { decision: 'yes', by: 'human', mood: 'but slowly' };
  expect(await desk.request('hivemind-response', { ask_id: one, ...answer })).toMatchObject({
    accepted: true,
    ignored_params: ['mood'],
  });
  expect(await noticesOf(hive)).toEqual([]);
  desk.notify('hivemind-response', { ask_id: other, ...answer });
  const { params } = await desk.seen(isTold('desk/notice'));
  expect(params).toMatchObject({ severity: 'warning', taken: true });
  expect(params.text).toMatch(
    /was accepted, but not all of it\. Hive does not know what "mood" means in an answer\./,
  );
  expect((await hive.prompts.get(other)).decision).toBe('yes');
  expect((await hive.doctor.run()).filter(({ name }) => name === 'Answer')).toEqual([]);
});

test('an accepted answer is not reported as unread, even when its question is long gone', async () => {
  const hive = await openTestHive();
  const kept = {
    from: 'desk-1',
    reason: 'Hive does not know what "mood" means in an answer.',
    sender_told: false,
  };
  await hive.unreadAnswers.keep({ ...kept, params: { ask_id: 'ask-gone', decision: 'yes' }, taken: true });
  await hive.unreadAnswers.keep({ ...kept, params: { ask_id: 'ask-gone', decision: 'no' } });
  const shown = (await hive.doctor.run()).filter(({ name }) => name === 'Answer');
  expect(shown).toHaveLength(1);
  expect(shown[0]?.text).toContain('"decision":"no"');
});

describe('a store that is busy', () => {
  /** A hive that refuses the first answers. */
  async function busyHive(refusals: number): Promise<OpenedHive> {
    const hive = await openTestHive();
    let left = refusals;
    const respond: OpenedHive['prompts']['respond'] = async (command) => {
      if (left-- > 0) throw new HiveError('store_busy', 'The store is busy.');
      return hive.prompts.respond(command);
    };
    return { ...hive, prompts: { ...hive.prompts, respond } };
  }

  test('gets a notification again until it has stored it, and keeps nothing as unread', async () => {
    const hive = await busyHive(2);
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    desk.notify('hivemind-response', { ask_id, decision: 'yes', by: 'human' });
    await eventually(async () => (await hive.prompts.get(ask_id)).status === 'responded');
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('refuses a request, whose sender tries again', async () => {
    const hive = await busyHive(1);
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    const answer = { ask_id, decision: 'yes', by: 'human' };
    await expect(desk.request('hivemind-response', answer)).rejects.toThrow(/^store_busy/);
    expect(await desk.request('hivemind-response', answer)).toMatchObject({ accepted: true });
    expect(await noticesOf(hive)).toEqual([]);
  });
});

describe('every method', () => {
  test('takes kebab case and camel case, and null for what is absent', async () => {
    const hive = await openTestHive();
    const desk = await serveInProcess(hive);
    const ask_id = await question(hive);
    for (const name of ['ask-id', 'askId', 'ask_id'])
      expect((await desk.request('prompt/get', { [name]: ask_id })).prompt.ask_id).toBe(ask_id);
    expect((await desk.request('prompt/list', { Status: 'pending', limit: null, cursor: null })).total).toBe(
      1,
    );
    const until = '2030-01-01T00:00:00.000Z';
    expect((await desk.request('prompt/snooze', { askId: ask_id, until })).prompt.snoozed_until).toBe(until);
    // This null does not mean missing: it un-snoozes the question.
    expect(
      (await desk.request('prompt/snooze', { askId: ask_id, until: null })).prompt.snoozed_until,
    ).toBeNull();
    expect(await desk.request('desk/preferences', { 'notify-when': 'never' })).toMatchObject({
      preferences: { notify_when: 'never' },
    });
  });

  test('says which parameters it does not know, and logs each of them once', async () => {
    const log = recordingLog();
    const desk = await serveInProcess(await openTestHive(tempStore(), log));
    for (let n = 0; n < 3; n += 1)
      expect(await desk.request('prompt/list', { status: 'pending', colour: 'red' })).toMatchObject({
        total: 0,
        ignored_params: ['colour'],
      });
    expect(await desk.request('doctor/run', { colour: 'red' })).toMatchObject({ ignored_params: ['colour'] });
    expect(log.lines.filter((line) => line.includes('"colour"'))).toHaveLength(2);
  });

  test('says for a missing parameter what was given instead', async () => {
    const desk = await serveInProcess(await openTestHive());
    await expect(desk.request('prompt/get', { ask: 'ask-1' })).rejects.toThrow(
      /^invalid_input: .*There is no parameter "ask"; "ask_id" is probably meant/,
    );
  });
});
