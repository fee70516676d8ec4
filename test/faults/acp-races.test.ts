/**
 * The races of test/wire/acp.test.ts with more seeds.
 *
 * @module-tag one-winner
 * @module-tag sqlite
 * @module-tag acp
 */
import { test } from 'vitest';
import { RACES, raceDeskAndEditor } from '../support/acp-races.ts';
import { openTestHive, withoutQuotas } from '../support/hive.ts';

test.each([21, 22, 23, 24])(
  `if a desk and an editor answer at once, exactly one wins, and the other is told: ${RACES} races of seed %i`,
  async (seed) => {
    await raceDeskAndEditor(await withoutQuotas(await openTestHive()), seed);
  },
);
