/** Every method and notification between Emacs and the sidecar, as it stands on the wire. */
import { describe, expect, test } from 'vitest';
import { METHODS } from '../../src/adapters/emacs/connection.ts';
import type { Hive } from '../../src/application/hive.ts';
import { giveNotice } from '../../src/application/notices.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import {
  type Frame,
  INITIALIZE,
  type Loose,
  RpcError,
  type Sidecar,
  startSidecar,
} from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { expectGolden, goldenNames } from './golden.ts';

expectNothingLeft();

interface Wire {
  hive: Hive;
  sidecar: Sidecar;
}

async function connect(): Promise<Wire> {
  const store = tempStore();
  const hive = await openTestHive(store);
  return { hive, sidecar: await startSidecar(store) };
}

/** Sends a request and compares both frames with `golden/sidecar/NAME.json`. */
async function exchange(sidecar: Sidecar, method: string, params: unknown, name = method): Promise<Loose> {
  const reply = await sidecar.request(method, params).then(
    (result: Loose) => ({ result }),
    (error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      return { error: { code: error.code, message: error.message, data: error.data as unknown } };
    },
  );
  expectGolden(`sidecar/${name}`, { request: { method, params }, reply: steady(reply) });
  return 'result' in reply ? reply.result : reply.error;
}

/** Popups are recorded on the trail when the machine comes to them. */
function steady<T>(reply: T): T {
  return JSON.parse(
    JSON.stringify(reply, (key, value: unknown) =>
      key === 'events' && Array.isArray(value)
        ? value.filter((event: { type: string }) => event.type !== 'prompt/popup')
        : value,
    ),
  ) as T;
}

async function told(
  sidecar: Sidecar,
  method: string,
  test: (params: Loose) => boolean = () => true,
  name = method,
): Promise<void> {
  const { params } = await sidecar.seen((frame) => frame.method === method && test(frame.params));
  expectGolden(`sidecar/${name}`, { notification: { method, params: params as unknown } });
}

/** A prompt that the desk has shown: whatever is compared afterwards carries the receipt. */
async function askedAndShown(hive: Hive): Promise<string> {
  const { ask_id } = await ask(hive, { urgency: 'low' });
  await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);
  return ask_id;
}

/** A prompt with every field that an asker can fill. */
function askFully(hive: Hive): ReturnType<typeof ask> {
  return ask(hive, {
    question: 'Which colour?',
    header: 'Paint',
    context: '# The wall\nIt is white.',
    options: ['red', { label: 'blue', description: 'like the sky' }],
    multi_select: true,
    urgency: 'low',
    group_id: 'form-1',
    label: 'wall',
    idempotency_key: 'wall-1',
  });
}

describe('the handshake', () => {
  test('opens a desk', async () => {
    const sidecar = await startSidecar(tempStore(), { handshake: false });
    await exchange(sidecar, 'initialize', INITIALIZE);
    await exchange(sidecar, 'initialize', INITIALIZE, 'initialize-twice');
    await exchange(sidecar, 'shutdown', null);
  });

  test('refuses a protocol it does not speak', async () => {
    const sidecar = await startSidecar(tempStore(), { handshake: false });
    await exchange(sidecar, 'initialize', { ...INITIALIZE, protocol_version: 99 }, 'initialize-newer');
    await exchange(sidecar, 'initialize', { protocol_version: 1 }, 'initialize-without-client');
  });
});

describe('prompts', () => {
  test('an ask, its answer and what is told of them', async () => {
    const { hive, sidecar } = await connect();
    const { ask_id } = await askFully(hive);
    await told(sidecar, 'hivemind-ask');
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
    await told(sidecar, 'prompt/changed', (prompt) => prompt.status === 'responded');
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
    const { hive, sidecar } = await connect();
    const ask_id = await askedAndShown(hive);
    await exchange(sidecar, 'prompt/cancel', { ask_id, by: 'ada' });
    const late = { ask_id, decision: 'yes', by: 'ada', response_id: 'response-000000000001' };
    await exchange(sidecar, 'hivemind-response', late, 'hivemind-response-late');
  });

  test('lists, page by page', async () => {
    const { hive, sidecar } = await connect();
    await askFully(hive);
    const { ask_id } = await ask(hive, { question: 'Go on?', urgency: 'critical' });
    await eventually(async () => (await hive.prompts.get(ask_id)).offered_at !== null);
    const { next_cursor } = await exchange(sidecar, 'prompt/list', { status: 'pending', limit: 1 });
    const rest = await sidecar.request('prompt/list', { status: 'pending', limit: 1, cursor: next_cursor });
    expect([rest.prompts.length, rest.next_cursor, rest.total]).toEqual([1, null, 2]);
  });

  test('what a human does with one', async () => {
    const { hive, sidecar } = await connect();
    const ask_id = await askedAndShown(hive);
    await exchange(sidecar, 'prompt/snooze', { ask_id, until: '2030-01-01T00:00:00Z' });
    await exchange(sidecar, 'prompt/claim', { ask_id, by: 'ada' });
    await exchange(sidecar, 'prompt/release', { ask_id });
  });

  test('one for a team, which goes to everybody in the end', async () => {
    const { hive, sidecar } = await connect();
    await hive.humans.setTeam({ name: 'Ops', members: ['Bob', 'Eve'] });
    const { ask_id } = await ask(hive, { to: 'ops', escalate_after_ms: 1_000, urgency: 'low' });
    await told(sidecar, 'hivemind-ask', ({ to }) => to === 'Ops', 'hivemind-ask-addressed');
    expect((await hive.prompts.get(ask_id)).offered_at).toBeNull();
    await told(
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
    const { hive, sidecar } = await connect();
    const { ask_id } = await askFully(hive);
    await exchange(sidecar, method, params(ask_id), `refusals/${why}`);
  });
});

describe('desks', () => {
  test('tell their focus and preferences', async () => {
    const { sidecar } = await connect();
    await exchange(sidecar, 'desk/focus', { focused: true });
    await exchange(sidecar, 'desk/preferences', { do_not_disturb: true });
  });

  test('that were asleep while retention removed what they had not seen lost their place', async () => {
    const { hive, sidecar } = await connect();
    process.kill(sidecar.child.pid, 'SIGSTOP');
    await ask(hive, { urgency: 'low' });
    await hive.store.write(async (tx) => {
      await tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data: {} });
      await tx.events.prune('2100-01-01T00:00:00.000Z', 1_000);
    });
    process.kill(sidecar.child.pid, 'SIGCONT');
    await told(sidecar, 'desk/resync');
    const { prompts } = await sidecar.request('prompt/list', { status: 'pending' });
    expect(prompts).toHaveLength(1);
  });

  test('hear of notices', async () => {
    const { hive, sidecar } = await connect();
    const data = { kind: 'test', text: 'Something happened.' };
    await hive.store.write((tx) =>
      tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data }),
    );
    await told(sidecar, 'desk/notice');
  });
});

describe('messages and mentions', () => {
  test('posting, listing, processing', async () => {
    const { hive, sidecar } = await connect();
    const session = await introduce(hive);
    const { message } = await hive.messages.post({
      body: 'Hello @Human',
      author: agentAuthor(session, 'mcp'),
    });
    await told(sidecar, 'message/posted');
    await told(sidecar, 'mention/changed');
    await exchange(sidecar, 'message/post', {
      body: `Hi @${session.handle}`,
      by: 'ada',
      reply_to: message.message_id,
    });
    await exchange(sidecar, 'message/list', { limit: 10 });
    await exchange(sidecar, 'mention/list', {});
    await exchange(sidecar, 'mention/process', { all: true, by: 'ada' });
    await introduce(hive, 'other-session');
    await exchange(sidecar, 'mention/loops', {});
  });

  test('two who answer each other', async () => {
    const { hive, sidecar } = await connect();
    const sessions = [(await introduce(hive)).handle, (await introduce(hive, 'other-session')).handle];
    await exchange(sidecar, 'mention/mute', { sessions });
    await exchange(sidecar, 'mention/allow', { sessions });
  });
});

describe('sessions and turns', () => {
  test('listed and configured', async () => {
    const { hive, sidecar } = await connect();
    const { handle } = await introduce(hive);
    await exchange(sidecar, 'session/configure', { session_id: handle, roles: ['reviewer'], gate: 'remind' });
    await told(sidecar, 'session/changed', ({ roles }) => roles.length === 1);
    await exchange(sidecar, 'session/list', {});
  });

  test('interrupted where nothing runs', async () => {
    const { hive, sidecar } = await connect();
    const { session_id } = await introduce(hive);
    await exchange(sidecar, 'turn/interrupt', { session_id, by: 'ada', timeout_ms: 1_000 });
    await exchange(sidecar, 'turn/interrupt_all', { by: 'ada', timeout_ms: 1_000 });
    await exchange(sidecar, 'turn/cancel_interrupt', { session_id, by: 'ada' });
  });
});

test('what agents send unasked is listed', async () => {
  const { sidecar } = await connect();
  await exchange(sidecar, 'outreach/list', {});
});

test('what desks were told is told again to one that opens later', async () => {
  const { hive, sidecar } = await connect();
  for (const text of ['The guard gave up.', 'A loop was stopped.'])
    await hive.store.write((tx) => giveNotice(tx, { severity: 'warning', text, session_id: null }));
  const { next_cursor } = await exchange(sidecar, 'notice/list', { limit: 1 });
  const { notices } = await sidecar.request('notice/list', { cursor: next_cursor });
  expect(notices).toMatchObject([{ severity: 'warning', text: 'The guard gave up.' }]);
});

test('history finds what was asked, by its words', async () => {
  const { hive, sidecar } = await connect();
  const { ask_id } = await askFully(hive);
  await ask(hive, { question: 'Something else?', urgency: 'low' });
  await hive.prompts.respond({ ask_id, selected: ['red'], actor: HUMAN });
  await exchange(sidecar, 'history/search', { query: 'COLOUR', limit: 10 });
});

test('the doctor answers with checks of one shape, whatever the machine', async () => {
  const { sidecar } = await connect();
  const { checks } = (await sidecar.request('doctor/run')) as { checks: Record<string, unknown>[] };
  const shapes = checks.map((check) =>
    Object.fromEntries(
      Object.entries(check).map(([key, value]) => [key, value === null ? 'null' : typeof value]),
    ),
  );
  expectGolden('sidecar/doctor/run', {
    request: { method: 'doctor/run' },
    reply: { result: { checks: [shapes[0]] } },
  });
  expect(new Set(shapes.map((shape) => Object.keys(shape).join())).size).toBe(1);
});

test('an answer may come as a notification: it is stored, and nobody is answered', async () => {
  const { hive, sidecar } = await connect();
  const { ask_id } = await ask(hive, { urgency: 'low' });
  sidecar.notify('hivemind-response', { ask_id, decision: 'yes', by: 'ada', response_id: 'r1' });
  await sidecar.seen((frame) => frame.method === 'prompt/changed' && frame.params.status === 'responded');
  const replies = sidecar.frames.filter((frame: Frame) => frame.id !== undefined && frame.id !== 1);
  expect(replies).toEqual([]);
  expect((await hive.prompts.get(ask_id)).by).toBe(HUMAN.by);
});

test('every method has a golden frame', () => {
  const golden = goldenNames('sidecar');
  const missing = Object.keys(METHODS).filter((method) => !golden.includes(method.replaceAll('_', '-')));
  expect(missing, 'methods without a golden frame').toEqual([]);
});
