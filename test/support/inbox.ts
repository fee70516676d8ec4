/** The inbox on a real port of this machine, and a device that comes in as the page does. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Server } from 'node:http';
import { INBOX_PATH } from '../../src/adapters/inbox.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { type Prompt, resolveAnswer } from '../../src/domain/prompts.ts';
import { answerText } from '../../src/domain/seats.ts';
import { assetsAt } from '../../src/extensions/inbox/assets.ts';
import { pairingText, sessionText } from '../../src/extensions/inbox/device.ts';
import { createInbox } from '../../src/extensions/inbox/http.ts';
import type { PushSender } from '../../src/extensions/inbox/pushes.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { createDoor, type DoorLimits } from '../../src/extensions/serve/door.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive } from './hive.ts';
import { closedAtEnd } from './lifetime.ts';
import { listen } from './listen.ts';

/** The inbox of this hive, without the page unless its files are given: `url` ends in /inbox. */
export async function serveInbox(
  hive: OpenedHive,
  push: PushSender | null = null,
  files?: ReadonlyMap<string, Buffer>,
  limits: Partial<DoorLimits> = {},
): Promise<{ url: string; origin: string; server: Server }> {
  const page = Buffer.from('<!doctype html><title>Hive</title>');
  const inbox = createInbox(hive, {
    assets: assetsAt(INBOX_PATH, files ?? new Map([['index.html', page]])),
    hosts: new Set(['localhost', '127.0.0.1']),
    tls: false,
    seat: 'ada@test',
    pid: process.pid,
    push,
    onAdmitted: ({ socket }) => door.admitted(socket),
  });
  const door = createDoor(inbox.listener, { limits });
  const { server } = door;
  const origin = await listen(server);
  closedAtEnd(inbox);
  return { url: `${origin}${INBOX_PATH}`, origin, server };
}

/** The inbox of a new hive. */
export async function openInbox(): Promise<{ hive: OpenedHive; url: string; origin: string }> {
  const hive = await openTestHive();
  return { hive, ...(await serveInbox(hive)) };
}

/** The same with a device. */
export async function openPairedInbox(): Promise<
  Awaited<ReturnType<typeof openInbox>> & { device: TestDevice }
> {
  const inbox = await openInbox();
  return { ...inbox, device: await pairDevice(inbox.hive, inbox.url) };
}

export interface Reply {
  status: number;
  body: { error?: { code: string; message: string }; result?: Record<string, unknown> } & Record<
    string,
    unknown
  >;
  headers: Headers;
}

/** One POST as the page sends it; `headers` replace its own. */
export async function postTo(
  url: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: new URL(url).origin, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as Reply['body'],
    headers: response.headers,
  };
}

/** A device with its key, as it pairs. */
export interface TestDevice {
  device_id: string;
  key: string;
  secret: KeyObject;
  sign(text: string): string;
  /** Signs a challenge; the reply has the secret of the session. */
  signIn(headers?: Record<string, string>): Promise<Reply>;
  /** The header of a new session. */
  session(): Promise<Record<string, string>>;
  call(method: string, params?: object): Promise<Reply>;
}

/** Pairs a device and confirms it. */
export async function pairDevice(
  hive: OpenedHive,
  url: string,
  { name = "Ada's phone", human = 'ada', confirm = true } = {},
): Promise<TestDevice> {
  const { code } = await devicesOf(hive).invite(human, `${human}@test`);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = String(publicKey.export({ format: 'jwk' }).x);
  const signText = (text: string): string => sign(null, Buffer.from(text), privateKey).toString('base64url');
  const { body } = await postTo(url, 'pair', {
    code,
    name,
    key,
    proof: signText(pairingText({ code, key })),
  });
  const device_id = String(body['device_id']);
  if (confirm) await devicesOf(hive).confirm({ device_id, key }, human);
  let held: Record<string, string> | null = null;
  const device: TestDevice = {
    device_id,
    key,
    secret: privateKey,
    sign: signText,
    async signIn(headers = {}) {
      const { body: asked } = await postTo(url, 'challenge', { device_id });
      const challenge = String(asked['challenge']);
      const text = sessionText({
        store_id: hive.store_id,
        device_id,
        challenge,
        origin: headers['Origin'] ?? new URL(url).origin,
      });
      return postTo(url, 'session', { device_id, challenge, signature: signText(text) }, headers);
    },
    async session() {
      return { 'Hive-Session': String((await device.signIn()).body['session']) };
    },
    async call(method, params = {}) {
      held ??= await device.session();
      return postTo(url, 'call', { method, params }, held);
    },
  };
  return device;
}

/** The params of an answer, signed as the page signs it. */
export function signedAnswer(
  hive: OpenedHive,
  device: Pick<TestDevice, 'sign'>,
  prompt: Prompt,
  given: { decision?: string; selected?: string[]; response_id: string; responded_at?: string; by?: string },
): Record<string, unknown> {
  const { response_id, responded_at = new Date().toISOString(), by = 'ada', ...said } = given;
  const stamp = { by, via: 'inbox' as const, attested: true, response_id, responded_at };
  const answer = resolveAnswer(prompt, said, stamp);
  const { ask_id } = prompt;
  const { store_id } = hive;
  const displayed_digest = permissionDigest(prompt);
  const signature = device.sign(answerText({ store_id, ask_id, displayed_digest, answer }));
  const { decision, selected, comment } = answer;
  return {
    ask_id,
    decision,
    selected,
    comment,
    response_id,
    store_id,
    displayed_digest,
    responded_at,
    signature,
  };
}
