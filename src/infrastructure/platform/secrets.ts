/** Random secrets and their digests. */
import type { Secrets } from '../../application/ports.ts';

/** 256 bits: more than anybody can try. The prefix lets scanners for leaked secrets find it. */
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
