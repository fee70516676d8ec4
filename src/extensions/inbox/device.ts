/** Devices (domain/devices.ts): pairing codes, signed texts, the phrase, the inbox's address. Pure; the page uses it, too. */
import type { Device, Pairing } from '../../domain/devices.ts';
import { invalidInput } from '../../domain/errors.ts';
import { required } from '../../domain/limits.ts';
import { PUBLIC_KEY } from '../../domain/seats.ts';
import { timeAfter } from '../../domain/times.ts';
import { isLoopback, isReadableByOthers } from '../../domain/tokens.ts';

/** How long a pairing code can be used. */
export const PAIRING_MS: number = 10 * 60_000;
/** In characters. */
const LONGEST_NAME = 60;

/** Crockford's base 32 in lower case: without i, l, o and u, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODE_LENGTH = 8;

/** A pairing code of 40 bits, from the digest of a new secret (hexadecimal digits). */
export function codeFrom(digest: string): string {
  // 256 is a multiple of 32, so all characters are equally likely.
  const pairs = Array.from({ length: CODE_LENGTH }, (_, index) => digest.slice(2 * index, 2 * index + 2));
  return pairs.map((pair) => ALPHABET[Number.parseInt(pair, 16) % ALPHABET.length]).join('');
}

/** A pairing code in its cleaned form. */
const CODE = /^[0-9a-hjkmnp-tv-z]{8}$/;

/** The code in its original form, however a person typed it: 7K3M-9Q2X, 7k3m 9q2x, O for 0. Null if it cannot be one. */
export function cleanCode(typed: string): string | null {
  const code = typed.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  return CODE.test(code) ? code : null;
}

/** The code as it is shown: two groups of four. */
export function shownCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`.toUpperCase();
}

export function createPairing(
  { code_digest, human, seat }: Pick<Pairing, 'code_digest' | 'human' | 'seat'>,
  now: string,
): Pairing {
  const expires_at = timeAfter(now, PAIRING_MS);
  return { code_digest, human, expires_at, device_id: null, seat };
}

/** Whether a device may still use this code. */
export function isUsable({ device_id, expires_at }: Pairing, now: string): boolean {
  return device_id === null && now < expires_at;
}

/** A device that has just used a pairing code. @throws HiveError `invalid_input` for a name or key that is not valid. */
export function createDevice(
  { device_id, name, key, human, seat }: Pick<Device, 'device_id' | 'name' | 'key' | 'human' | 'seat'>,
  now: string,
): Device {
  if (!PUBLIC_KEY.test(key)) throw invalidInput('The key of a device is 32 bytes in base64url.');
  return {
    device_id,
    name: required('name of the device', name.trim(), LONGEST_NAME),
    human,
    key,
    paired_at: now,
    confirmed_at: null,
    revoked_at: null,
    seen_at: null,
    push: null,
    push_failed: null,
    seat,
  };
}

/** Whether a device may sign in and answer. */
export function isAdmitted({ confirmed_at, revoked_at }: Device): boolean {
  return confirmed_at !== null && revoked_at === null;
}

/** The state of a device, for lists: its human has not compared the phrases yet, it is in use, or it was revoked. */
export function stateOf({ confirmed_at, revoked_at }: Device): DeviceState {
  if (revoked_at !== null) return 'revoked';
  return confirmed_at === null ? 'unconfirmed' : 'confirmed';
}

export type DeviceState = 'unconfirmed' | 'confirmed' | 'revoked';

// ---- What a device signs ----
// There is one text for each meaning, and it begins with that meaning. For answers: `answerText` in seats.ts.

/** Proves that the pairing device has the key. */
export function pairingText({ code, key }: { code: string; key: string }): string {
  return JSON.stringify(['hive pairing 1', code, key]);
}

/** Opens a session of the inbox: signs this server's challenge, and the address that the browser shows. */
export function sessionText(session: {
  store_id: string;
  device_id: string;
  challenge: string;
  origin: string;
}): string {
  const { store_id, device_id, challenge, origin } = session;
  return JSON.stringify(['hive inbox session 1', store_id, device_id, challenge, origin]);
}

// ---- The phrase ----
// Both sides show it before a device is confirmed: somebody else who uses the code, with a key of their own, gets another phrase. It
// depends on nothing that a server tells the page: whoever could choose a part of it could try millions until two phrases agree.

/** The text from whose SHA-256 the phrase is made. */
export function phraseText({ code, key }: { code: string; key: string }): string {
  return JSON.stringify(['hive phrase 1', code, key]);
}

const WORDS = 4;
const BITS = 11;

/** Four of 2,048 words, 44 bits, from the beginning of a digest. */
export function phraseOf(digest: Uint8Array, words: readonly string[]): string {
  let bits = 0n;
  for (const byte of digest.subarray(0, 8)) bits = (bits << 8n) | BigInt(byte);
  const chosen = Array.from({ length: WORDS }, (_, index) => {
    const shift = BigInt(64 - BITS * (index + 1));
    return words[Number((bits >> shift) & BigInt(2 ** BITS - 1))] ?? '';
  });
  return chosen.join(' ');
}

// ---- The address of the inbox ----

/** The address in the QR code. The part after # is not sent to any server. */
export function pairingAddress(address: string, code: string): string {
  return `${address}#code=${shownCode(code)}`;
}

/** Why a phone cannot use the inbox at this address, as a sentence; null if it can. */
export function whyOutOfReach(address: string): string | null {
  const url = new URL(address);
  if (isLoopback(url.hostname))
    return `${url.host} can be opened on this machine only, not on a phone. Put a proxy with TLS in front of it and name it with hive serve --inbox URL (docs/inbox.md shows how).`;
  if (isReadableByOthers(url))
    return `A browser makes no key on a page that came over plain HTTP. Serve the inbox over https (docs/inbox.md shows how).`;
  return null;
}
