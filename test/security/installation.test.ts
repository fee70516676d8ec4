/** An installation runs as its owner, so nobody else may be able to write it (docs/internals/threat-model.md). @module-tag filesystem */
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, HIVE, spawnChild } from '../support/children.ts';
import { NPM } from '../support/npm.ts';
import { tempHome, tempStore } from '../support/temp.ts';

interface Ran {
  code: number | null;
  err: string;
}

/** Runs `hive install` with the widest umask, in a home of its own and with an npm that fetches nothing. */
async function install(home: string): Promise<Ran> {
  const machine = join(home, 'machine');
  mkdirSync(machine, { recursive: true });
  writeFileSync(join(machine, 'npm'), NPM, { mode: 0o755 });
  writeFileSync(join(machine, 'emacs'), '#!/bin/sh\n', { mode: 0o755 });
  const PATH = `${machine}:${childEnvironment(tempStore())['PATH']}`;
  const env = childEnvironment(tempStore(), { HOME: home, PATH, PACKAGE_CONTENT: 'first' });
  const words = [process.execPath, HIVE, 'install', '--yes'];
  const child = spawnChild('sh', ['-c', 'umask 000; exec "$@"', 'sh', ...words], env);
  child.process.stdin.end();
  child.process.stdout.resume();
  const { code } = await child.exited;
  return { code, err: child.stderr() };
}

/** The paths below a folder that others could write. */
function open(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return [folder, ...found].filter((path) => {
    const { mode } = lstatSync(path);
    return !lstatSync(path).isSymbolicLink() && (mode & 0o022) !== 0;
  });
}

test('with umask 000 others can write nothing of it', async () => {
  const home = tempHome();
  chmodSync(home, 0o755);
  expect(await install(home)).toMatchObject({ code: 0 });
  expect(open(join(home, '.local'))).toEqual([]);
  expect(open(join(home, '.emacs.d'))).toEqual([]);
});

type Case = [what: string, name: string, opened: (folder: string) => void];

const CASES: Case[] = [
  ['its folder', '.local/share/hive', (folder) => chmodSync(folder, 0o777)],
  ['its programs', '.local/share/hive/bin', (folder) => chmodSync(folder, 0o777)],
  ['its versions', '.local/share/hive/versions', (folder) => chmodSync(folder, 0o777)],
  ['a folder above it', '.local/share', (folder) => chmodSync(folder, 0o757)],
  ['the folder of commands', '.local/bin', (folder) => chmodSync(folder, 0o777)],
];

/** Only root can make these. */
const FOREIGN: Case[] = [
  [
    'a folder that a group with other members can write',
    '.local/share/hive',
    (folder) => {
      // The group of the user "nobody" is not root's own.
      chownSync(folder, process.getuid?.() ?? 0, 65_534);
      chmodSync(folder, 0o775);
    },
  ],
  ['a folder of another user', '.local/share/hive', (folder) => chownSync(folder, 65_534, 65_534)],
];

test.each([...CASES, ...(process.getuid?.() === 0 ? FOREIGN : [])])(
  'where others can write %s, it refuses, and says what to do',
  async (_what, name, opened) => {
    const home = tempHome();
    const folder = join(home, name);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    opened(folder);
    const { code, err } = await install(home);
    expect(code).not.toBe(0);
    expect(err).toContain(folder);
    expect(err).toMatch(/chmod go-w|belongs to another user/);
  },
);
