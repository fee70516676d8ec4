/** The folder that all files of one run share, as its forks see it; run.ts makes it. */
import { existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Its path; the forks inherit it. */
export const RUN_VARIABLE = 'HIVE_TEST_RUN';

/** @throws Error outside of a run. */
export function runFolder(): string {
  const folder = process.env[RUN_VARIABLE];
  if (folder === undefined) throw new Error('This needs the folder of a run: start the tests with vitest.');
  return folder;
}

/** This process, for the name of a folder: always as long, however many processes the machine has started before. */
export function paddedPid(): string {
  return String(process.pid).padStart(7, '0');
}

/** The bundle of a script of the tests (`test/process/children/ping.ts`), or null where there is none. */
export function bundleOf(script: string): string | null {
  const folder = process.env[RUN_VARIABLE];
  if (folder === undefined) return null;
  const file = join(folder, 'scripts', script.replace(/^test\//, '').replace(/\.(ts|mjs)$/, '.mjs'));
  return existsSync(file) ? file : null;
}

/** In the state directory of a person: the code that bin/hive keeps, and the key to it. */
const STATE = '.local/state/hive';
const KEY = 'code.key';

/** Gives a home the code that programs of this run have kept: with it they start in half the time. */
export function lendCode(home: string): void {
  const run = process.env[RUN_VARIABLE];
  if (run === undefined) return;
  const state = join(home, STATE);
  mkdirSync(join(state, 'code'), { recursive: true, mode: 0o700 });
  linkSync(join(run, KEY), join(state, KEY));
  linkAll(join(run, 'code'), join(state, 'code'));
}

/** Keeps for the others what the programs of this home have compiled. */
export function returnCode(home: string): void {
  const run = process.env[RUN_VARIABLE];
  const code = join(home, STATE, 'code');
  if (run !== undefined && existsSync(code)) linkAll(code, join(run, 'code'));
}

/** Complete files only: the name of an unfinished one ends with the number of its process. */
function linkAll(from: string, to: string): void {
  for (const name of readdirSync(from).filter((name) => !/\.\d+$/.test(name))) {
    if (existsSync(join(to, name))) continue;
    try {
      linkSync(join(from, name), join(to, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
