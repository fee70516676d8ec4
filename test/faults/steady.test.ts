/** `npm run test:steady` with one small file of tests, and with none. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, ROOT, readOutput, spawnChild } from '../support/children.ts';
import { RUN_VARIABLE } from '../support/run-folder.ts';
import { tempFolder } from '../support/temp.ts';

/** Runs it in a temporary folder of its own; what it printed and its exit code. */
async function steady(...args: string[]): Promise<{ code: number | null; printed: string }> {
  // It is a run of its own, and no part of this one.
  const { [RUN_VARIABLE]: _run, ...env } = childEnvironment('none', { TMPDIR: tempFolder() });
  const child = spawnChild(process.execPath, [join(ROOT, 'scripts/steady.mjs'), ...args], env);
  const printed = readOutput(child);
  const { code } = await child.exited;
  return { code, printed: printed() };
}

test('it runs beside busy programs and on one processor, and prints a line for each', async () => {
  const { code, printed } = await steady('--rounds', '1', 'test/unit/ids.test.ts');
  expect(printed).toMatch(/^1 +\d+ busy programs +\d+ +[1-9]\d* +0 +0 +0 *$/m);
  expect(printed).toMatch(/^2 +one processor +\d+ +[1-9]\d* +0 +0 +0 *$/m);
  expect(printed).toMatch(/No failure\.$/m);
  expect(code).toBe(0);
});

test('a run without one test does not hold', async () => {
  const { code, printed } = await steady('--rounds', '0', 'test/unit/no-such.test.ts');
  expect(printed).toMatch(/The suite does not hold\.$/m);
  expect(code).toBe(1);
});
