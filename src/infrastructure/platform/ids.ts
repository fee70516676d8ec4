/** New ids: a readable prefix and 16 random characters, 80 bits, safe to type and to double-click. */
import { randomBytes } from 'node:crypto';
import type { Ids } from '../../application/ports.ts';

/** Crockford's base 32 in lower case: no i, l, o, u to misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;

export const randomIds: Ids = {
  make(prefix) {
    let id = '';
    // 256 is a multiple of 32, so the remainder is uniform.
    for (const byte of randomBytes(LENGTH)) id += ALPHABET[byte % ALPHABET.length];
    return `${prefix}-${id}`;
  },
};
