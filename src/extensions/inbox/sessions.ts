/**
 * Sessions of the inbox: a device signs a challenge of this server and gets a secret. Both keep it only in memory, so nothing
 * that is stored admits anybody, and after a restart the page signs a new challenge.
 *
 * A stranger must not be able to delay a device. So challenges are not stored: each carries the server's own authentication
 * code. It is used up only by the signature of its device, and only such a sign-in counts towards the limit of the device.
 */
import { createHash, createHmac, createPublicKey, randomBytes, timingSafeEqual, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Hive } from '../../application/hive.ts';
import type { Device } from '../../domain/devices.ts';
import { HiveError } from '../../domain/errors.ts';
import { pairingText, sessionText } from './device.ts';
import { createRate, SIGN_INS, STRANGERS } from './rates.ts';
import { devicesOf } from './service.ts';

export interface InboxSession {
  device: Device;
}

/**
 * The header in which a page sends the secret of its session. A cookie would also reach every other server of this host, such as one
 * that an agent has started: browsers do not separate cookies by port.
 */
const SECRET = 'hive-session';
const CHALLENGE_MS = 60_000;
const SESSION_MS = 12 * 60 * 60_000;
const MOST_SESSIONS_OF_DEVICE = 20;

export function createInboxSessions(hive: Hive) {
  const secret = randomBytes(32);
  const strangers = createRate(STRANGERS);
  const signIns = createRate(SIGN_INS);
  /** Challenges that have been used, until they would have expired anyway. */
  const used = new Map<string, number>();
  /** Sessions, by the digest of the secret. */
  const sessions = new Map<string, { device_id: string; until: number }>();
  let keys: ReadonlyMap<string, string> = new Map();

  /** A challenge with the authentication code of this server. */
  function sealed(device_id: string, until: string, nonce: string): string {
    const said = JSON.stringify([device_id, until, nonce]);
    return `${until}.${nonce}.${createHmac('sha256', secret).update(said).digest('base64url')}`;
  }

  /** When this challenge of this server and device expires; 0 for any other. */
  function endOf(challenge: string, device_id: string): number {
    const [until = '', nonce = ''] = challenge.split('.');
    const [given, own] = [Buffer.from(challenge), Buffer.from(sealed(device_id, until, nonce))];
    return given.length === own.length && timingSafeEqual(given, own) ? Number(until) : 0;
  }

  /** Uses the challenge up; returns whether it was valid until now. */
  function redeem(challenge: string, until: number): boolean {
    const now = performance.now();
    for (const [other, end] of used) {
      if (end > now) break;
      used.delete(other);
    }
    if (until <= now || used.has(challenge)) return false;
    used.set(challenge, until);
    return true;
  }

  /** The key of a device, before anybody has shown that they have it. */
  async function keyOf(device_id: string): Promise<string> {
    const known = keys.get(device_id);
    if (known !== undefined) return known;
    strangers.take('');
    // Not by its name, because the reply would say whether a device has that name.
    const device = (await devicesOf(hive).list()).find((one) => one.device_id === device_id);
    if (device === undefined) throw new HiveError('device_not_found', 'There is no such device.');
    return device.key;
  }

  function begin(device_id: string): string {
    const made = randomBytes(32).toString('base64url');
    const own = [...sessions].filter(([, session]) => session.device_id === device_id);
    const [oldest] = own;
    if (own.length >= MOST_SESSIONS_OF_DEVICE && oldest !== undefined) sessions.delete(oldest[0]);
    sessions.set(digestOf(made), { device_id, until: performance.now() + SESSION_MS });
    return made;
  }

  return {
    /** A text to sign: it can be used once, within a minute. */
    challenge(device_id: string): string {
      const until = String(Math.round(performance.now() + CHALLENGE_MS));
      const nonce = randomBytes(16).toString('base64url');
      return sealed(device_id, until, nonce);
    },

    /**
     * Opens a session, and returns its secret. @throws HiveError `not_allowed` for an invalid signature or challenge,
     * `device_not_found` for a device that was revoked or is not confirmed yet.
     */
    async open(
      { device_id, challenge, signature }: { device_id: string; challenge: string; signature: string },
      origin: string,
    ): Promise<InboxSession & { session: string }> {
      const over = (): HiveError =>
        new HiveError('not_allowed', 'This challenge is not valid (any more): ask for a new one.');
      const until = endOf(challenge, device_id);
      if (until === 0) throw over();
      const key = await keyOf(device_id);
      const text = sessionText({ store_id: hive.store_id, device_id, challenge, origin });
      if (!isSignedBy(key, text, signature))
        throw new HiveError('not_allowed', 'The signature is not that of this device.');
      if (!redeem(challenge, until)) throw over();
      signIns.take(device_id);
      const device = await devicesOf(hive).find(device_id);
      if (device.device_id !== device_id || device.key !== key)
        throw new HiveError('not_allowed', 'The signature is not that of this device.');
      if (device.revoked_at !== null)
        throw new HiveError('device_not_found', `${device.name} was revoked: pair it again.`, {
          state: 'revoked',
        });
      if (device.confirmed_at === null)
        throw new HiveError('device_not_found', `${device.name} has not been confirmed yet.`, {
          state: 'unconfirmed',
        });
      await devicesOf(hive).seen(device_id);
      return { device, session: begin(device_id) };
    },

    /** The session of a request. @throws HiveError `not_signed_in`. */
    async admit(request: IncomingMessage): Promise<InboxSession> {
      const session = sessions.get(digestOf(String(request.headers[SECRET] ?? '')));
      const isOpen = session !== undefined && session.until > performance.now();
      const device = isOpen ? await devicesOf(hive).admitted(session.device_id) : undefined;
      if (device === undefined)
        throw new HiveError('not_signed_in', 'There is no session (any more): sign a challenge first.');
      return { device };
    },

    /** Sets the known devices, so that a sign-in needs no read of the store before its signature is checked. */
    know(devices: readonly Pick<Device, 'device_id' | 'key'>[]): void {
      keys = new Map(devices.map(({ device_id, key }) => [device_id, key]));
    },

    /** Ends the sessions of every other device. */
    keepOnly(devices: ReadonlySet<string>): void {
      for (const [digest, { device_id, until }] of sessions)
        if (!devices.has(device_id) || until <= performance.now()) sessions.delete(digest);
    },
  };
}

/** @throws HiveError `not_allowed` if the pairing device does not have the key. */
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
