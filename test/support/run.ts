/**
 * Everything that the files of one run of the suite share (vitest.config.ts): a folder in memory where the tests write, the scripts
 * of the tests as bundles, the code that Hive's programs have compiled, and, if a file asks for it, one PostgreSQL server. Nothing
 * of it outlives the run.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { paddedPid, RUN_VARIABLE, runFolder } from './run-folder.ts';
import { stopSharedPostgres } from './shared-postgres.ts';
import { warmCode } from './warm-code.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A flushed write costs nothing there. What is on the disk is tested by `npm run chaos`. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;

/** Vitest calls this for itself and for each of its projects: the first begins the run, and the same one ends it. */
export async function setup(): Promise<() => Promise<void>> {
  if (process.env[RUN_VARIABLE] !== undefined) return async () => {};
  await begin();
  return end;
}

async function begin(): Promise<void> {
  const place = process.env['TMPDIR'] === undefined && inMemory() ? MEMORY : tmpdir();
  removeDead(place);
  // A short name, because that of a socket may have 107 bytes in all; and always of one length, because a terminal breaks
  // lines in which it is shown.
  const temp = join(place, `hive-${paddedPid()}-${processSpace()}`);
  rmSync(temp, { recursive: true, force: true });
  mkdirSync(temp);
  // The user of PostgreSQL must reach its own folder in it.
  chmodSync(temp, 0o1777);
  const folder = join(temp, 'run');
  mkdirSync(folder, { mode: 0o700 });
  mkdirSync(join(folder, 'code'));
  writeFileSync(join(folder, 'code.key'), randomBytes(32), { mode: 0o600 });
  process.env[RUN_VARIABLE] = folder;
  process.env['TMPDIR'] = temp;
  await Promise.all([bundleScripts(join(folder, 'scripts')), warmCode()]);
}

async function end(): Promise<void> {
  const folder = runFolder();
  await stopSharedPostgres(folder);
  rmSync(dirname(folder), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/** Whether there is room in memory, and what is written there can be run. */
function inMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return false;
    const folder = mkdtempSync(join(MEMORY, 'hive-try-'));
    try {
      writeFileSync(join(folder, 'try'), '#!/bin/sh\n', { mode: 0o700 });
      execFileSync(join(folder, 'try'));
      return true;
    } finally {
      rmSync(folder, { recursive: true });
    }
  } catch {
    return false;
  }
}

/** Names the process ids that this run can see: a container that shares the folder with us numbers its own. */
function processSpace(): string {
  const id = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  return Number(id).toString(36).padStart(7, '0');
}

/** Removes what killed runs have left. */
function removeDead(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = new RegExp(`^hive-(\\d+)-${processSpace()}$`).exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${Number(pid)}`))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}

const SCRIPTS = ['test/process/children', 'test/contract/children', 'test/emacs'];

/** Node takes 0.3 s of a processor to read all of src/ as TypeScript, each time: once is enough. */
async function bundleScripts(outdir: string): Promise<void> {
  const files = SCRIPTS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => folder.endsWith('children') || name === 'host.mjs')
      .map((name) => join(ROOT, folder, name)),
  );
  await build({
    entryPoints: files,
    outdir,
    outbase: join(ROOT, 'test'),
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    loader: { '.sql': 'text' },
    packages: 'external',
    logLevel: 'warning',
  });
  symlinkSync(join(ROOT, 'node_modules'), join(outdir, 'node_modules'));
}
