/** The folder that all files of one run share, as its forks see it; run.ts makes it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Its path; the forks inherit it. */
export const RUN_VARIABLE = 'HIVE_TEST_RUN';

/** @throws Error outside of a run. */
export function runFolder(): string {
  const folder = process.env[RUN_VARIABLE];
  if (folder === undefined) throw new Error('This needs the folder of a run: start the tests with vitest.');
  return folder;
}

/** The bundle of a script of the tests (`test/process/children/ping.ts`), or null where there is none. */
export function bundleOf(script: string): string | null {
  const folder = process.env[RUN_VARIABLE];
  if (folder === undefined) return null;
  const file = join(folder, 'scripts', script.replace(/^test\//, '').replace(/\.(ts|mjs)$/, '.mjs'));
  return existsSync(file) ? file : null;
}
