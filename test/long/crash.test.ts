import { test } from 'vitest';
import { crashRounds } from '../support/crash.ts';
import { emacsCrashRounds } from '../support/emacs-crash.ts';

test('200 rounds of kill -9 lose no acknowledged ask and no acknowledged answer, and double none', async () => {
  await crashRounds(200);
}, 1_200_000);

test('50 rounds of kill -9 of a real Emacs and its sidecar lose no answer that was queued, and double none', async () => {
  await emacsCrashRounds(50, 2);
}, 1_200_000);
