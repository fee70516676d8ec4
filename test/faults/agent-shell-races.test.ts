/**
 * The races of test/emacs/agent-shell-races.test.ts with more seeds.
 *
 * @module-tag one-winner
 * @module-tag sqlite
 * @module-tag emacs
 */
import { test } from 'vitest';
import { RACES, raceDeskAndBuffer } from '../support/agent-shell-races.ts';

test.each([2, 3, 4, 5])(
  `of a desk and a buffer that answer at once one wins, and the other side is told: ${RACES} races of seed %i`,
  async (seed) => {
    await raceDeskAndBuffer(seed);
  },
);
