/**
 * `hive phone` at a terminal with a real `hive serve`: a phone pairs, its human compares the phrases, and it comes in.
 *
 * @module-tag cli
 * @module-tag http
 */
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import type { SeatKey } from '../../src/domain/seats.ts';
import { cleanCode, pairingText, sessionText } from '../../src/extensions/inbox/device.ts';
import { phraseFor } from '../../src/extensions/inbox/devices.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { childEnvironment, type Environment, HIVE } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { newKey, pair } from '../support/devices.ts';
import { openTestHive } from '../support/hive.ts';
import { trustFileOf, trusting } from '../support/human-file.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { type Served, serveWith } from '../support/serve.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

const ORIGIN = 'https://hive.example.org';

interface Home {
  store: string;
  env: Environment;
  served: Served;
}

async function home(): Promise<Home> {
  const store = tempStore();
  const env = trusting({});
  return { store, env, served: await serveWith(store, env, '--inbox', ORIGIN) };
}

/** A terminal of a person's, in which they run a command. */
async function typing({ store, env }: Pick<Home, 'store' | 'env'>, ...words: string[]): Promise<Terminal> {
  const command = `tmux wait-for watched; exec '${process.execPath}' '${HIVE}' ${words.join(' ')}`;
  const environment = childEnvironment(store, { TERM: 'xterm', ...env });
  const size = { columns: 110, lines: 60 };
  const terminal = closedAtEnd(await openTerminal(tempFolder(), environment, ['sh', '-c', command], size));
  await terminal.watch();
  return terminal;
}

type Reply = Record<string, unknown>;

/** Sends what the page sends. The reply has its `status` as well. */
function post({ url }: Served, path: string, body: object): Promise<Reply> {
  const headers = { Host: new URL(ORIGIN).host, Origin: ORIGIN, 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sending = request(new URL(`/inbox/${path}`, url), { method: 'POST', headers }, (response) => {
      let said = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      response.once('end', () => {
        resolve({ status: response.statusCode, ...(JSON.parse(said) as object) });
      });
    });
    sending.once('error', reject);
    sending.end(JSON.stringify(body));
  });
}

interface TestPhone {
  key: SeatKey;
  code: string;
  device_id: string;
}

/** A phone uses the code that this terminal shows. */
async function phoneAt(served: Served, terminal: Terminal): Promise<TestPhone> {
  const screen = (await terminal.until(/The code is \S+;/)).join('\n');
  expect(screen).toContain(`${ORIGIN}/inbox#code=`);
  expect(screen).toContain('▄');
  const code = cleanCode(/The code is (\S+);/.exec(screen)?.[1] ?? '') ?? '';
  const key = newKey();
  const proof = await key.sign(pairingText({ code, key: key.key }));
  const paired = await post(served, 'pair', { code, name: "Ada's phone", key: key.key, proof });
  expect(paired).toMatchObject({ status: 200 });
  return { key, code, device_id: String(paired['device_id']) };
}

/** Signs in; the reply has the secret of the session. */
async function signedIn(served: Served, store_id: string, { key, device_id }: TestPhone): Promise<Reply> {
  const { challenge } = await post(served, 'challenge', { device_id });
  const text = sessionText({ store_id, device_id, challenge: String(challenge), origin: ORIGIN });
  return post(served, 'session', { device_id, challenge, signature: await key.sign(text) });
}

/** The status of the reply. */
async function signIn(served: Served, store_id: string, phone: TestPhone): Promise<unknown> {
  return (await signedIn(served, store_id, phone))['status'];
}

interface Stream {
  ended: Promise<void>;
  /** Everything that has arrived. */
  text: () => string;
}

/** Opens the stream of a page; resolves when it has begun. */
function openStream({ url }: Served, session: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = { Host: new URL(ORIGIN).host, 'Hive-Session': session };
    const asking = request(new URL('/inbox/events', url), { headers }, (response) => {
      const ended = new Promise<void>((end) => response.once('close', end));
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('data', (chunk: string) =>
        chunk.includes('event: hello') ? resolve({ ended, text: () => text }) : reject(new Error(chunk)),
      );
      response.on('error', () => undefined);
    });
    asking.once('error', reject);
    asking.end();
  });
}

test('a phone is paired with the QR code and the phrase, comes in, and is revoked', async () => {
  const place = await home();
  const { store, env, served } = place;
  const hive = await openTestHive(store);
  const terminal = await typing(place, 'phone', 'add');
  const phone = await phoneAt(served, terminal);
  const phrase = await phraseFor({ key: phone.key.key }, phone.code);
  await terminal.until(new RegExp(`Ada's phone has used the code[^]*${phrase}[^]*Type yes`));
  expect(await signIn(served, hive.store_id, phone), 'before its human has confirmed it').toBe(403);
  await terminal.enter('yes');
  await terminal.until(/Paired Ada's phone/);
  const { status, session } = await signedIn(served, hive.store_id, phone);
  expect(status).toBe(200);
  const stream = await openStream(served, String(session));
  const person = shell(store, env);
  const found = { device_id: phone.device_id, name: "Ada's phone", state: 'confirmed', may_allow: false };
  expect((await person.hive('phone', 'list', '--json')).json()).toMatchObject({ phones: [found] });
  expect((await person.hive('phone', 'list')).out).toMatch(/Ada's phone .* paired .* answer/);
  expect((await person.hive('phone', 'revoke', "Ada's phone")).out).toContain("Revoked Ada's phone");
  // The server is another process: it learns of it from the store, and cuts the stream.
  await stream.ended;
  expect(await signIn(served, hive.store_id, phone)).toBe(403);
});

test('a phone is refused unless its human types yes', async () => {
  const place = await home();
  const hive = await openTestHive(place.store);
  const terminal = await typing(place, 'phone', 'add');
  const phone = await phoneAt(place.served, terminal);
  await terminal.reply(/Type yes/, 'y');
  await terminal.until(/Ada's phone was refused/);
  expect(await devicesOf(hive).list()).toMatchObject([
    { confirmed_at: null, revoked_at: expect.any(String) },
  ]);
  expect(await signIn(place.served, hive.store_id, phone)).toBe(403);
});

test('a phone may allow once a person says so whose own key counts, where terminals may allow', async () => {
  const store = tempStore();
  const env = trusting({ terminal_may_allow: true });
  const confirming = async (own: Environment): Promise<OpenedHive> => {
    return closedAtEnd(await openHive({ store, env: own }));
  };
  const { device } = await pair(await confirming(env), 'Phone');
  const onlyEmacs = trusting({});
  await devicesOf(await confirming(onlyEmacs)).confirm(device, 'ada');
  const refused = await shell(store, onlyEmacs).hive('phone', 'allow', 'Phone');
  expect(refused).toMatchObject({ code: 7 });
  expect(refused.err).toContain(JSON.stringify({ name: 'Phone', key: device.key }));
  const allowing = async (reply: RegExp): Promise<void> => {
    const terminal = await typing({ store, env }, 'phone', 'allow', 'Phone');
    await terminal.reply(/Type yes to confirm/, 'yes');
    await terminal.until(reply);
  };
  // No key of this person is registered yet.
  await allowing(/What you allow here does not count/);
  const { ask_id } = (
    await shell(store, env).hive('ask', 'Deploy?', '--kind', 'permission', '--option', 'Allow', '--json')
  ).json();
  const terminal = await typing({ store, env }, 'respond', ask_id, 'Allow');
  await terminal.reply(/Type yes to confirm/, 'yes');
  await terminal.until(/Registered this seat/);
  await allowing(/what is allowed there counts/);
  const list = async () => (await shell(store, env).hive('phone', 'list', '--json')).json().phones;
  expect(await list()).toMatchObject([{ may_allow: true }]);
  await shell(store, env).hive('phone', 'revoke', 'Phone');
  expect(await list()).toMatchObject([{ may_allow: false, state: 'revoked' }]);
});

test('an open page learns at once that it may allow permissions now', async () => {
  const { store, env, served } = await home();
  const hive = closedAtEnd(await openHive({ store, env }));
  const { device, seat } = await pair(hive, 'Phone');
  const phone = { key: seat, code: '', device_id: device.device_id };
  const { session } = await signedIn(served, hive.store_id, phone);
  const stream = await openStream(served, String(session));
  expect(stream.text()).toContain('"may_allow":false');
  const seats = [{ name: device.name, key: device.key }];
  writeFileSync(trustFileOf(env['XDG_CONFIG_HOME']), JSON.stringify({ seats }));
  await hive.trust.note();
  await eventually(() => stream.text().includes('"may_allow":true'));
});

test('without an inbox there is no code, and its address is forgotten when the server dies', async () => {
  const place = await home();
  const invite = async (): Promise<string> => {
    const terminal = await typing(place, 'phone', 'add');
    return (await terminal.until(/The code is|No inbox is served/)).join('\n');
  };
  expect(await invite()).toContain('The code is');
  place.served.child.process.kill('SIGKILL');
  await place.served.child.exited;
  expect(await invite()).toMatch(/No inbox is served.*--url/s);
});

test('the address of a server of the inbox is known until it ends, whichever others end first', async () => {
  const { store, env, served } = await home();
  const addressOf = (name: string): string => `https://${name}.example.org`;
  const begin = (name: string) => serveWith(store, env, '--inbox', addressOf(name));
  const second = await begin('second');
  const third = await begin('third');
  const hive = closedAtEnd(await openHive({ store, env: childEnvironment(store, env) }));
  const address = () => devicesOf(hive).served();
  expect(address()).toBe(`${addressOf('third')}/inbox`);
  await second.child.kill('SIGTERM');
  expect(address()).toBe(`${addressOf('third')}/inbox`);
  await third.child.kill('SIGTERM');
  expect(address()).toBe(`${ORIGIN}/inbox`);
  await served.child.kill('SIGTERM');
  expect(address()).toBeNull();
});

test('an Emacs that serves agents serves the inbox, too, and its desk knows the address', async () => {
  const store = tempStore();
  const args = ['--serve', '0', '--inbox', ORIGIN];
  const sidecar = await startSidecar(store, { env: trusting({}), args });
  let address = '';
  await eventually(async () => {
    address = await sidecar.request('phone/invite', {}).then(
      (invited) => String(invited.address),
      () => '',
    );
    return address !== '';
  });
  expect(address).toMatch(/^https:\/\/hive\.example\.org\/inbox#code=\w{4}-\w{4}$/);
});
