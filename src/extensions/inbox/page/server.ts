/**
 * The server of this page: calls and the stream of notifications. When a session has ended, a challenge is signed and the
 * call is made again, once. Failures of the network are distinguished from replies of the server: only the former are retried.
 */

import { ERROR_CODES } from '../../../domain/errors.ts';
import { sessionText } from '../device.ts';
import { randomId, sign } from './keys.ts';
import type { OwnDevice } from './storage.ts';
import { WORDS } from './words.ts';

/** A refusal of the server, with its reason. */
export class Refused extends Error {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The device itself, or the origin of its request, was refused, and not the content of the request. */
  atDoor: boolean;

  constructor({ code, message, ...details }: { code: string; message: string; [detail: string]: unknown }) {
    super(message);
    this.name = 'Refused';
    this.code = code;
    this.details = details;
    this.atDoor = details['door'] === true || code === 'not_signed_in';
  }
}

/** The server could not be reached, or could not handle the request now: trying again can help. */
export class Unreachable extends Error {}

/** The server, or a proxy in front of it, failed on this request. Another request may succeed. */
export class Failed extends Unreachable {
  /** True if Hive itself failed. */
  readonly byHive: boolean;

  constructor(message: string, { byHive = false } = {}) {
    super(message);
    this.byHive = byHive;
  }
}

/** The codes of failures that can be tried again later. */
const TRANSIENT: ReadonlySet<string> = new Set(['store_busy', 'store_unavailable', 'store_full', 'too_many']);

/** The server's facts about this device when it signs in. */
export interface Welcome {
  device_id: string;
  name: string;
  human: string;
  store_id: string;
  /** Whether its signature may allow a permission. */
  may_allow: boolean;
  /** The key with which the browser subscribes to notifications; null if none are sent. */
  push_key: string | null;
  /** Where its notifications go; null for nowhere. */
  push: string | null;
  /** Why they no longer reach it, as a sentence. */
  push_failed: string | null;
  /** The store's clock. */
  now: string;
  /** The secret of the session. */
  session: string;
}

/** The secret of this page's session. Its own requests carry it, and it is stored nowhere. */
let session: string | null = null;

function inSession(): Record<string, string> {
  return session === null ? {} : { 'Hive-Session': session };
}

/** How many ms the store's clock is ahead of this device's. */
let ahead = 0;

/** The time by the store's clock, as far as this device knows it. */
export function storeTime(): string {
  return new Date(Date.now() + ahead).toISOString();
}

/** Sets the store's clock, as the server has just reported it. */
export function setStoreTime(now: unknown): void {
  const time = Date.parse(String(now));
  if (!Number.isNaN(time)) ahead = time - Date.now();
}

/** The answer of one request. @throws Refused, Unreachable. */
export async function post<Reply>(path: string, body: object): Promise<Reply> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`/inbox/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...inSession() },
      body: JSON.stringify(body),
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(30_000),
    });
    text = await response.text();
  } catch (error) {
    throw new Unreachable(WORDS.unreachable, { cause: error });
  }
  const reply = parse(text);
  if (response.ok && reply !== null && !('error' in reply)) return reply as Reply;
  const { error } = (reply ?? {}) as { error?: unknown };
  // A proxy in between may answer with its own page or its own JSON.
  if (!isOurs(error)) throw new Failed(`The server answered ${response.status}.`);
  if (error.code === 'internal') throw new Failed(error.message, { byHive: true });
  if (TRANSIENT.has(error.code)) throw new Unreachable(error.message);
  throw new Refused(error);
}

/** Whether this is an error of Hive. */
function isOurs(error: unknown): error is { code: string; message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return typeof message === 'string' && ERROR_CODES.some((known) => known === code);
}

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

let signingIn: Promise<Welcome> | null = null;

/** Opens a session; calls that need one at the same time share it. @throws Refused, Unreachable. */
export function signIn(device: OwnDevice): Promise<Welcome> {
  signingIn ??= open(device)
    .catch((error: unknown) => {
      if (error instanceof Refused) error.atDoor = true;
      throw error;
    })
    .finally(() => {
      signingIn = null;
    });
  return signingIn;
}

async function open({ device_id, store_id, secret }: OwnDevice): Promise<Welcome> {
  const { challenge } = await post<{ challenge: string }>('challenge', { device_id });
  const text = sessionText({ store_id, device_id, challenge, origin: location.origin });
  const asked = performance.now();
  const welcome = await post<Welcome>('session', {
    device_id,
    challenge,
    signature: await sign(secret, text),
  });
  session = welcome.session;
  setStoreTime(welcome.now);
  ahead += (performance.now() - asked) / 2;
  return welcome;
}

/** Calls a method of the desk. @throws Refused, Unreachable. */
export async function call<Result>(device: OwnDevice, method: string, params: object = {}): Promise<Result> {
  return (await admitted<{ result: Result }>(device, 'call', { method, params })).result;
}

/** Sets where the notifications of this device go; null for nowhere. @throws Refused, Unreachable. */
export async function setPush(device: OwnDevice, subscription: object | null): Promise<string | null> {
  return (await admitted<{ push: string | null }>(device, 'push', { subscription })).push;
}

/** One request that needs a session. */
async function admitted<Reply>(device: OwnDevice, path: string, body: object): Promise<Reply> {
  const once = (): Promise<Reply> => post(path, body);
  try {
    return await once();
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'not_signed_in') throw error;
    await signIn(device);
    return once();
  }
}

/** How a stream begins; sent again when the seats of the human change. */
export interface Hello {
  now: string;
  /** As in Welcome: it may have changed in the meantime. */
  may_allow: boolean;
}

/** A notification of the desk. */
export interface Notification {
  method: string;
  params: Record<string, unknown>;
}

/** The longest time without a byte: the server sends something every 20 s. */
const SILENT_MS = 45_000;
/**
 * When the stream last sent something, by this device's clock: performance.now() may stand still while a phone sleeps. Setting
 * that clock only causes a new stream.
 */
let heardAt = 0;

/** Whether the stream has sent nothing for longer than it should: a phone that slept does not notice the end of a stream. */
export function isSilent(): boolean {
  return Math.abs(Date.now() - heardAt) > SILENT_MS / 2;
}

/** The name of this page. With it the server ends an earlier stream of this page, because the network may hide that one's end. */
const PAGE = randomId('page');

/**
 * One stream, until it ends; `opened` is called once it is open. The caller reads the lists again after each one.
 * @throws Refused, Unreachable.
 */
export async function follow(
  device: OwnDevice,
  handlers: {
    opened: (hello: Hello) => void;
    notified: (notification: Notification) => void;
    signal: AbortSignal;
  },
): Promise<void> {
  const { opened, notified, signal } = handlers;
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    heardAt = Date.now();
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENT_MS);
  };
  try {
    heard();
    const response = await fetch(`/inbox/events?page=${PAGE}`, {
      headers: { Accept: 'text/event-stream', ...inSession() },
      cache: 'no-store',
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status === 401) {
      await signIn(device);
      return;
    }
    if (!response.ok || response.body === null) throw new Failed(`The server answered ${response.status}.`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const said = readEvent(block);
        if (said?.name === 'hello') {
          setStoreTime(said.data['now']);
          opened(said.data as unknown as Hello);
        } else if (said?.name === 'notification') notified(said.data as unknown as Notification);
      }
    }
  } catch (error) {
    if (error instanceof Refused || error instanceof Unreachable) throw error;
    throw new Unreachable(String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** One event of the stream; null for a comment. */
export function readEvent(block: string): { name: string; data: Record<string, unknown> } | null {
  const lines = block.split('\n');
  const name = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
  const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
  if (name === undefined || data === undefined) return null;
  return { name, data: JSON.parse(data) as Record<string, unknown> };
}
