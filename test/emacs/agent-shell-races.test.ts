/**
 * A desk and a buffer of agent-shell answer the same permission at about the same time. Four more seeds are in test/long.
 *
 * @module-tag one-winner
 * @module-tag emacs
 */
import { test } from 'vitest';
import { RACES, raceDeskAndBuffer } from '../support/agent-shell-races.ts';

test(`of a desk and a buffer that answer at once one wins, and the other side is told: ${RACES} races`, async () => {
  await raceDeskAndBuffer(1);
});
