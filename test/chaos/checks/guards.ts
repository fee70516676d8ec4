/** Invariant 11: a guard names the call that clears it, and never holds that call. */
import { factsOf } from '../facts.ts';
import { type Check, finding } from './check.ts';

export const guards: Check = {
  name: 'guards',
  proves: 'a held tool call is told what clears it, and what clears it is never held',
  run(evidence) {
    const found = finding();
    for (const { tool, held, reason } of factsOf(evidence, 'hooked')) {
      if (!held) continue;
      found.expect(!tool.includes('hivemind_'), () => `${tool}, which clears the gate, was held: ${reason}`);
      found.expect(
        /hivemind_\w+|hive mentions/.test(reason),
        () => `${tool} was held and not told what clears it: "${reason}".`,
      );
    }
    return found;
  },
};
