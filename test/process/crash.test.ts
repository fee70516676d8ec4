/**
 * @module-tag durable
 * @module-tag at-least-once
 * @module-tag mcp
 * @module-tag emacs
 */
import { test } from 'vitest';
import { crashRounds } from '../support/crash.ts';

test('2 rounds of kill -9 lose no acknowledged ask and no acknowledged answer, and duplicate none', async () => {
  await crashRounds(2);
});
