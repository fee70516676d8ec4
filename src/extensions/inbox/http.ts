/**
 * The inbox over HTTP: the page, pairing, sessions, calls and the stream of notifications. Every path is on this screen.
 * A page calls the methods of a desk (calls.ts), and gets the notifications of one (streams.ts). Only the page
 * itself and pairing can be reached without a session (sessions.ts), even on loopback, because another web page could reach it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toWireError } from '../../adapters/errors.ts';
import type { Inbox } from '../../adapters/inbox.ts';
import { INBOX_PATH } from '../../adapters/inbox.ts';
import type { Hive } from '../../application/hive.ts';

import type { Device } from '../../domain/devices.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { excessOf } from '../../domain/json.ts';
import { cleanDeep } from '../../domain/text.ts';
import { type Assets, sendAsset } from './assets.ts';
import { createInboxCalls } from './calls.ts';
import { isAdmitted } from './device.ts';
import { deviceParams, pairParams, pushParams, sessionParams } from './params.ts';
import type { PushSender } from './pushes.ts';
import { CALLS, createRate, PAIRINGS } from './rates.ts';
import { devicesOf } from './service.ts';
import { createInboxSessions, type InboxSession, verifyPairing } from './sessions.ts';
import { createInboxStreams } from './streams.ts';

export interface InboxOptions {
  /** The files of the page, by path. */
  assets: Assets;
  /** Host names allowed in Host and Origin, without port. */
  hosts: ReadonlySet<string>;
  /** Whether the page is served over TLS here; a proxy that does so sends X-Forwarded-Proto. */
  tls: boolean;
  /** The seat of this machine, whose preferences the page shows. */
  seat: string;
  pid: number;
  /** Sends notifications; null if none are sent. */
  push: PushSender | null;
  /** Called with the socket of each request that was admitted with a session. */
  onAdmitted: (request: IncomingMessage) => void;
}

/** In bytes. A call carries an answer or a message; other requests have only a few fields. */
const MOST_CALL_BYTES = 256 * 1024;
const MOST_SMALL_BYTES = 8 * 1024;

/** The headers of every response of the inbox. The page loads nothing from elsewhere and cannot be framed. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // No text can become HTML or a script, even by a mistake of the page. Its one policy is for the service worker's address.
    "require-trusted-types-for 'script'",
    'trusted-types hive-worker',
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const;

export function createInbox(hive: Hive, options: InboxOptions): Inbox {
  const { assets, onAdmitted } = options;
  const sessions = createInboxSessions(hive);
  const calls = createInboxCalls(hive, options);
  const streams = createInboxStreams(hive, options);
  const pairings = createRate(PAIRINGS);
  const requests = createRate(CALLS);
  const devices = devicesOf(hive);
  const unwatch = devices.watch((known) => {
    const admitted = new Set(known.filter(isAdmitted).map(({ device_id }) => device_id));
    sessions.know(known);
    sessions.keepOnly(admitted);
    streams.keepOnly(admitted);
  });

  /** The handlers of POST, by the rest of the path. */
  const posts: Readonly<Record<string, (call: Call) => Promise<object>>> = {
    pair: async ({ request, response }) => {
      pairings.take('');
      const asked = pairParams.parse(await readJson(request, response, MOST_SMALL_BYTES));
      verifyPairing(asked);
      const { device_id, human } = await devices.pair(asked);
      return { device_id, human, store_id: hive.store_id };
    },

    // It uses no resources and stores nothing, so it needs no limit.
    challenge: async ({ request, response }) => {
      const { device_id } = deviceParams.parse(await readJson(request, response, MOST_SMALL_BYTES));
      return { challenge: sessions.challenge(device_id) };
    },

    session: async ({ request, response }) => {
      const asked = sessionParams.parse(await readJson(request, response, MOST_SMALL_BYTES));
      const origin = request.headers.origin ?? '';
      const { session, device } = await sessions.open(asked, origin);
      onAdmitted(request);
      return { ...(await describe(hive, device, options.push)), session };
    },

    call: async ({ request, response }) => {
      const { device } = await admit(request);
      const json = await readJson(request, response, MOST_CALL_BYTES);
      return { result: await calls.call(device, json) };
    },

    push: async ({ request, response }) => {
      const { device } = await admit(request);
      const { subscription } = pushParams.parse(await readJson(request, response, MOST_SMALL_BYTES));
      if (subscription !== null) {
        const refusal =
          options.push === null ? 'No notifications are sent here.' : options.push.refusal(subscription);
        if (refusal !== null) throw invalidInput(refusal, { field: 'subscription' });
      }
      await devices.setPush(device.device_id, subscription);
      return { push: subscription?.endpoint ?? null };
    },
  };

  async function admit(request: IncomingMessage): Promise<InboxSession> {
    const session = await sessions.admit(request);
    requests.take(session.device.device_id);
    onAdmitted(request);
    return session;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    refuseForeign(request, options);
    const { path, page } = addressOf(request);
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (path !== `${INBOX_PATH}/events`) return sendAsset(request, response, assets.get(path));
      refuseCrossSite(request);
      const { device } = await admit(request);
      return streams.open(request, response, device, page);
    }
    const name = path.slice(INBOX_PATH.length + 1);
    const post = request.method === 'POST' && Object.hasOwn(posts, name) ? posts[name] : undefined;
    if (post === undefined) return say(response, 404, { error: notHere(path) });
    refuseForm(request);
    say(response, 200, await post({ request, response }));
  }

  return {
    servedAt: devices.servedAt,
    owns: (path) => path === INBOX_PATH || path.startsWith(`${INBOX_PATH}/`),
    listener(request, response) {
      handle(request, response).catch((error: unknown) => {
        // The connection has ended: nobody is there, and it is not our failure.
        if (error === request.errored) return;
        const { message, data } = toWireError(error);
        if (data.code === 'internal')
          hive.log.error('A request of the inbox failed.', { error: String(error) });
        if (response.headersSent) response.destroy();
        else
          say(response, error instanceof TooLarge ? 413 : (STATUS[data.code] ?? 400), {
            error: { ...data, message: message.replace(/^\w+: /, '') },
          });
      });
    },
    async close() {
      unwatch();
      await streams.close();
    },
  };
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The HTTP status of our errors; 400 for the others. */
const STATUS: Readonly<Record<string, number>> = {
  not_signed_in: 401,
  not_allowed: 403,
  device_not_found: 403,
  too_many: 429,
  store_busy: 503,
  store_unavailable: 503,
  store_full: 507,
  internal: 500,
};

/** The facts about a device and this hive that the device gets when it signs in. */
async function describe(hive: Hive, device: Device, sender: PushSender | null): Promise<object> {
  const { device_id, name, human, key, push, push_failed } = device;
  return {
    device_id,
    name,
    human,
    store_id: hive.store_id,
    may_allow: hive.seats.counts(key),
    push_key: sender?.key ?? null,
    push: push?.endpoint ?? null,
    push_failed,
    now: await hive.history.now(),
  };
}

function addressOf(request: IncomingMessage): { path: string; page: string | null } {
  const url = URL.parse(request.url ?? '', 'http://localhost');
  return { path: url?.pathname ?? '', page: url?.searchParams.get('page') ?? null };
}

/** @throws HiveError if the page was reached by a foreign name (DNS rebinding), or if another page makes the request. */
function refuseForeign(request: IncomingMessage, options: Pick<InboxOptions, 'hosts' | 'tls'>): void {
  const { headers } = request;
  const host = nameOf(`http://${headers.host ?? ''}`);
  if (host === null || !options.hosts.has(host.name))
    throw refusedAtDoor('This Host is not allowed: see hive serve --allow-host.');
  if (headers.origin === undefined) return;
  const origin = nameOf(headers.origin);
  // Anybody on the network path can serve a page of this name without TLS.
  const isPlain = isSecure(request, options) && !headers.origin.startsWith('https:');
  if (origin === null || origin.host !== host.host || isPlain)
    throw refusedAtDoor('Another page may not call the inbox.');
}

/** Whether the browser speaks TLS: with this server, or with a proxy in front of it. */
function isSecure({ headers }: IncomingMessage, { tls }: Pick<InboxOptions, 'tls'>): boolean {
  return tls || headers['x-forwarded-proto'] === 'https';
}

function nameOf(address: string): { name: string; host: string } | null {
  const url = URL.parse(address);
  return url === null || url.hostname === '' ? null : { name: url.hostname, host: url.host };
}

/** Only the page's own fetch may begin a stream: a browser reports where a request comes from. */
function refuseCrossSite({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin')
    throw refusedAtDoor('Another page may not call the inbox.');
}

/** A request that changes something must have an Origin and be JSON: a form of another page has neither. */
function refuseForm({ headers }: IncomingMessage): void {
  refuseCrossSite({ headers } as IncomingMessage);
  if (headers.origin === undefined) throw refusedAtDoor('A call of the inbox has an Origin.');
  if (!/^application\/json\b/i.test(headers['content-type'] ?? ''))
    throw invalidInput('A call of the inbox is application/json.');
}

/** Refuses the origin of a request, whatever its content: the page keeps what it tried to send. */
function refusedAtDoor(why: string): HiveError {
  return new HiveError('not_allowed', why, { door: true });
}

function notHere(path: string): object {
  return { code: 'invalid_input', message: `Nothing is served at ${path.slice(0, 100)}.` };
}

function say(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(cleanDeep(body));
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(text);
}

class TooLarge extends HiveError {}

async function readJson(request: IncomingMessage, response: ServerResponse, most: number): Promise<unknown> {
  const refuse = (): never => {
    // The rest is not read: the connection ends with the answer.
    response.setHeader('Connection', 'close');
    throw new TooLarge('invalid_input', `The request is too large: at most ${most} bytes.`);
  };
  if (Number(request.headers['content-length'] ?? 0) > most) refuse();
  const chunks: Buffer[] = [];
  let size = 0;
  // Destroying the request would end the connection before the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) refuse();
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const excess = excessOf(text);
  if (excess !== null) throw invalidInput(excess);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput('The body is not JSON.');
  }
}
