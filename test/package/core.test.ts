/**
 * The core works without its extensions. A copy of the project without src/extensions/, and with nothing in the two tables that name
 * them: its types are right, it is built, and tests of the core pass there.
 *
 * @module-tag sqlite
 */
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempFolder } from '../support/temp.ts';

const run = promisify(execFile);

const NO_EXTENSIONS = `
import type { LoadRunHandler, OtherMachine } from './application/hook-context.ts';
import { HiveError } from './domain/errors.ts';
import type { StoreServer } from './infrastructure/store/sql.ts';
const refuse = async (): Promise<never> => {
  throw new HiveError('store_unavailable', 'This build has no extensions.');
};
export const storeServer: StoreServer = { open: refuse, examine: refuse };
export const runHandler: LoadRunHandler | null = null;
export const otherMachine: OtherMachine = { send: refuse, awaitWake: refuse };
`;

const NO_COMMANDS = `
import type { Command } from 'commander';
import { invalidInput } from '../domain/errors.ts';
export type Define = (command: Command) => void | Promise<void>;
export type Commands = Readonly<
  Record<string, Readonly<Record<string, readonly [summary: string, load: () => Promise<Define>]>>>
>;
export const EXTENSION_COMMANDS: Commands = {};
const refuse = async (..._given: readonly unknown[]): Promise<never> => {
  throw invalidInput('This build has no extensions.');
};
export const emacsExtensions = async () => [];
export const resumeRuns = async (_hive: unknown): Promise<void> => undefined;
export { refuse as findPhone, refuse as runDenying, refuse as runRemoteMcp, refuse as serveBeside };
`;

/**
 * Tests of what the copy builds, through each door of the core: a shell, MCP, hooks and Emacs. Its other files are those of the
 * project, so that tests of them alone would find the same.
 */
const TESTS = ['cli-a', 'cli.test', 'delivery', 'hooks-over-connection', 'outreach'];

let copy: string;
beforeFile(async () => {
  copy = join(tempFolder(), 'core');
  const left = new Set(['.git', 'dist', 'node_modules', 'src/extensions'].map((name) => join(ROOT, name)));
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !left.has(path) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'src/extensions.ts'), NO_EXTENSIONS);
  writeFileSync(join(copy, 'src/cli/extensions.ts'), NO_COMMANDS);
});

function inCopy(...args: string[]): Promise<{ stdout: string }> {
  // A run of its own: this one has bundles of scripts, with the extensions in them.
  const { HIVE_TEST_RUN: _, ...env } = process.env;
  return run(process.execPath, args, { cwd: copy, env, maxBuffer: 64 * 1024 * 1024 });
}

test('the core has its types, is built, and passes its tests without any extension', async () => {
  await inCopy('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.build.json');
  await inCopy('scripts/build.mjs', '--fast');
  const { stdout } = await inCopy(
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    'quick',
    '--maxWorkers',
    '2',
    ...TESTS.map((name) => `test/process/${name}`),
  );
  expect(stdout).toMatch(/\d{2,} passed/);
}, 900_000);
