/** Every method and notification between Emacs and the sidecar, exactly as on the wire. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { methodsWith } from '../../src/adapters/emacs/connection.ts';
import { giveNotice } from '../../src/application/notices.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { answerDialog } from '../support/dialogs.ts';
import { ask, HUMAN, introduce, newHive, openTestHive, SEAT, SEAT_SECRET } from '../support/hive.ts';
import { trustFileOf } from '../support/human-file.ts';
import { INITIALIZE, openDeskHere, startSidecar } from '../support/sidecar.ts';
import { suspend } from '../support/suspend.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { expectGolden, goldenNames } from './golden.ts';
import { connectDesk, exchange, expectTold } from './sidecar-wire.ts';

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

describe('desks', () => {
  test('tell their focus and preferences', async () => {
    const { sidecar } = await connectDesk();
    await exchange(sidecar, 'desk/focus', { focused: true });
    await exchange(sidecar, 'desk/preferences', { do_not_disturb: true });
    const { method, params } = await sidecar.seen((frame) => frame.method === 'desk/preferences_changed');
    expectGolden('sidecar/desk/preferences-changed', { notification: { method, params } });
  });

  test('that were suspended while retention removed what they had not seen lost their place', async () => {
    const store = tempStore();
    const [hive, sidecar] = [await openTestHive(store), await startSidecar(store)];
    await suspend(sidecar.child.pid, store);
    await ask(hive, { urgency: 'low' });
    await hive.store.write(async (tx) => {
      await tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data: {} });
      await tx.retention.prune('events', '2100-01-01T00:00:00.000Z', 1_000);
    });
    process.kill(sidecar.child.pid, 'SIGCONT');
    await expectTold(sidecar, 'desk/resync');
    const { prompts } = await sidecar.request('prompt/list', { status: 'pending' });
    expect(prompts).toHaveLength(1);
  });

  test('receive notices', async () => {
    const { hive, sidecar } = await connectDesk();
    const data = { kind: 'test', text: 'Something happened.' };
    await hive.store.write((tx) =>
      tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data }),
    );
    await expectTold(sidecar, 'desk/notice');
  });
});

describe('messages and mentions', () => {
  test('posting, listing, processing', async () => {
    const { hive, sidecar } = await connectDesk();
    const session = await introduce(hive);
    const { message } = await hive.messages.post({
      body: 'Hello @Human',
      author: agentAuthor(session, 'mcp'),
    });
    await expectTold(sidecar, 'message/posted');
    await expectTold(sidecar, 'mention/changed');
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
    const { hive, sidecar } = await connectDesk();
    const sessions = [(await introduce(hive)).handle, (await introduce(hive, 'other-session')).handle];
    const loops = async (): Promise<unknown> => (await sidecar.request('mention/loops')).loops;
    await exchange(sidecar, 'mention/settle_loop', { sessions, state: 'muted' });
    expect(await loops()).toMatchObject([{ state: 'muted' }]);
    await sidecar.request('mention/settle_loop', { sessions, state: 'allowed' });
    expect(await loops()).toEqual([]);
  });
});

describe('sessions and turns', () => {
  test('listed and configured', async () => {
    const { hive, sidecar } = await connectDesk();
    const { handle } = await introduce(hive);
    await exchange(sidecar, 'session/configure', { session_id: handle, roles: ['reviewer'], gate: 'remind' });
    await expectTold(sidecar, 'session/changed', ({ roles }) => roles.length === 1);
    await exchange(sidecar, 'session/list', {});
  });

  test('interrupted where nothing runs', async () => {
    const { hive, sidecar } = await connectDesk();
    const { session_id } = await introduce(hive);
    await exchange(sidecar, 'turn/interrupt', { session_id, by: 'ada', timeout_ms: 1_000 });
    await exchange(sidecar, 'turn/interrupt_all', { by: 'ada', timeout_ms: 1_000 });
    await exchange(sidecar, 'turn/cancel_interrupt', { session_id, by: 'ada' });
  });
});

describe('agents of other packages in Emacs', () => {
  const AGENT = { session_id: 'editor-golden', client: 'Gemini', directory: '/demo' };
  const DIALOG = {
    session_id: 'editor-golden',
    key: 'golden-1',
    kind: 'execute',
    input: { command: 'make' },
    header: 'make',
    options: [
      { id: 'once', label: 'Allow', description: 'This once', refuses: false, once: true },
      { id: 'no', label: 'Reject', description: 'Refuse this once', refuses: true, once: true },
    ],
    takes_notes: true,
  };

  test('their sessions, turns and dialogs, answered at a desk', async () => {
    const { hive, sidecar } = await connectDesk();
    await exchange(sidecar, 'session/introduce', AGENT);
    await exchange(sidecar, 'turn/begin', { session_id: 'editor-golden' });
    const { prompts } = await exchange(sidecar, 'dialog/open', DIALOG);
    await answerDialog(hive, prompts[0].ask_id, 'Reject', 'Use ninja.');
    await expectTold(sidecar, 'dialog/answered');
    await exchange(sidecar, 'dialog/handed', { key: 'golden-1' });
    await sidecar.request('dialog/open', { ...DIALOG, key: 'golden-2' });
    await exchange(sidecar, 'dialog/close', {
      key: 'golden-2',
      reason: 'answered_elsewhere',
      decision: 'Reject',
    });
    await exchange(sidecar, 'turn/end', { session_id: 'editor-golden', stop_reason: 'end_turn' });
    await exchange(sidecar, 'session/end', { session_id: 'editor-golden' });
  });

  test('are stopped and woken by their editor', async () => {
    const { hive, sidecar } = await connectDesk();
    await sidecar.request('session/introduce', AGENT);
    const { turn_id } = await sidecar.request('turn/begin', { session_id: 'editor-golden' });
    const outcome = hive.interrupts.interrupt({ session: 'editor-golden', turn_id, actor: HUMAN });
    await expectTold(sidecar, 'session/interrupt');
    await sidecar.request('turn/end', { session_id: 'editor-golden', stop_reason: 'cancelled' });
    expect(await outcome).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted' });
    const session = await hive.sessions.resolve('editor-golden');
    const { prompt } = await hive.prompts.ask({ question: 'Deploy?', options: ['yes', 'no'] }, session);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    await expectTold(sidecar, 'session/wake');
  });

  test('are refused requests for a session that was not introduced', async () => {
    const { sidecar } = await connectDesk();
    await exchange(sidecar, 'turn/begin', { session_id: 'editor-unknown' }, 'turn/begin-unknown');
  });
});

test('a further seat is registered by a desk whose own key is, and by no other', async () => {
  const laptop = { name: 'ada@laptop', key: 'A'.repeat(43) };
  const keyless = await openDeskHere(tempStore());
  await expect(keyless.request('seat/register', laptop)).rejects.toThrow(/A further key is registered in/);
  const env = { XDG_CONFIG_HOME: tempFolder() };
  const sidecar = await openDeskHere(tempStore(), { env, seat_key: SEAT_SECRET });
  await exchange(sidecar, 'seat/register', laptop);
});

test('a phone is paired at a desk, listed, let allow permissions, and revoked', async () => {
  const { store, hive } = await newHive();
  const env = { XDG_CONFIG_HOME: tempFolder() };
  const sidecar = await openDeskHere(store, { env, seat_key: SEAT_SECRET });
  await expect(sidecar.request('phone/invite', {})).rejects.toThrow(/No inbox is served/);
  // The random parts, and the long ones, have the same form each time.
  const steady = { code: '7K3M-9Q2X', qr_svg: '<svg …>', qr_blocks: '█▀▀█ …', phrase: 'able acid also army' };
  const request = { method: 'phone/invite', params: { url: 'https://hive.example.org' } };
  const { code, ...invited } = await sidecar.request(request.method, request.params);
  expect([invited.qr_svg.slice(0, 4), invited.qr_blocks.slice(0, 4)]).toEqual(['<svg', '████']);
  const address = invited.address.replace(code, steady.code);
  const { phrase: _, ...shown } = steady;
  expectGolden('sidecar/phone/invite', { request, reply: { result: { ...invited, ...shown, address } } });
  expect(await sidecar.request('phone/paired', { code })).toEqual({ phone: null, phrase: null });
  const key = 'A'.repeat(43);
  const { device_id } = await devicesOf(hive).pair({ code, name: "Ada's phone", key });
  const paired = await sidecar.request('phone/paired', { code });
  expect(paired.phrase).toMatch(/^[a-z]+( [a-z]+){3}$/);
  expectGolden('sidecar/phone/paired', {
    request: { method: 'phone/paired', params: { code: steady.code } },
    reply: { result: { ...paired, phrase: steady.phrase } },
  });
  await exchange(sidecar, 'phone/confirm', { device_id, key });
  await exchange(sidecar, 'phone/allow', { device_id });
  await exchange(sidecar, 'phone/list', {});
  await exchange(sidecar, 'phone/revoke', { device_id });
  await expectTold(sidecar, 'phone/changed', ({ state }) => state === 'revoked');
  const { seats } = JSON.parse(readFileSync(trustFileOf(env.XDG_CONFIG_HOME), 'utf8')) as {
    seats: unknown[];
  };
  expect(seats, 'the key of the phone is gone, and that of the desk is there').toMatchObject([
    { key: SEAT.key },
  ]);
});

test('what agents send unasked is listed', async () => {
  const { sidecar } = await connectDesk();
  await exchange(sidecar, 'outreach/list', {});
});

test('notices that desks received are sent again to one that opens later', async () => {
  const { hive, sidecar } = await connectDesk();
  for (const text of ['The guard gave up.', 'A loop was stopped.'])
    await hive.store.write((tx) => giveNotice(tx, { severity: 'warning', text, session_id: null }));
  const { next_cursor } = await exchange(sidecar, 'notice/list', { limit: 1 });
  const { notices } = await sidecar.request('notice/list', { cursor: next_cursor });
  expect(notices).toMatchObject([{ severity: 'warning', text: 'The guard gave up.' }]);
});

test('the doctor answers with checks of one shape, whatever the machine', async () => {
  const sidecar = await startSidecar(tempStore());
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

test('every method has a golden frame', async () => {
  const golden = goldenNames('sidecar');
  const methods = methodsWith(await emacsExtensions());
  const missing = Object.keys(methods).filter((method) => !golden.includes(method.replaceAll('_', '-')));
  expect(missing, 'methods without a golden frame').toEqual([]);
});
