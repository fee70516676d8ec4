/** New ids: a readable prefix and 16 random characters, 80 bits, safe to type and to double-click. */
import type { Ids } from '../../application/ports.ts';

/** Crockford's base 32 in lower case: no i, l, o, u to misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;

export const randomIds: Ids = {
  make(prefix) {
    // Loading node:crypto takes 5 ms, a fifth of a bare Node's start; most hooks need no id.
    const { randomBytes } = process.getBuiltinModule('node:crypto');
    let id = '';
    // 256 is a multiple of 32, so the remainder is uniform.
    for (const byte of randomBytes(LENGTH)) id += ALPHABET[byte % ALPHABET.length];
    return `${prefix}-${id}`;
  },
};
