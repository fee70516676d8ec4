/**
 * Pushes to a phone: a real subscription at a push service on loopback, which decrypts what it gets.
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag sqlite
 * @module-tag popup
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PhoneOptions } from '../../src/application/phones.ts';
import type { PushSender } from '../../src/application/world.ts';
import type { PreferenceChanges } from '../../src/domain/preferences.ts';
import { vapidKeys } from '../../src/infrastructure/push/vapid.ts';
import { createWebPush } from '../../src/infrastructure/push/web-push.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive, withoutQuotas } from '../support/hive.ts';
import { pairDevice, postTo, serveInbox } from '../support/inbox.ts';
import { recorded } from '../support/popup-trail.ts';
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
  onTestFinished(
    hive.startPhones(sender, { seat: SEAT, name: 'inbox-1', retries_ms: [10, 10, 10], ...options }),
  );
  const { url } = await serveInbox(hive, sender);
  const device = await pairDevice(hive, url);
  const reply = await postTo(url, 'push', { subscription: service.subscribe() }, await device.cookie());
  expect(reply.status).toBe(200);
  return {
    hive,
    service,
    sender,
    device_id: device.device_id,
    pushes: (count) => eventually(() => service.received.length === count, 10_000, `${count} pushes`),
  };
}

/** A second question, so that everything about what was asked before has happened when its push arrives. */
async function marker({ hive, service }: World): Promise<void> {
  const { ask_id } = await ask(hive, { question: 'The last one?', urgency: 'critical' });
  await eventually(() => service.received.some(({ message }) => message.show?.tag === ask_id));
}

describe('a question', () => {
  test('arrives encrypted and signed, with its text, its agent and its two options', async () => {
    const { hive, service, sender, pushes } = await world();
    const { ask_id, agent } = await ask(hive, {
      question: 'Ship it?',
      options: ['Yes', 'No'],
      header: 'Release',
    });
    await pushes(1);
    const [{ headers, message, bytes } = expect.fail()] = service.received;
    expect(message).toEqual({
      show: {
        tag: ask_id,
        ask_id,
        agent,
        title: `${agent} · demo · Release`,
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
    expect(claims).toMatchObject({ aud: service.origin, sub: expect.stringMatching(/^mailto:/) });
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

  test('that is critical is urgent for the push service too', async () => {
    const { hive, service, pushes } = await world();
    await ask(hive, { urgency: 'critical' });
    await pushes(1);
    expect(service.received[0]).toMatchObject({
      headers: { urgency: 'high' },
      message: { show: { critical: true } },
    });
  });

  test('of low urgency is not pushed', async () => {
    const w = await world();
    const { ask_id } = await ask(w.hive, { urgency: 'low' });
    expect(await recorded(w.hive, ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'low_urgency' });
    await marker(w);
    expect(w.service.received).toHaveLength(1);
  });

  test('that waited before the phone took notifications, or while nobody served, is pushed', async () => {
    const hive = await openTestHive();
    const { ask_id } = await ask(hive);
    const service = await startPushService();
    const sender = createWebPush({ keys: vapidKeys(`${tempFolder()}/push-key`), loopback: true });
    const { url } = await serveInbox(hive, sender);
    const device = await pairDevice(hive, url);
    await hive.devices.setPush(device.device_id, service.subscribe());
    onTestFinished(hive.startPhones(sender, { seat: SEAT, name: 'inbox-1' }));
    await eventually(() => service.received.length === 1);
    expect(service.received[0]?.message.show?.tag).toBe(ask_id);
  });

  test('is pushed once, however many processes serve', async () => {
    const w = await world();
    onTestFinished(w.hive.startPhones(w.sender, { seat: SEAT, name: 'inbox-2' }));
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

test.each<[string, PreferenceChanges, string]>([
  ['quiet hours', { quiet_hours: { from: '00:00', to: '00:00' } }, 'quiet_hours'],
  ['do-not-disturb', { do_not_disturb: true }, 'do_not_disturb'],
  ['a muted project', { muted_projects: ['demo'] }, 'muted_project'],
  ['notifications that are never wanted', { notify_when: 'never' }, 'notify_never'],
])('%s of its human keep a phone silent', async (_what, preferences, reason) => {
  const w = await world({ preferences });
  const { ask_id } = await ask(w.hive);
  expect(await recorded(w.hive, ask_id)).toMatchObject({ outcome: 'suppressed', reason });
  expect(w.service.tried).toBe(0);
});

describe('while a desk of its human is attended', () => {
  test('a phone gets what is critical, and the rest once nobody has been there for phone_after seconds', async () => {
    const w = await world({ preferences: { phone_after: 1 }, options: { look_ms: 20 } });
    const desk = await w.hive.desks.open({ seat: SEAT, pid: process.pid, client: 'test' });
    onTestFinished(() => desk.close());
    await desk.setFocused(true);
    const { ask_id } = await ask(w.hive);
    await marker(w);
    expect(w.service.received).toHaveLength(1);
    await desk.setFocused(false);
    await w.pushes(2);
    expect(w.service.received[1]?.message.show?.tag).toBe(ask_id);
  });

  test('a phone of somebody else gets everything', async () => {
    const w = await world();
    const desk = await w.hive.desks.open({ seat: 'bob@other', pid: process.pid, client: 'test' });
    onTestFinished(() => desk.close());
    await desk.setFocused(true);
    await ask(w.hive);
    await w.pushes(1);
  });
});

describe('a push service', () => {
  test.each([404, 410, 403])(
    'that says %i ends the subscription, and the human learns why',
    async (status) => {
      const w = await world();
      w.service.answers = [status];
      const { ask_id } = await ask(w.hive);
      const { outcome, reason } = await recorded(w.hive, ask_id);
      expect({ outcome, reason }).toEqual({
        outcome: 'failed',
        reason: expect.stringMatching(/^Ada's phone could not be notified: The (browser|push service) /),
      });
      const device = await w.hive.devices.find(w.device_id);
      expect(device).toMatchObject({ push: null, push_failed: expect.stringMatching(/^The /) });
      expect(w.service.tried).toBe(1);
    },
  );

  test.each<[string, PushService['answers'][number]]>([
    ['429', { status: 429, retry_after: '0' }],
    ['503', 503],
    ['429 and a date', { status: 429, retry_after: new Date(0).toUTCString() }],
  ])('that says %s is asked again', async (_what, answer) => {
    const w = await world();
    w.service.answers = [answer, answer];
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({ outcome: 'sent' });
    expect(w.service.tried).toBe(3);
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
    expect((await w.hive.devices.find(w.device_id)).push).not.toBeNull();
  });

  test('that asks for more patience than a minute gets no second try', async () => {
    const w = await world();
    w.service.answers = [{ status: 429, retry_after: '3600' }];
    const { ask_id } = await ask(w.hive);
    expect(await recorded(w.hive, ask_id)).toMatchObject({ outcome: 'failed' });
    expect(w.service.tried).toBe(1);
  });
});

test('a phone that was revoked gets nothing more, from that moment on', async () => {
  const w = await world();
  const { url } = await serveInbox(w.hive, w.sender);
  const tablet = await pairDevice(w.hive, url, { name: 'Tablet' });
  const subscription = w.service.subscribe();
  expect((await postTo(url, 'push', { subscription }, await tablet.cookie())).status).toBe(200);
  await w.hive.devices.revoke(w.device_id, 'ada');
  expect(await w.hive.devices.find(w.device_id)).toMatchObject({ push: null });
  // Each arrives on the tablet alone.
  await ask(w.hive);
  await w.pushes(1);
  await ask(w.hive);
  await w.pushes(2);
  expect(w.service.tried).toBe(2);
});
