/** New ids: a readable prefix and 16 random characters, 80 bits, safe to type and to double-click. */
import type { Ids } from '../../application/ports.ts';

/** Crockford's base 32 in lower case: no i, l, o, u to misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;

/** Randomness is fetched for this many ids at once: the way to the system takes longer than the making of an id. */
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
