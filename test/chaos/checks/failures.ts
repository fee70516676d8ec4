/** An act that fails under a fault gets a code that programs know; an internal error is a fault of ours. */
import { factsOf } from '../facts.ts';
import { type Check, finding } from './check.ts';

export const failures: Check = {
  name: 'failures',
  proves: 'every refusal under a fault has a code and a sentence; none is an internal error',
  run(evidence) {
    const found = finding();
    for (const { what, code, message } of factsOf(evidence, 'failed'))
      found.expect(
        code !== 'internal' && (code !== 'unknown' || what === 'follow'),
        () => `${what} failed with "${code}": ${message}`,
      );
    return found;
  },
};
