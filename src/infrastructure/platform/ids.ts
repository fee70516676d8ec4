/** New ids (a readable prefix and 16 random characters, 80 bits, safe to type and to double-click), and random secrets. */
import type { Ids, Secrets } from '../../application/world.ts';

/** Crockford's base 32 in lower case, without i, l, o and u, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;

/** Random bytes are fetched for this many ids at once, because the system call takes longer than making an id. */
const BATCH = 64;
let random = Buffer.alloc(0);
let used = 0;

export const randomIds: Ids = {
  make(prefix) {
    if (used === random.length) {
      // Loading node:crypto takes 5 ms, a fifth of a bare Node's start; most hooks need no id.
      random = process.getBuiltinModule('node:crypto').randomBytes(BATCH * LENGTH);
      used = 0;
    }
    const bytes = random.subarray(used, used + LENGTH);
    used += LENGTH;
    let id = '';
    // 256 is a multiple of 32, so the remainder is uniform.
    for (const byte of bytes) id += ALPHABET[byte % ALPHABET.length];
    return `${prefix}-${id}`;
  },
};

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
