/**
 * Seats: where a human answers, each with a key (Ed25519). An answer that may allow something is signed with the key of
 * its seat, and the process that prints the `allow` checks that a registered seat signed it. The public keys are in the human's
 * file (trust.ts). The store only holds signatures, so write access to the store is not enough to allow anything.
 */
import type { PromptAnswer } from './prompts.ts';

/** A registered seat, as it is in the human's file. */
export interface Seat {
  /** Its name, usually user@machine. Several seats may have the same name. */
  name: string;
  /** Its public key: 32 bytes, base64url. */
  key: string;
  /** The names of the stores where it counts (`Store.name`); default: all stores. */
  stores?: readonly string[];
}

/** Whether this seat's signature may allow something in this store. */
export function countsIn({ stores }: Seat, store: string): boolean {
  return stores === undefined || stores.includes(store);
}

/** The seat, registered for one more store. */
export function withStore(seat: Seat, store: string): Seat {
  return countsIn(seat, store) ? seat : { ...seat, stores: [...(seat.stores ?? []), store] };
}

/** The key of the seat in this process. */
export interface SeatKey {
  /** Its public part, as in `Seat`. */
  readonly key: string;
  /** @throws HiveError `not_allowed` where the person's agent refuses. */
  sign(text: string): string | Promise<string>;
}

/** The signed statement: this text was displayed to the person, who gave this answer at this time. */
export interface SignedAnswer {
  store_id: string;
  ask_id: string;
  /** The digest of the permission as it was displayed (permissions.ts). */
  displayed_digest: string;
  answer: PromptAnswer;
}

/** The format of a secret key: 32 bytes in hexadecimal. */
export const SECRET_KEY: RegExp = /^[0-9a-f]{64}$/;
export const PUBLIC_KEY: RegExp = /^[A-Za-z0-9_-]{43}$/;
const LONGEST_NAME = 400;
/** The bytes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = '302e020100300506032b657004220420';

/** The key for this secret. @throws TypeError unless it is 64 hexadecimal digits. */
export function seatKeyFrom(secret: string): SeatKey {
  if (!SECRET_KEY.test(secret)) throw new TypeError('The key of a seat is 64 hexadecimal digits.');
  const { createPrivateKey, createPublicKey, sign } = crypto();
  const der = Buffer.from(PKCS8 + secret, 'hex');
  const secretKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(secretKey).export({ format: 'jwk' });
  return {
    key: String(x),
    sign: (text) => sign(null, Buffer.from(text), secretKey).toString('base64url'),
  };
}

/** The one type of SSH key that signs as the key of a seat does. */
export const SSH_KEY_TYPE = 'ssh-ed25519';

/** The public key in a line as printed by ssh-keygen or ssh-add; null for any other type, and for anything that is not a key. */
export function keyOfSshLine(line: string): string | null {
  const [type, base64 = ''] = line.trim().split(/\s+/);
  const blob = Buffer.from(base64, 'base64');
  const before = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from(SSH_KEY_TYPE),
    Buffer.from([0, 0, 0, 32]),
  ]);
  if (type !== SSH_KEY_TYPE || blob.length !== before.length + 32) return null;
  return blob.subarray(0, before.length).equals(before)
    ? blob.subarray(before.length).toString('base64url')
    : null;
}

/** The signature of an answer. */
export async function signAnswer(seat: SeatKey, signed: SignedAnswer): Promise<string> {
  return seat.sign(answerText(signed));
}

/** The seat among these that signed this answer; null when none did. */
export function seatThatSigned(
  seats: readonly Seat[],
  signed: SignedAnswer,
  signature: string | null,
): Seat | null {
  if (signature === null || seats.length === 0) return null;
  const { createPublicKey, verify } = crypto();
  const text = Buffer.from(answerText(signed));
  const bytes = Buffer.from(signature, 'base64url');
  const didSign = ({ key: x }: Seat): boolean => {
    try {
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
      return verify(null, text, key, bytes);
    } catch {
      // Not every text of the right length is a valid key.
      return false;
    }
  };
  return seats.find(didSign) ?? null;
}

/** The seats in the human's file. `problems` describe what is not understood. */
export function readSeats(value: unknown, file: string): { seats: Seat[]; problems: string[] } {
  if (!Array.isArray(value)) return { seats: [], problems: [`seats in ${file} is not a list.`] };
  const seats: Seat[] = [];
  const problems: string[] = [];
  for (const [index, item] of value.entries()) {
    const { name, key, stores, ...rest } = (item ?? {}) as Record<string, unknown>;
    const isNamed = typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME;
    const isKey = typeof key === 'string' && PUBLIC_KEY.test(key);
    const isKnown = Object.keys(rest).length === 0;
    if (isNamed && isKey && isKnown && (stores === undefined || areNames(stores)))
      seats.push({ name, key, ...(stores !== undefined && { stores }) });
    else
      problems.push(
        `Seat ${index + 1} in ${file} is not {"name": …, "key": …, "stores": […]} with a public key of Hive.`,
      );
  }
  return { seats, problems };
}

function areNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/**
 * The signed text of an answer: the name of the kind of signature, then the fields as JSON in a fixed order, so that equal
 * answers have equal texts.
 */
export function answerText({ store_id, ask_id, displayed_digest, answer }: SignedAnswer): string {
  const { decision, selected, comment, by, via, attested, response_id, responded_at } = answer;
  const fields = [decision, selected, comment, by, via, attested, response_id, responded_at];
  return JSON.stringify(['hive answer 1', store_id, ask_id, displayed_digest, fields]);
}

/** Loaded when needed: few processes sign or check, and loading it takes a fifth of a bare start. */
function crypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}
