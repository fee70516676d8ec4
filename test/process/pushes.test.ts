/**
 * Pushes to a phone: a real subscription at a push service on loopback, which decrypts what it gets.
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag popup
 */
import { hostname } from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PreferenceChanges } from '../../src/domain/preferences.ts';
import { settingNamed } from '../../src/domain/settings.ts';
import { type PhoneOptions, startPhones } from '../../src/extensions/inbox/phones.ts';
import { vapidKeys } from '../../src/extensions/inbox/push/vapid.ts';
import { createWebPush } from '../../src/extensions/inbox/push/web-push.ts';
import { closingOf, type PushSender } from '../../src/extensions/inbox/pushes.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { newKey } from '../support/devices.ts';
import { ask, HUMAN, openTestHive, withoutQuotas } from '../support/hive.ts';
import { pairDevice, postTo, serveInbox } from '../support/inbox.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { post } from '../support/messages.ts';
import { agent } from '../support/outreach.ts';
import { outcomeIs, recorded } from '../support/popup-trail.ts';
import { type PushService, startPushService, vapidClaims } from '../support/push-service.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const SEAT = 'ada@test';

interface World {
  hive: OpenedHive;
  service: PushService;
  sender: PushSender;
  device_id: string;
  /** Until so many pushes have arrived. */
  pushes(count: number): Promise<void>;
}

/** A hive that serves the inbox, and a paired phone that has turned notifications on. */
async function world({
  preferences = {},
  options = {},
  limit_ms = 30_000,
}: {
  preferences?: PreferenceChanges;
  options?: Partial<PhoneOptions>;
  limit_ms?: number;
} = {}): Promise<World> {
  const hive = await withoutQuotas(await openTestHive());
  await hive.desks.setPreferences(SEAT, preferences);
  const service = await startPushService();
  const sender = createWebPush({ keys: vapidKeys(`${tempFolder()}/push-key`), loopback: true, limit_ms });
  onTestFinished(startPhones(hive, sender, { name: 'inbox-1', retries_ms: [10, 10, 10], ...options }));
  const { url } = await serveInbox(hive, sender);
  const device = await pairDevice(hive, url);
  const reply = await postTo(url, 'push', { subscription: service.subscribe() }, await device.session());
  expect(reply.status).toBe(200);
  return {
    hive,
    service,
    sender,
    device_id: device.device_id,
    pushes: (count) => eventually(() => service.received.length === count, 10_000, `${count} pushes`),
  };
}

/** Another phone that takes notifications; the id of its device. */
async function addPhone({ hive, sender, service }: World, name = 'Tablet', human?: string): Promise<string> {
  const { url } = await serveInbox(hive, sender);
  const { device_id, session } = await pairDevice(hive, url, { name, ...(human && { human }) });
  const reply = await postTo(url, 'push', { subscription: service.subscribe() }, await session());
  expect(reply.status).toBe(200);
  return device_id;
}

/** A desk of the human's, who is at it. */
async function attend({ hive }: World): Promise<{ leave(): Promise<void> }> {
  const desk = closedAtEnd(await hive.desks.open({ seat: SEAT, pid: process.pid, client: 'test' }));
  await desk.setFocused(true);
  return { leave: async () => void (await desk.setFocused(false)) };
}

/** A second question, so that everything about what was asked before has happened when its push arrives. */
async function marker({ hive, service }: World): Promise<void> {
  const { ask_id } = await ask(hive, { question: 'The last one?', urgency: 'critical' });
  await eventually(() => service.received.some(({ message }) => message.show?.tag === ask_id));
}

describe('a question', () => {
  test('arrives encrypted and signed, with its text, its agent and its two options', async () => {
    const { hive, service, sender, pushes } = await world();
    const { ask_id, agent_title } = await ask(hive, {
      question: 'Ship it?',
      options: ['Yes', 'No'],
      header: 'Release',
    });
    await pushes(1);
    const [{ headers, message, bytes } = expect.fail()] = service.received;
    expect(message).toEqual({
      show: {
        tag: ask_id,
        kind: 'question',
        ask_id,
        screen: `ask/${ask_id}`,
        agent: agent_title,
        title: `${agent_title} · Release`,
        body: 'Ship it?',
        buttons: ['Yes', 'No'],
        critical: false,
      },
      close: [],
    });
    expect(bytes).toBeLessThan(4_096);
    expect(headers).toMatchObject({
      ttl: '86400',
      urgency: 'normal',
      topic: ask_id,
      'content-encoding': 'aes128gcm',
    });
    const claims = vapidClaims(String(headers.authorization), sender.key);
    expect(claims).toMatchObject({ aud: service.origin, sub: `mailto:postmaster@${hostname()}` });
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
  });

  test('that was answered elsewhere is taken back, in place of what the phone has not got yet', async () => {
    const { hive, service, pushes } = await world();
    const { ask_id } = await ask(hive);
    await pushes(1);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    await pushes(2);
    const taken = service.received[1];
    expect(taken?.message).toEqual({ show: null, close: [ask_id] });
    expect(taken?.headers['topic']).toBe(ask_id);
  });

  test('that waited before the phone took notifications, or while nobody served, is pushed', async () => {
    const hive = await openTestHive();
    const { ask_id } = await ask(hive);
    const service = await startPushService();
    const sender = createWebPush({ keys: vapidKeys(`${tempFolder()}/push-key`), loopback: true });
    const { url } = await serveInbox(hive, sender);
    const device = await pairDevice(hive, url);
    await devicesOf(hive).setPush(device.device_id, service.subscribe());
    onTestFinished(startPhones(hive, sender, { name: 'inbox-1' }));
    await eventually(() => service.received.length === 1);
    expect(service.received[0]?.message.show?.tag).toBe(ask_id);
  });

  test('is pushed once, however many processes serve', async () => {
    const w = await world();
    onTestFinished(startPhones(w.hive, w.sender, { name: 'inbox-2' }));
    const { ask_id } = await ask(w.hive);
    await recorded(w.hive, ask_id);
    await marker(w);
    expect(w.service.received.filter(({ message }) => message.show?.tag === ask_id)).toHaveLength(1);
  });
});

test('a permission has no buttons, whatever popups on the desktop have', async () => {
  const { hive, service, pushes } = await world();
  await hive.trust.lend({ popup_permissions: true });
  await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
  await pushes(1);
  expect(service.received[0]?.message.show).toMatchObject({ buttons: [] });
});

test('a storm of 50 questions is one push', async () => {
  const w = await world({ preferences: { phone_after: 60 } });
  await Promise.all(Array.from({ length: 50 }, () => ask(w.hive)));
  await w.pushes(1);
  const [{ message } = expect.fail()] = w.service.received;
  expect(message.show).toMatchObject({
    tag: 'storm',
    ask_id: null,
    buttons: [],
    title: '50 questions wait for you',
  });
});

// Which preferences keep a question silent is in test/unit/popups.test.ts, for phones as for the desktop.
test('quiet hours of its human keep a phone silent', async () => {
  const w = await world({ preferences: { quiet_hours: { from: '00:00', to: '00:00' } } });
  const { ask_id } = await ask(w.hive);
  expect(await recorded(w.hive, ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'quiet_hours' });
  expect(w.service.tried).toBe(0);
});

test('what came at a quiet time is pushed once that is over, many of them as one', async () => {
  const w = await world();
  const until = new Date(Date.now() + 3_000).toISOString();
  await w.hive.desks.setPreferences(SEAT, { do_not_disturb: until });
  for (let n = 0; n < 5; n += 1) await ask(w.hive);
  const titles = () => w.service.received.map(({ message }) => message.show?.title);
  await eventually(() => w.service.received.length > 0, 10_000);
  expect((await w.hive.history.now()) >= until).toBe(true);
  await eventually(() => titles().includes('5 questions wait for you'));
});

describe('a ping, a card and a mention', () => {
  const card = async ({ hive }: World) =>
    (await hive.outreach.card({ title: 'Build', description: 'All green.' }, await agent(hive, 'bg-1')))
      .outreach_id;
  const ping = async ({ hive }: World, critical = false) =>
    (await hive.outreach.ping({ message: 'Deployed.', critical }, await agent(hive, 'bg-1'))).outreach_id;
  const mentioned = async ({ hive }: World, body = '@Human look') => {
    const { mentions } = await post(hive, await agent(hive, 'main-1', 'main'), body);
    return mentions[0]?.mention_id ?? expect.fail();
  };
  const KINDS = [
    ['a ping', ping, 'outreach', 'reports', 'Deployed.'],
    ['a card', card, 'outreach', 'reports', expect.stringContaining('All green.')],
    ['a mention', mentioned, 'mention', 'messages', '@Human look'],
  ] as const;

  test.each(KINDS)('%s arrives with a link to its screen, and without a button', async (...row) => {
    const [, send, kind, screen, body] = row;
    const w = await world();
    const id = await send(w);
    await w.pushes(1);
    expect(w.service.received[0]?.message.show).toMatchObject({
      tag: id,
      kind,
      screen,
      ask_id: null,
      body,
      buttons: [],
    });
  });

  test.each(KINDS)('%s is not pushed in quiet hours', async (_what, send) => {
    const w = await world({ preferences: { quiet_hours: { from: '00:00', to: '00:00' } } });
    const id = await send(w);
    await outcomeIs('suppressed', w.hive, id, w.device_id);
    expect(w.service.tried).toBe(0);
  });

  test.each(KINDS)('of %s that could not be pushed the log says why', async (_what, send) => {
    const w = await world();
    w.service.answers = [400];
    const id = await send(w);
    await outcomeIs('failed', w.hive, id, w.device_id);
    const events = await w.hive.store.read((tx) => tx.events.of(id, 100));
    expect(events.filter(({ type }) => type === 'push/failed')).toMatchObject([
      {
        data: {
          seat: w.device_id,
          reason: "Ada's phone could not be notified: The push service answered 400.",
        },
      },
    ]);
  });

  test.each([
    ['pings', ping, 'outreach-storm', '12 messages from agents'],
    ['mentions', mentioned, 'mention-storm', '12 mentions of you'],
  ] as const)('twelve %s are one push, apart from that of questions', async (_what, send, tag, title) => {
    const w = await world();
    await agent(w.hive, 'bg-1');
    await agent(w.hive, 'main-1', 'main');
    await Promise.all(Array.from({ length: 12 }, () => send(w)));
    await w.pushes(1);
    expect(w.service.received[0]?.message.show).toMatchObject({ tag, title });
  });

  test('stay unseen for the Emacs that comes next: nobody knows whether a push was read', async () => {
    const w = await world();
    const outreach_id = await ping(w);
    const mention_id = await mentioned(w);
    await w.pushes(2);
    await outcomeIs('sent', w.hive, outreach_id, w.device_id);
    await outcomeIs('sent', w.hive, mention_id, w.device_id);
    expect(await w.hive.outreach.find(outreach_id)).toMatchObject({ status: 'unseen', shown_at: null });
    expect(await w.hive.store.read((tx) => tx.mentions.get(mention_id))).toMatchObject({
      delivered_at: null,
    });
  });

  test('a mention that was dealt with elsewhere is taken back', async () => {
    const w = await world();
    const id = await mentioned(w);
    await w.pushes(1);
    await w.hive.mentions.process({ session_id: 'human', mention_ids: [id], actor: HUMAN });
    await w.pushes(2);
    expect(w.service.received[1]?.message).toEqual({ show: null, close: [id] });
  });

  test('pings and cards that a desk has announced are not pushed, unless they are critical', async () => {
    const w = await world({ preferences: { phone_after: 1 }, options: { look_ms: 20 } });
    const { leave } = await attend(w);
    const announced = await ping(w);
    await outcomeIs('suppressed', w.hive, announced, w.device_id);
    const critical = await ping(w, true);
    await w.pushes(1);
    expect(w.service.received[0]).toMatchObject({
      headers: { urgency: 'high' },
      message: { show: { tag: critical } },
    });
    const mention = await mentioned(w);
    await leave();
    await w.pushes(2);
    expect(w.service.received[1]?.message.show?.tag).toBe(mention);
  });

  test('pings and cards are taken back, with one push, when their human comes to a desk', async () => {
    const w = await world({ options: { look_ms: 20 } });
    const ids = [await ping(w), await card(w)];
    const mention = await mentioned(w);
    await w.pushes(3);
    for (const id of [...ids, mention]) await outcomeIs('sent', w.hive, id, w.device_id);
    await attend(w);
    await w.pushes(4);
    const { show, close } = w.service.received[3]?.message ?? {};
    expect({ show, close: close?.toSorted() }).toEqual({ show: null, close: ids.toSorted() });
  });
});

test('each phone of a human gets its own push, and what is answered is taken back from each', async () => {
  const w = await world();
  await addPhone(w);
  const { ask_id } = await ask(w.hive);
  await w.pushes(2);
  await w.hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  await w.pushes(4);
  const said = w.service.received.map(({ message }) => message.show?.tag ?? message.close);
  expect(said).toEqual([ask_id, ask_id, [ask_id], [ask_id]]);
});

describe('with two humans on one store', () => {
  const QUIET = { quiet_hours: { from: '00:00', to: '00:00' } };

  test.each([
    ['ada@test', "Bob's phone"],
    ['bob@test', "Ada's phone"],
  ])('the quiet hours of %s are not those of %s', async (seat, pushed) => {
    const w = await world();
    const bob = await addPhone(w, "Bob's phone", 'bob');
    await w.hive.desks.setPreferences(seat, QUIET);
    const { ask_id } = await ask(w.hive);
    const [loud, silent] = pushed === "Bob's phone" ? [bob, w.device_id] : [w.device_id, bob];
    await outcomeIs('sent', w.hive, ask_id, loud);
    await outcomeIs('suppressed', w.hive, ask_id, silent);
    expect(w.service.received).toHaveLength(1);
  });

  test('a phone may have a preference of its own, and the rest is that of its seat', async () => {
    const w = await world({ preferences: QUIET });
    const session = await agent(w.hive, 'bg-1');
    await w.hive.desks.setPreferences(SEAT, { muted_agents: [session.handle] });
    const setting = settingNamed('quiet_hours');
    await w.hive.settings.set(setting, { from: '03:00', to: '03:01' }, w.device_id, 'cli');
    await w.hive.desks.setPreferences(w.device_id, { do_not_disturb: true });
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({ reason: 'do_not_disturb' });
    await w.hive.desks.setPreferences(w.device_id, { do_not_disturb: null, notify_when: 'always' });
    const second = await ask(w.hive);
    expect(await recorded(w.hive, second.ask_id)).toMatchObject({ outcome: 'sent' });
    const muted = await w.hive.outreach.card({ title: 'x' }, session);
    await outcomeIs('suppressed', w.hive, muted.outreach_id, w.device_id);
  });

  test('a phone that was paired for somebody else has only what is set for it', async () => {
    const w = await world({ preferences: QUIET });
    const { code } = await devicesOf(w.hive).invite('bob');
    expect(await devicesOf(w.hive).pair({ code, name: 'Tablet', key: newKey().key })).toMatchObject({
      human: 'bob',
      seat: null,
    });
    const settings = await w.hive.settings.ofPhone({ device_id: 'device-1', seat: null });
    expect(new Set(settings.map(({ origin }) => origin))).toEqual(new Set(['default']));
  });
});

test('while a desk of its human is attended, a phone gets what is critical, and the rest once nobody has been there for phone_after seconds', async () => {
  const w = await world({ preferences: { phone_after: 1 }, options: { look_ms: 20 } });
  const { leave } = await attend(w);
  const { ask_id } = await ask(w.hive);
  await marker(w);
  expect(w.service.received).toHaveLength(1);
  await leave();
  await w.pushes(2);
  expect(w.service.received[1]?.message.show?.tag).toBe(ask_id);
});

test.each([
  ['https://inbox.example/inbox/', 'https://inbox.example/inbox/'],
  ['http://127.0.0.1:7373/inbox/', `mailto:postmaster@${hostname()}`],
  [null, `mailto:postmaster@${hostname()}`],
])('the contact of a push is the https address of the inbox: %s gives %s', async (address, sub) => {
  const service = await startPushService();
  const keys = vapidKeys(`${tempFolder()}/push-key`);
  const sender = createWebPush({ keys, loopback: true, contact: () => address });
  const reply = await sender.send(service.subscribe(), closingOf(['x']), new AbortController().signal);
  expect(reply).toEqual({ status: 201, retry_after: null, text: '' });
  const [received] = service.received;
  expect(vapidClaims(String(received?.headers.authorization), sender.key)).toMatchObject({ sub });
});

test.each([
  ['a reason', '{"reason":"BadJwtToken"}', '{"reason":"BadJwtToken"}'],
  ['nothing', '', ''],
  ['a page without end', 'x'.repeat(5_000_000), `${'x'.repeat(299)}…`],
  ['control characters', 'no\u0000\u001b[31m', expect.not.stringContaining('\u0000')],
])('what a push service says with a refusal is kept as far as it is short: %s', async (_what, text, kept) => {
  const service = await startPushService();
  service.answers = [{ status: 403, text }];
  const sender = createWebPush({ keys: vapidKeys(`${tempFolder()}/push-key`), loopback: true });
  const reply = await sender.send(service.subscribe(), closingOf(['x']), new AbortController().signal);
  expect(reply).toEqual({ status: 403, retry_after: null, text: kept });
});

describe('a push service', () => {
  test.each([404, 410])('that says %i ends the subscription, and the human learns why', async (status) => {
    const w = await world();
    w.service.answers = [status];
    const { ask_id } = await ask(w.hive);
    const { outcome, reason } = await recorded(w.hive, ask_id);
    expect({ outcome, reason }).toEqual({
      outcome: 'failed',
      reason: expect.stringMatching(/^Ada's phone could not be notified: The (browser|push service) /),
    });
    const device = await devicesOf(w.hive).find(w.device_id);
    expect(device).toMatchObject({ push: null, push_failed: expect.stringMatching(/^The /) });
    expect(w.service.tried).toBe(1);
  });

  test('that refuses the push for a fault of ours: what it says is shown, and the subscription stays', async () => {
    const w = await world();
    w.service.answers = [{ status: 403, text: '{"reason":"BadJwtToken"}' }];
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({
      outcome: 'failed',
      reason: `Ada's phone could not be notified: The push service answered 403: {"reason":"BadJwtToken"}`,
    });
    expect(await devicesOf(w.hive).find(w.device_id)).toMatchObject({
      push: { endpoint: expect.any(String) },
      push_failed: 'The push service answered 403: {"reason":"BadJwtToken"}',
    });
    const next = await ask(w.hive);
    expect(await recorded(w.hive, next.ask_id)).toMatchObject({ outcome: 'sent' });
    expect((await devicesOf(w.hive).find(w.device_id)).push_failed).toBeNull();
  });

  test('that does not answer is asked again', async () => {
    const w = await world({ limit_ms: 300 });
    w.service.answers = ['silence'];
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({ outcome: 'sent' });
    expect(w.service.tried).toBe(2);
  });

  test('that keeps failing is left alone after four tries, which the trail of the question says', async () => {
    const w = await world();
    w.service.answers = [500, 502, 503, 504];
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({
      outcome: 'failed',
      reason: "Ada's phone could not be notified: The push service answered 504.",
    });
    expect(w.service.tried).toBe(4);
    // The subscription is still good.
    expect((await devicesOf(w.hive).find(w.device_id)).push).not.toBeNull();
  });

  test('that never answers is left alone after four tries too, with the reason in the trail of the question', async () => {
    const w = await world({ limit_ms: 40 });
    w.service.answers = Array.from({ length: 20 }, () => 'silence' as const);
    // Under load a try may end before the service has seen it.
    const send = vi.spyOn(w.sender, 'send');
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({
      outcome: 'failed',
      reason: "Ada's phone could not be notified: The push service did not answer within 0.04 s.",
    });
    expect(send).toHaveBeenCalledTimes(4);
    // The subscription is still good.
    expect((await devicesOf(w.hive).find(w.device_id)).push).not.toBeNull();
  });
});

test('a phone that was revoked gets nothing more, from that moment on', async () => {
  const w = await world();
  await addPhone(w);
  await devicesOf(w.hive).revoke(w.device_id, 'ada');
  expect(await devicesOf(w.hive).find(w.device_id)).toMatchObject({ push: null });
  // Each arrives on the tablet alone.
  await ask(w.hive);
  await w.pushes(1);
  await ask(w.hive);
  await w.pushes(2);
  expect(w.service.tried).toBe(2);
});
