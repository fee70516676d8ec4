/**
 * The inbox is a web server beside a browser that opens anybody's pages: each test is an attack on that door.
 *
 * @module-tag untrusted
 * @module-tag http
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../src/application/ports.ts';
import { HiveError } from '../../src/domain/errors.ts';
import { pairingText, sessionText } from '../../src/extensions/inbox/device.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, introduce, noticesOf, openTestHive } from '../support/hive.ts';
import {
  openInbox,
  openPairedInbox,
  pairDevice,
  postTo,
  serveInbox,
  signedAnswer,
} from '../support/inbox.ts';
import { rawRequest } from '../support/serve.ts';
import { eventually } from '../support/wait.ts';

/** The same hive, whose inbox sees the store otherwise. */
function withStore(real: OpenedHive, differing: Partial<Store>): OpenedHive {
  const store = Object.assign(Object.create(real.store) as Store, differing);
  return Object.assign(Object.create(real) as OpenedHive, { parts: { ...real.parts, store } });
}

describe('a request without a session', () => {
  test.each([
    ['a call', 'call', { method: 'prompt/list' }],
    ['a call with a made-up session', 'call', { method: 'prompt/list' }],
  ])('%s is refused', async (what, path, body) => {
    const { url } = await serveInbox(await openTestHive());
    const headers = what.includes('made-up') ? { 'Hive-Session': 'A'.repeat(43) } : {};
    expect(await postTo(url, path, body, headers)).toMatchObject({
      status: 401,
      body: { error: { code: 'not_signed_in' } },
    });
  });

  test('gets no stream', async () => {
    const { url } = await serveInbox(await openTestHive());
    expect((await fetch(`${url}/events`)).status).toBe(401);
  });

  test('gets the page, which nobody can frame and which loads nothing from elsewhere', async () => {
    const { url } = await serveInbox(await openTestHive());
    const { status, headers } = await fetch(url);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
    );
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|\*|http/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });
});

describe('another page in the same browser', () => {
  test.each([
    ['its Origin', { Origin: 'https://evil.example' }, 403],
    ['an opaque Origin', { Origin: 'null' }, 403],
    ['an Origin of the same host on another port', { Origin: 'http://127.0.0.1:1' }, 403],
    ['an Origin of the same name without TLS', { 'X-Forwarded-Proto': 'https' }, 403],
    ['no Origin', { Origin: '' }, 403],
    ['a form', { 'Content-Type': 'text/plain' }, 400],
    ['a cross-site fetch', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['a sibling site', { 'Sec-Fetch-Site': 'same-site' }, 403],
  ])('with %s calls nothing, even with the secret of a session', async (_what, headers, status) => {
    const { hive, url, device } = await openPairedInbox();
    const session = await device.session();
    const own = { Origin: new URL(url).origin, ...session, ...headers };
    const sent = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== ''));
    const reply = await rawRequest(url, {
      path: '/inbox/call',
      headers: sent,
      body: JSON.stringify({ method: 'message/post', params: { body: 'Forged.' } }),
    });
    expect(reply.status).toBe(status);
    expect((await hive.messages.read({ limit: 10 })).items).toEqual([]);
  });

  test('that has rebound its own name to this machine is refused by its Host', async () => {
    const { url } = await serveInbox(await openTestHive());
    expect(
      (await rawRequest(url, { method: 'GET', body: '', headers: { Host: 'evil.example' } })).status,
    ).toBe(403);
  });

  test('cannot open a stream', async () => {
    const { hive, url } = await openInbox();
    const session = await (await pairDevice(hive, url)).session();
    const headers = { ...session, 'Sec-Fetch-Site': 'cross-site' };
    expect((await rawRequest(url, { method: 'GET', body: '', path: '/inbox/events', headers })).status).toBe(
      403,
    );
  });
});

describe('a session', () => {
  test('is in no cookie: a browser would also send that to every other server of this host', async () => {
    const { hive, url } = await openInbox();
    const { headers, body } = await (await pairDevice(hive, url)).signIn();
    expect(body['session']).toMatch(/^[\w-]{43}$/);
    expect(headers.has('set-cookie')).toBe(false);
    const Cookie = `hive-session=${body['session']}; Hive-Session=${body['session']}`;
    expect((await postTo(url, 'call', { method: 'prompt/list' }, { Cookie })).status).toBe(401);
  });

  test('cannot be chosen beforehand: each sign-in has a new secret, and one that was brought along counts for nothing', async () => {
    const { url, device } = await openPairedInbox();
    const planted = 'B'.repeat(43);
    const first = await device.signIn({ 'Hive-Session': planted });
    const second = await device.signIn({ 'Hive-Session': planted });
    expect(new Set([planted, first.body['session'], second.body['session']]).size).toBe(3);
    expect((await postTo(url, 'call', { method: 'prompt/list' }, { 'Hive-Session': planted })).status).toBe(
      401,
    );
  });

  test.each([5, 180])(
    'is opened and used beside %d cookies of 4 KB, as another server may have set them',
    async (count) => {
      const { url, device } = await openPairedInbox();
      const planted = Array.from({ length: count }, (_, n) => `c${n}=`.padEnd(4_096, 'B'));
      const Cookie = planted.join('; ');
      expect((await fetch(url, { headers: { Cookie } })).status).toBe(200);
      const own = String((await device.signIn({ Cookie })).body['session']);
      const all = { Cookie, 'Hive-Session': own };
      expect((await postTo(url, 'call', { method: 'prompt/list' }, all)).status).toBe(200);
    },
  );

  test('is not in the store: whoever reads the store cannot come in', async () => {
    const { hive, device } = await openPairedInbox();
    const { 'Hive-Session': secret = '' } = await device.session();
    const stored = JSON.stringify([await devicesOf(hive).list(), await hive.history.eventsAfter(0, 1_000)]);
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(createHash('sha256').update(secret).digest('hex'));
  });

  test('needs a signature of this very challenge, device, hive and address, once', async () => {
    const { hive, url, origin, device } = await openPairedInbox();
    const other = await pairDevice(hive, url, { name: 'Other' });
    const { device_id } = device;
    const { store_id } = hive;
    const challengeOf = async (id: string): Promise<string> =>
      String((await postTo(url, 'challenge', { device_id: id })).body['challenge']);
    const open = async (challenge: string, text: string, by = device): Promise<number> =>
      (await postTo(url, 'session', { device_id, challenge, signature: by.sign(text) })).status;
    const text = (challenge: string, changes: object = {}): string =>
      sessionText({ store_id, device_id, challenge, origin, ...changes });

    let challenge = await challengeOf(device_id);
    expect(await open(challenge, text(challenge))).toBe(200);
    expect(await open(challenge, text(challenge)), 'the same again').toBe(403);
    for (const [what, changes] of [
      ['another address', { origin: 'https://evil.example' }],
      ['another hive', { store_id: 'store-0000000000000000' }],
      ['another device', { device_id: other.device_id }],
      ['another challenge', { challenge: 'A'.repeat(43) }],
    ] as const) {
      challenge = await challengeOf(device_id);
      expect(await open(challenge, text(challenge, changes)), what).toBe(403);
    }
    challenge = await challengeOf(device_id);
    expect(await open(challenge, text(challenge), other), 'the key of another device').toBe(403);
    challenge = await challengeOf(other.device_id);
    expect(await open(challenge, text(challenge)), 'the challenge of another device').toBe(403);
    expect(await open('A'.repeat(43), text('A'.repeat(43))), 'a challenge of nobody').toBe(403);
  });

  test('is not opened with a challenge that is over, or whose time was changed', async () => {
    const {
      hive,
      url,
      origin,
      device: { device_id, sign },
    } = await openPairedInbox();
    const { store_id } = hive;
    const open = async (change: (challenge: string) => string): Promise<number> => {
      const { body } = await postTo(url, 'challenge', { device_id });
      const challenge = change(String(body['challenge']));
      const signature = sign(sessionText({ store_id, device_id, challenge, origin }));
      return (await postTo(url, 'session', { device_id, challenge, signature })).status;
    };
    const [until = ''] = String((await postTo(url, 'challenge', { device_id })).body['challenge']).split('.');
    expect(await open((challenge) => challenge.replace(/^\d+/, String(Number(until) + 3_600_000)))).toBe(403);
    expect(await open((challenge) => `${challenge}.`), 'another text of the same challenge').toBe(403);
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    expect(
      await open((challenge) => {
        now.mockImplementation(() => Number(until) + 60_000);
        return challenge;
      }),
      'a minute later',
    ).toBe(403);
    now.mockRestore();
    expect(await open((challenge) => challenge)).toBe(200);
  });

  test('is not given to a device that nobody has confirmed', async () => {
    const { hive, url } = await openInbox();
    const device = await pairDevice(hive, url, { confirm: false });
    expect(await device.signIn()).toMatchObject({ status: 403, body: { error: { state: 'unconfirmed' } } });
  });

  test('is refused to a stranger in the same words, whether or not a device has the name that they give', async () => {
    const hive = await openTestHive();
    const { url } = await serveInbox(hive);
    const { sign } = await pairDevice(hive, url, { name: 'Pixel' });
    await pairDevice(hive, url, { name: 'Twin' });
    await pairDevice(hive, url, { name: 'Twin' });
    const replies = ['Pixel', 'Twin', 'Nobody'].map(async (device_id) => {
      const { body } = await postTo(url, 'challenge', { device_id });
      const { challenge } = body;
      const { status, body: refusal } = await postTo(url, 'session', {
        ...{ device_id, challenge },
        signature: sign('anything'),
      });
      return [status, refusal];
    });
    const refused = [403, { error: { code: 'device_not_found', message: 'There is no such device.' } }];
    expect(await Promise.all(replies)).toEqual([refused, refused, refused]);
  });

  test('ends at once when the device is revoked, with its stream', async () => {
    const { hive, url, device } = await openPairedInbox();
    const headers = await device.session();
    const stream = await fetch(`${url}/events`, { headers });
    const reader = stream.body?.getReader();
    await reader?.read();
    await devicesOf(hive).revoke(device.device_id, 'ada');
    const rest = async (): Promise<boolean> => (await reader?.read())?.done ?? true;
    // The connection is cut, so the rest of the stream is its end or an error.
    await eventually(() => rest().catch(() => true), 10_000, 'the end of the stream');
    expect((await postTo(url, 'call', { method: 'prompt/list' }, headers)).status).toBe(401);
    expect(await device.signIn()).toMatchObject({ status: 403, body: { error: { state: 'revoked' } } });
  });
});

test('a device that is revoked while the store cannot be read loses its stream once it can be read again', async () => {
  const real = await openTestHive();
  let fails = false;
  let isNoticed = false;
  const { store } = real;
  const read: typeof store.read = (work) => {
    if (!fails) return store.read(work);
    return Promise.reject(new HiveError('store_busy', 'The store is busy.'));
  };
  // The change was noticed once, while it could not be read.
  const watch: typeof store.watch = (listener) =>
    store.watch(() => {
      if (!isNoticed) listener();
      isNoticed ||= fails;
    });
  const hive = withStore(real, { read, watch });
  const { url } = await serveInbox(hive);
  const device = await pairDevice(hive, url);
  const stream = await fetch(`${url}/events`, { headers: await device.session() });
  const reader = stream.body?.getReader();
  await reader?.read();
  fails = true;
  await devicesOf(real).revoke(device.device_id, 'ada');
  await eventually(() => isNoticed, 10_000, 'a look that fails');
  fails = false;
  const rest = async (): Promise<boolean> => (await reader?.read())?.done ?? true;
  await eventually(() => rest().catch(() => true), 10_000, 'the end of the stream');
});

describe('a device', () => {
  test('calls nothing that decides what is permitted, and nothing of an editor', async () => {
    const { device } = await openPairedInbox();
    for (const method of [
      'initialize',
      'desk/preferences',
      'seat/register',
      'rule/add',
      'rule/list',
      'doctor/run',
      'dialog/open',
      'session/configure',
      'constructor',
      '__proto__',
    ])
      expect((await device.call(method)).body.error, method).toMatchObject({
        code: 'invalid_input',
        message: `A device has no method "${method}".`,
      });
  });

  test('acts in the name of its own human, whatever it says', async () => {
    const { hive, device } = await openPairedInbox();
    await device.call('message/post', { body: 'Hello.', by: 'grace' });
    expect((await hive.messages.read({ limit: 1 })).items).toMatchObject([{ by: 'ada', via: 'inbox' }]);
  });

  test('answers nothing without a signature of its own', async () => {
    const hive = await openTestHive();
    await introduce(hive);
    const prompt = await ask(hive, { question: 'Which?' });
    const { url } = await serveInbox(hive);
    const device = await pairDevice(hive, url);
    const other = await pairDevice(hive, url, { name: 'Other' });
    const { ask_id } = prompt;
    const unsigned = await device.call('hivemind-response', { ask_id, decision: 'this', response_id: 'r-1' });
    expect(unsigned.body.error).toMatchObject({ code: 'not_allowed' });
    const foreign = signedAnswer(hive, other, prompt, { decision: 'this', response_id: 'r-2' });
    expect((await device.call('hivemind-response', foreign)).body.error).toMatchObject({
      code: 'not_allowed',
    });
    const own = signedAnswer(hive, device, prompt, { decision: 'this', response_id: 'r-3' });
    const altered = await device.call('hivemind-response', { ...own, decision: 'that' });
    expect(altered.body.error).toMatchObject({ code: 'not_allowed' });
    expect((await hive.prompts.get(ask_id)).status).toBe('pending');
    expect((await device.call('hivemind-response', own)).body.result).toMatchObject({
      accepted: true,
      by: 'ada',
    });
    // Sent again, it is the same answer.
    expect((await device.call('hivemind-response', own)).body.result).toMatchObject({ accepted: true });
  });

  test('whose forged answers are refused fills no list of its human with them', async () => {
    const hive = await openTestHive();
    await introduce(hive);
    const prompt = await ask(hive, { question: 'Which?' });
    const { url } = await serveInbox(hive);
    const device = await pairDevice(hive, url);
    for (const response_id of ['r-1', 'r-2', 'r-3']) {
      const own = signedAnswer(hive, device, prompt, { decision: 'this', response_id });
      const altered = await device.call('hivemind-response', { ...own, decision: 'that' });
      expect(altered.body.error).toMatchObject({ code: 'not_allowed' });
    }
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('pairs with proof of its key only', async () => {
    const {
      hive,
      url,
      device: { key, sign },
    } = await openPairedInbox();
    const { code } = await devicesOf(hive).invite('ada');
    const foreign = `${key.slice(0, -2)}AA`;
    const proof = sign(pairingText({ code, key: foreign }));
    expect((await postTo(url, 'pair', { code, name: 'x', key: foreign, proof })).status).toBe(403);
    expect(await devicesOf(hive).list()).toHaveLength(1);
  });
});

describe('a stream', () => {
  /** This hive, with another history. */
  const withHistory = (hive: OpenedHive, history: Partial<OpenedHive['history']>): OpenedHive =>
    Object.assign(Object.create(hive) as OpenedHive, { history: { ...hive.history, ...history } });

  test('that opens while the last other page closes, as a reload does, is sent what happens', async () => {
    const real = await openTestHive();
    await introduce(real);
    const hold = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let openings = 0;
    const hive = withHistory(real, {
      now: async () => {
        openings += 1;
        if (openings === 3) {
          reached.resolve();
          await hold.promise;
        }
        return real.history.now();
      },
    });
    const { url, server } = await serveInbox(hive);
    // Signing in has read the clock, too.
    const headers = await (await pairDevice(hive, url)).session();
    const closed = once(server, 'request').then(([, response]) => once(response as ServerResponse, 'close'));
    const gone = new AbortController();
    const before = await fetch(`${url}/events`, { headers, signal: gone.signal });
    await before.body?.getReader().read();
    const after = fetch(`${url}/events`, { headers });
    await reached.promise;
    gone.abort();
    await closed;
    await setImmediate();
    hold.resolve();
    const reader = (await after).body?.getReader();
    const { ask_id } = await ask(real, { question: 'Still here?' });
    let said = '';
    while (!said.includes(ask_id)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw new Error(`The stream ended: ${said}`);
      said += new TextDecoder().decode(value);
    }
    await reader?.cancel();
  });

  test('whose page goes before it is let in takes no place', async () => {
    const real = await openTestHive();
    let hold: PromiseWithResolvers<void> | null = null;
    const read: Store['read'] = async (work) => {
      await hold?.promise;
      return real.store.read(work);
    };
    const hive = withStore(real, { read });
    const { url, server } = await serveInbox(hive);
    const headers = await (await pairDevice(hive, url)).session();
    for (let page = 0; page < 5; page += 1) {
      hold = Promise.withResolvers();
      const gone = new AbortController();
      const came = once(server, 'request');
      const stream = fetch(`${url}/events`, { headers, signal: gone.signal }).catch(() => undefined);
      const closed = once((await came)[1] as ServerResponse, 'close');
      gone.abort();
      await Promise.all([stream, closed]);
      hold.resolve();
      await setImmediate();
    }
    hold = null;
    const stream = await fetch(`${url}/events`, { headers });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });

  test('ends the one before of the same page of the same device, and no other takes its place', async () => {
    const { hive, url } = await openInbox();
    const headers = await (await pairDevice(hive, url)).session();
    const others = await (await pairDevice(hive, url, { name: 'Another' })).session();
    const openStream = async (page: string, session = headers) => {
      const stream = await fetch(`${url}/events?page=${page}`, { headers: session });
      const reader = stream.body?.getReader();
      await reader?.read();
      return { status: stream.status, isOver: reader?.closed.catch(() => undefined) };
    };
    const other = await openStream('page-1', others);
    let before = await openStream('page-1');
    // A phone that changes its network may never say that its streams have ended.
    for (let network = 0; network < 5; network += 1) {
      const next = await openStream('page-1');
      expect(next.status).toBe(200);
      await before.isOver;
      before = next;
    }
    const statuses = [];
    for (const page of ['page-2', 'page-3', 'page-4', 'page-5'])
      statuses.push((await openStream(page)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(await Promise.race([other.isOver?.then(() => 'over'), 'open'])).toBe('open');
  });

  test('is not opened by HEAD, which gets its headers and takes no place', async () => {
    const hive = await openTestHive();
    const { url } = await serveInbox(hive);
    const headers = await (await pairDevice(hive, url)).session();
    for (let page = 0; page < 5; page += 1) {
      const reply = await fetch(`${url}/events`, { method: 'HEAD', headers });
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    }
  });

  test('that cannot begin is refused, and the server lives', async () => {
    const real = await openTestHive();
    let fails = true;
    const hive = withHistory(real, {
      head: async () => {
        if (fails) throw new HiveError('store_busy', 'The store is busy.');
        return real.history.head();
      },
    });
    const { url } = await serveInbox(hive);
    const headers = await (await pairDevice(hive, url)).session();
    const replies = await Promise.all([1, 2].map(() => fetch(`${url}/events`, { headers })));
    expect(replies.map(({ status }) => status)).toEqual([503, 503]);
    await Promise.all(replies.map((reply) => reply.text()));
    fails = false;
    const stream = await fetch(`${url}/events`, { headers });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });
});

describe('somebody who tries to fill the server', () => {
  test('with pairing codes is told to wait, and a device that is in goes on', async () => {
    const { url, device } = await openPairedInbox();
    await device.call('prompt/list');
    const replies = await Promise.all(Array.from({ length: 60 }, () => postTo(url, 'pair', {})));
    expect(replies.map(({ status }) => status)).toContain(429);
    expect((await device.call('prompt/list')).status).toBe(200);
  });

  test.each([
    ['pairing codes', 'pair', () => ({})],
    ['challenges', 'challenge', () => ({ device_id: 'device-0000000000000000' })],
    ['challenges of this device', 'challenge', (device_id: string) => ({ device_id })],
    [
      'made-up challenges and signatures of this device',
      'session',
      (device_id: string) => ({ device_id, challenge: 'A'.repeat(43), signature: 'A'.repeat(86) }),
    ],
  ])('with %s delays no device that comes in', async (_what, path, body) => {
    const { url, device } = await openPairedInbox();
    await Promise.all(Array.from({ length: 60 }, () => postTo(url, path, body(device.device_id))));
    expect((await device.signIn()).status).toBe(200);
  });

  test.each(['this device', 'a device that does not exist'])(
    'with signatures over real challenges of %s delays no device that comes in',
    async (whose) => {
      const { url, device } = await openPairedInbox();
      expect((await device.signIn()).status).toBe(200);
      const device_id = whose === 'this device' ? device.device_id : 'device-0000000000000000';
      const replies = await Promise.all(
        Array.from({ length: 60 }, async () => {
          const { body } = await postTo(url, 'challenge', { device_id });
          const { challenge } = body;
          return postTo(url, 'session', { device_id, challenge, signature: 'A'.repeat(86) });
        }),
      );
      expect(replies.map(({ status }) => status)).not.toContain(200);
      expect((await device.signIn()).status).toBe(200);
    },
  );

  test('by signing in again and again with a device of its own is told to wait, and no other device is', async () => {
    const { hive, url } = await openInbox();
    const [greedy, other] = [await pairDevice(hive, url), await pairDevice(hive, url, { name: 'Other' })];
    const replies = await Promise.all(Array.from({ length: 60 }, () => greedy.signIn()));
    expect(replies.map(({ status }) => status)).toContain(429);
    expect((await other.signIn()).status).toBe(200);
  });

  test('has a body of at most 256 KB, read no further', async () => {
    const { device } = await openPairedInbox();
    const reply = await device.call('message/post', { body: 'x'.repeat(300_000) });
    expect(reply).toMatchObject({ status: 413, body: { error: { code: 'invalid_input' } } });
  });

  test('has at most four streams for each device, so that its browser has connections left for calls', async () => {
    const { hive, url } = await openInbox();
    const headers = await (await pairDevice(hive, url)).session();
    const streams = await Promise.all(Array.from({ length: 5 }, () => fetch(`${url}/events`, { headers })));
    expect(streams.map(({ status }) => status).sort()).toEqual([...Array(4).fill(200), 429]);
    for (const stream of streams) await stream.body?.cancel();
  });
});
