/**
 * A device says where its notifications go, and an agent what is in them: each test is an attack with one of these.
 *
 * @module-tag untrusted
 * @module-tag http
 */
import { createECDH, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PushTarget } from '../../src/domain/devices.ts';
import { startPhones } from '../../src/extensions/inbox/phones.ts';
import { vapidKeys } from '../../src/extensions/inbox/push/vapid.ts';
import { createWebPush, isPublicAddress } from '../../src/extensions/inbox/push/web-push.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { ask, eventsOf, openTestHive } from '../support/hive.ts';
import { pairDevice, postTo, serveInbox } from '../support/inbox.ts';
import { recorded } from '../support/popup-trail.ts';
import { startPushService } from '../support/push-service.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const keys = () => vapidKeys(join(tempFolder(), 'push-key'));

function target(endpoint: string): PushTarget {
  const p256dh = createECDH('prime256v1').generateKeys('base64url');
  return { endpoint, keys: { p256dh, auth: randomBytes(16).toString('base64url') } };
}

describe('an endpoint inside the network of the server', () => {
  test.each([
    'http://push.example.org/x',
    'https://127.0.0.1/x',
    'https://127.1/x',
    'https://2130706433/x',
    'https://0x7f000001/x',
    'https://0/x',
    'https://10.1.2.3/x',
    'https://172.20.0.1/x',
    'https://192.168.1.1/x',
    'https://100.100.100.200/x',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/x',
    'https://[::ffff:127.0.0.1]/x',
    'https://[::ffff:a00:1]/x',
    'https://[64:ff9b::7f00:1]/x',
    'https://[2002:7f00:1::]/x',
    'https://[fe80::1]/x',
    'https://[fd00::1]/x',
    'https://localhost/x',
    'https://router/x',
    'https://printer.local/x',
    'https://db.internal/x',
    'https://user:pass@push.example.org/x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://',
    `https://push.example.org/${'x'.repeat(1_000)}`,
  ])('%s is refused, and nothing is stored', async (endpoint) => {
    const hive = await openTestHive();
    const { url } = await serveInbox(hive, createWebPush({ keys: keys() }));
    const device = await pairDevice(hive, url);
    const reply = await postTo(url, 'push', { subscription: target(endpoint) }, await device.session());
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'invalid_input' } } });
    expect((await devicesOf(hive).find(device.device_id)).push).toBeNull();
  });

  test('is not connected to by a name that points there, at the moment of connecting', async () => {
    let came = 0;
    const server = createServer(() => {
      came += 1;
    });
    server.on('connection', () => {
      came += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    // Resolved by the system without any network: it is this machine.
    const { port } = server.address() as AddressInfo;
    const sender = createWebPush({
      keys: keys(),
      names: (name) => (name === 'push.example.org' ? '127.0.0.1' : name),
    });
    const signal = new AbortController().signal;
    const message = { show: null, close: ['ask-1'] };
    const reply = await sender.send(target(`https://push.example.org:${port}/x`), message, signal);
    expect(reply).toMatchObject({ status: null, text: expect.stringContaining('EPRIVATE') });
    expect(came).toBe(0);
  });

  test('is not reached through a redirection of a push service', async () => {
    let came = 0;
    const inner = createServer((_request, response) => {
      came += 1;
      response.end();
    });
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void inner.close());
    const { port } = inner.address() as AddressInfo;
    const outer = createServer((_request, response) => {
      response.writeHead(307, { Location: `http://127.0.0.1:${port}/` });
      response.end();
    });
    await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void outer.close());
    const sender = createWebPush({ keys: keys(), loopback: true });
    const signal = new AbortController().signal;
    const endpoint = `http://127.0.0.1:${(outer.address() as AddressInfo).port}/x`;
    expect(await sender.send(target(endpoint), { show: null, close: ['a'] }, signal)).toMatchObject({
      status: 307,
    });
    expect(came).toBe(0);
  });

  test('is refused and not connected to in a network of an interface of this machine, public as it may look', async () => {
    const script = join(tempFolder(), 'own.ts');
    const from = (path: string): string => JSON.stringify(join(ROOT, path));
    writeFileSync(
      script,
      `import { createECDH, randomBytes } from 'node:crypto';
import { vapidKeys } from ${from('src/extensions/inbox/push/vapid.ts')};
import { createWebPush } from ${from('src/extensions/inbox/push/web-push.ts')};
const p256dh = createECDH('prime256v1').generateKeys('base64url');
const keys = { p256dh, auth: randomBytes(16).toString('base64url') };
const sender = createWebPush({ keys: vapidKeys(process.argv[2]), names: () => '2a01:4f8:1:2::5' });
const refusal = (host) => sender.refusal({ endpoint: 'https://' + host + '/x', keys });
const signal = new AbortController().signal;
const { text } = await sender.send({ endpoint: 'https://push.example.org/x', keys }, { show: null, close: ['a'] }, signal);
const hosts = ['[2a01:4f8:1:2::5]', '[2a01:4f8:1:2:7::9]', '5.9.1.1', '5.9.1.200', '[2a01:4f8:1:3::5]', '5.9.2.1'];
console.log(JSON.stringify({ refused: hosts.filter((host) => refusal(host) !== null), text }));
`,
    );
    const addresses = ['2a01:4f8:1:2::5/64', '5.9.1.1/24'].map((one) => `ip addr add ${one} dev lo`);
    const loader = join(ROOT, 'test/support/sql-loader.mjs');
    const words = [process.execPath, '--import', loader, script, join(tempFolder(), 'push-key')];
    const line = `${['ip link set lo up', ...addresses].join(' && ')} && exec "$@"`;
    const env = { ...childEnvironment(tempStore()), PATH: '/usr/sbin:/sbin:/usr/bin:/bin' };
    const child = spawnChild('unshare', ['-rn', 'sh', '-c', line, 'sh', ...words], env);
    expect(JSON.parse(await outputOf(child))).toEqual({
      refused: ['[2a01:4f8:1:2::5]', '[2a01:4f8:1:2:7::9]', '5.9.1.1', '5.9.1.200'],
      text: expect.stringContaining('EPRIVATE'),
    });
  });

  test.each([
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['192.168.0.1', false],
    ['::', false],
    ['::ffff:8.8.8.8', true],
    ['not an address', false],
  ])('%s is public: %s', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });
});

describe('a subscription', () => {
  test.each<[string, object]>([
    ['a key that is no point of the curve', { p256dh: `B${'A'.repeat(86)}` }],
    ['a key of another length', { p256dh: 'BAAA' }],
    ['a secret of another length', { auth: 'AAAA' }],
  ])('with %s is refused', async (_what, wrong) => {
    const hive = await openTestHive();
    const service = await startPushService();
    const { url } = await serveInbox(hive, createWebPush({ keys: keys(), loopback: true }));
    const device = await pairDevice(hive, url);
    const good = service.subscribe();
    const subscription = { ...good, keys: { ...good.keys, ...wrong } };
    expect((await postTo(url, 'push', { subscription }, await device.session())).status).toBe(400);
  });

  test('without a session, or of a device that was revoked, is refused', async () => {
    const hive = await openTestHive();
    const service = await startPushService();
    const { url } = await serveInbox(hive, createWebPush({ keys: keys(), loopback: true }));
    const subscription = service.subscribe();
    expect((await postTo(url, 'push', { subscription })).status).toBe(401);
    const device = await pairDevice(hive, url);
    const session = await device.session();
    await devicesOf(hive).revoke(device.device_id, 'ada');
    expect((await postTo(url, 'push', { subscription }, session)).status).toBe(401);
    // A request that was let in just before.
    await devicesOf(hive).setPush(device.device_id, subscription);
    expect((await devicesOf(hive).find(device.device_id)).push).toBeNull();
  });

  test('of the phone of another human is refused; of the same browser paired again it moves', async () => {
    const hive = await openTestHive();
    const service = await startPushService();
    const { url } = await serveInbox(hive, createWebPush({ keys: keys(), loopback: true }));
    const subscription = service.subscribe();
    const adas = await pairDevice(hive, url);
    expect((await postTo(url, 'push', { subscription }, await adas.session())).status).toBe(200);
    const bobs = await pairDevice(hive, url, { name: "Bob's phone", human: 'bob' });
    expect(await postTo(url, 'push', { subscription }, await bobs.session())).toMatchObject({ status: 403 });
    expect((await devicesOf(hive).find(adas.device_id)).push).toEqual(subscription);
    const again = await pairDevice(hive, url, { name: "Ada's phone again" });
    expect((await postTo(url, 'push', { subscription }, await again.session())).status).toBe(200);
    expect((await devicesOf(hive).find(adas.device_id)).push).toBeNull();
    expect((await devicesOf(hive).find(again.device_id)).push).toEqual(subscription);
  });

  test('of a device cannot be changed by naming it in the session of another', async () => {
    const hive = await openTestHive();
    const service = await startPushService();
    const { url } = await serveInbox(hive, createWebPush({ keys: keys(), loopback: true }));
    const [one, two] = [await pairDevice(hive, url), await pairDevice(hive, url, { name: 'Tablet' })];
    const subscription = service.subscribe();
    await postTo(url, 'push', { subscription }, await one.session());
    await postTo(url, 'push', { subscription: null, device_id: one.device_id }, await two.session());
    expect((await devicesOf(hive).find(one.device_id)).push).toEqual(subscription);
  });

  test('that has ended does not end the one that came after it', async () => {
    const hive = await openTestHive();
    const service = await startPushService();
    const { url } = await serveInbox(hive);
    const { device_id } = await pairDevice(hive, url);
    const [old, next] = [service.subscribe(), service.subscribe()];
    await devicesOf(hive).setPush(device_id, next);
    await devicesOf(hive).endPush(device_id, old.endpoint, 'It is gone.');
    expect(await devicesOf(hive).find(device_id)).toMatchObject({ push: next, push_failed: null });
  });
});

test('what an agent writes is text in a notification, and fits into a push', async () => {
  const hive = await openTestHive();
  const service = await startPushService();
  const sender = createWebPush({ keys: keys(), loopback: true });
  const { url } = await serveInbox(hive, sender);
  const device = await pairDevice(hive, url);
  await devicesOf(hive).setPush(device.device_id, service.subscribe());
  onTestFinished(startPhones(hive, sender, { name: 'inbox-1' }));
  const hostile = `\u001b]0;x\u0007\u202e<b>${'\u{1f600}\u200b'.repeat(1_900)}`;
  const { ask_id } = await ask(hive, { question: hostile, options: ['yes\u200b', 'no'] });
  expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
  await eventually(() => service.received.length === 1);
  const [{ bytes, message } = expect.fail()] = service.received;
  expect(bytes).toBeLessThanOrEqual(4_096);
  expect(JSON.stringify(message)).not.toMatch(/\\u00|\u202e|\u200b/);
  expect(message.show?.buttons).toEqual([]);
});

describe('the key that signs pushes', () => {
  test('is in a file that only its person can read, and is made once', () => {
    const path = join(tempFolder(), 'state', 'push-key');
    const made = vapidKeys(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(vapidKeys(path)).toEqual(made);
  });

  test('that is damaged is not replaced in silence: phones would no longer be reached', () => {
    const path = join(tempFolder(), 'push-key');
    writeFileSync(path, '{"publicKey":');
    expect(() => vapidKeys(path)).toThrow(/does not hold the keys for notifications/);
    expect(readFileSync(path, 'utf8')).toBe('{"publicKey":');
  });

  test('is nowhere in the store, and its private half in no reply', async () => {
    const hive = await openTestHive();
    const pair = keys();
    const service = await startPushService();
    const { url } = await serveInbox(hive, createWebPush({ keys: pair, loopback: true }));
    const device = await pairDevice(hive, url);
    const reply = await device.signIn();
    await postTo(url, 'push', { subscription: service.subscribe() }, await device.session());
    expect(reply.body['push_key']).toBe(pair.publicKey);
    const everything = JSON.stringify([reply.body, await devicesOf(hive).list(), await eventsOf(hive)]);
    expect(everything).not.toContain(pair.privateKey);
  });
});
