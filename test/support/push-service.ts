/** A push service on loopback, and the browser behind it: it keeps what it is sent, and decrypts it (RFC 8188, RFC 8291). */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { PushTarget } from '../../src/domain/devices.ts';
import type { PushMessage } from '../../src/extensions/inbox/pushes.ts';
import { listen } from './listen.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  /** The size of the encrypted body. */
  bytes: number;
  message: PushMessage;
}

export interface PushService {
  /** The subscription that a browser gives the page; each call is another browser. */
  subscribe(): PushTarget;
  readonly received: Received[];
  /** The answers to the next requests, in order; afterwards 201. `silence`: no answer at all. */
  answers: (number | 'silence' | { status: number; retry_after?: string; text?: string })[];
  /** How many requests came, answered or not. */
  readonly tried: number;
  readonly origin: string;
}

/** Plays the push service until the test has finished. */
export async function startPushService(): Promise<PushService> {
  const browsers = new Map<string, { ecdh: ReturnType<typeof createECDH>; auth: Buffer }>();
  const received: Received[] = [];
  let tried = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    tried += 1;
    const answer = service.answers.shift() ?? 201;
    if (answer === 'silence') return;
    const { status, retry_after, text }: { status: number; retry_after?: string; text?: string } =
      typeof answer === 'number' ? { status: answer } : answer;
    const browser = browsers.get(request.url ?? '');
    if (status === 201 && browser !== undefined) {
      const body = Buffer.concat(chunks);
      const message = JSON.parse(decrypt(body, browser)) as PushMessage;
      received.push({ headers: request.headers, bytes: body.length, message });
    }
    response.writeHead(status, retry_after === undefined ? {} : { 'Retry-After': retry_after });
    response.end(text);
  });
  const origin = await listen(server);
  const service: PushService = {
    origin,
    received,
    answers: [],
    get tried() {
      return tried;
    },
    subscribe() {
      const ecdh = createECDH('prime256v1');
      const p256dh = ecdh.generateKeys('base64url');
      const auth = randomBytes(16);
      const path = `/push/${randomBytes(8).toString('hex')}`;
      browsers.set(path, { ecdh, auth });
      return { endpoint: `${origin}${path}`, keys: { p256dh, auth: auth.toString('base64url') } };
    },
  };
  return service;
}

/** RFC 8291, 3.4, and RFC 8188, 2: one record. */
function decrypt(
  body: Buffer,
  { ecdh, auth }: { ecdh: ReturnType<typeof createECDH>; auth: Buffer },
): string {
  const salt = body.subarray(0, 16);
  const idLength = body.readUInt8(20);
  const sender = body.subarray(21, 21 + idLength);
  const sealed = body.subarray(21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32));
  const derive = (name: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${name}\0`, length));
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  // The last record ends with a 2 and padding.
  const end = plain.lastIndexOf(2);
  return plain.subarray(0, end).toString('utf8');
}

/** The claims of VAPID's token (RFC 8292), once its signature and its key were checked; null if they do not count. */
export function vapidClaims(authorization: string, key: string): Record<string, unknown> | null {
  const [, token = '', named] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  const [header = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const left_s = Number(said['exp']) - Date.now() / 1000;
  // A service refuses a token that is valid for longer than a day.
  return isSigned && named === key && left_s > 0 && left_s <= 86_400 ? said : null;
}
