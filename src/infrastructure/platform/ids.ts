/** New ids (a readable prefix and 16 characters that nobody can guess, safe to type and to double-click), and random secrets. */
import type { Ids, Secrets } from '../../application/world.ts';

/** Crockford's base 32 in lower case, without i, l, o and u, which are easily misread. In the order of their codes. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;
const END = 1n << 80n;
/** Each id of a process is the previous one plus a random number of 56 bits: nobody can guess one from another. */
const STEP = (1n << 56n) - 1n;

/** Random numbers are fetched for this many ids at once, because the system call takes longer than making an id. */
const BATCH = 64;
let random = new BigUint64Array(0);
let used = 0;
/** The number of the last id; null before the first. */
let last: bigint | null = null;

/**
 * The ids of a process grow, so records of one millisecond are listed in the order in which they were written: lists are
 * sorted by time, and then by id. The first id leaves room for eight million others; then the numbers start again.
 */
export const randomIds: Ids = {
  make(prefix) {
    const next = last === null ? END : last + (draw() & STEP) + 1n;
    last = next < END ? next : ((draw() << 16n) | (draw() & 0xffffn)) >> 1n;
    let id = '';
    for (let rest = last, n = 0; n < LENGTH; n += 1, rest >>= 5n) id = ALPHABET[Number(rest & 31n)] + id;
    return `${prefix}-${id}`;
  },
};

/** A random number of 64 bits. */
function draw(): bigint {
  if (used === random.length) {
    // Loading node:crypto takes 5 ms, a fifth of a bare Node's start; most hooks need no id.
    const bytes = process.getBuiltinModule('node:crypto').randomBytes(BATCH * 8);
    random = new BigUint64Array(bytes.buffer, bytes.byteOffset, BATCH);
    used = 0;
  }
  const value = random[used] ?? 0n;
  used += 1;
  return value;
}

// ---- Secrets and their digests ----

/** 256 bits, too many to try. The prefix lets scanners for leaked secrets find it. */
const BYTES = 32;
const PREFIX = 'hive_';

export const randomSecrets: Secrets = {
  make: () => PREFIX + crypto().randomBytes(BYTES).toString('base64url'),
  digest: (secret) => crypto().createHash('sha256').update(secret).digest('hex'),
  equal(a, b) {
    const [left, right] = [Buffer.from(a), Buffer.from(b)];
    return left.length === right.length && crypto().timingSafeEqual(left, right);
  },
};

/** Loading node:crypto takes 5 ms, a fifth of a bare Node's start, and only `hive serve` and `hive token` need it. */
function crypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}
