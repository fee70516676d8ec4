/**
 * @module-tag durable
 * @module-tag at-least-once
 * @module-tag emacs
 */
import { test } from 'vitest';
import { emacsCrashRounds } from '../support/emacs-crash.ts';

test('2 rounds of kill -9 of a real Emacs and its sidecar lose no answer that was queued, and double none', async () => {
  await emacsCrashRounds(2, 1);
});
