/** The races of test/wire/acp.test.ts and test/emacs/agent-shell-races.test.ts with more seeds. */
import { test } from 'vitest';
import { RACES as ACP_RACES, raceDeskAndEditor } from '../support/acp-races.ts';
import { raceDeskAndBuffer, RACES as SHELL_RACES } from '../support/agent-shell-races.ts';
import { openTestHive, withoutQuotas } from '../support/hive.ts';

test.each([21, 22, 23, 24])(
  `if a desk and an editor answer at once, exactly one wins, and the other is told: ${ACP_RACES} races of seed %i`,
  async (seed) => raceDeskAndEditor(await withoutQuotas(await openTestHive()), seed),
);

test.each([2, 3, 4, 5])(
  `of a desk and a buffer that answer at once one wins, and the other side is told: ${SHELL_RACES} races of seed %i`,
  (seed) => raceDeskAndBuffer(seed),
);
