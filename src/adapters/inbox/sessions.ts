/**
 * Sessions of the inbox: a device signs a challenge of this server and gets a cookie. The cookie's secret is in the memory
 * of this process only, so nothing that is stored lets anybody in, and after a restart the page signs a new challenge.
 */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Hive } from '../../application/hive.ts';
import { type Device, pairingText, sessionText } from '../../domain/devices.ts';
import { HiveError } from '../../domain/errors.ts';

export interface InboxSession {
  device: Device;
}

export interface InboxSessions {
  /** A text to sign: it counts once, for a minute. */
  challenge(device_id: string): string;
  /**
   * Opens a session. @throws HiveError `not_allowed` for a signature or challenge that does not count, `device_not_found` for a
   * device that was revoked or is not confirmed yet.
   */
  open(
    asked: { device_id: string; challenge: string; signature: string },
    origin: string,
  ): Promise<{ device: Device; cookie: (secure: boolean) => string }>;
  /** The session of a request. @throws HiveError `not_signed_in`. */
  admit(request: IncomingMessage): Promise<InboxSession>;
  /** Ends the sessions of every other device. */
  keepOnly(devices: ReadonlySet<string>): void;
}

const COOKIE = 'hive_inbox';
const CHALLENGE_MS = 60_000;
const SESSION_MS = 12 * 60 * 60_000;
/** Unused challenges are few: one more drops the oldest. */
const MOST_CHALLENGES = 1_000;
const MOST_SESSIONS_OF_DEVICE = 20;
const MOST_COOKIES = 10;

export function createInboxSessions(hive: Hive): InboxSessions {
  const challenges = new Map<string, { device_id: string; until: number }>();
  /** By the digest of the cookie. */
  const sessions = new Map<string, { device_id: string; until: number }>();

  function redeem(challenge: string, device_id: string): boolean {
    const known = challenges.get(challenge);
    challenges.delete(challenge);
    return known !== undefined && known.device_id === device_id && known.until > performance.now();
  }

  function begin(device_id: string): string {
    const secret = randomBytes(32).toString('base64url');
    const own = [...sessions].filter(([, session]) => session.device_id === device_id);
    const [oldest] = own;
    if (own.length >= MOST_SESSIONS_OF_DEVICE && oldest !== undefined) sessions.delete(oldest[0]);
    sessions.set(digestOf(secret), { device_id, until: performance.now() + SESSION_MS });
    return secret;
  }

  return {
    challenge(device_id) {
      const [oldest] = challenges.keys();
      if (challenges.size >= MOST_CHALLENGES && oldest !== undefined) challenges.delete(oldest);
      const challenge = randomBytes(32).toString('base64url');
      challenges.set(challenge, { device_id, until: performance.now() + CHALLENGE_MS });
      return challenge;
    },

    async open({ device_id, challenge, signature }, origin) {
      if (!redeem(challenge, device_id))
        throw new HiveError('not_allowed', 'This challenge does not count (any more): ask for a new one.');
      const device = await hive.devices.find(device_id);
      const text = sessionText({ store_id: hive.store_id, device_id, challenge, origin });
      if (device.device_id !== device_id || !isSignedBy(device.key, text, signature))
        throw new HiveError('not_allowed', 'The signature is not that of this device.');
      if (device.revoked_at !== null)
        throw new HiveError('device_not_found', `${device.name} was revoked: pair it anew.`, {
          state: 'revoked',
        });
      if (device.confirmed_at === null)
        throw new HiveError('device_not_found', `${device.name} has not been confirmed yet.`, {
          state: 'unconfirmed',
        });
      await hive.devices.seen(device_id);
      const secret = begin(device_id);
      return {
        device,
        cookie: (secure) =>
          `${COOKIE}=${secret}; Path=/inbox; HttpOnly; SameSite=Strict; Max-Age=${SESSION_MS / 1000}${secure ? '; Secure' : ''}`,
      };
    },

    async admit(request) {
      for (const secret of cookiesOf(request)) {
        const session = sessions.get(digestOf(secret));
        if (session === undefined || session.until <= performance.now()) continue;
        const device = await hive.devices.admitted(session.device_id);
        if (device !== undefined) return { device };
      }
      throw new HiveError('not_signed_in', 'There is no session (any more): sign a challenge first.');
    },

    keepOnly(devices) {
      for (const [digest, { device_id, until }] of sessions)
        if (!devices.has(device_id) || until <= performance.now()) sessions.delete(digest);
    },
  };
}

/** @throws HiveError `not_allowed` where whoever pairs does not have the key. */
export function verifyPairing({ code, key, proof }: { code: string; key: string; proof: string }): void {
  if (!isSignedBy(key, pairingText({ code, key }), proof))
    throw new HiveError('not_allowed', 'The proof is not a signature of this key.');
}

function isSignedBy(x: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    // Not every text of the right length is a key.
    return false;
  }
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * Every cookie of this name. Cookies know no ports, so another server of this machine can set one that a browser sends
 * first: it must not hide the page's own.
 */
function cookiesOf({ headers }: IncomingMessage): string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs
    .flatMap(([name, value = '']) => (name === COOKIE && value !== '' ? value : []))
    .slice(0, MOST_COOKIES);
}
