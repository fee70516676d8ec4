/** Folders that a test may fill; each is gone when its test has finished. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { whenFinished } from './lifetime.ts';
import { lendCode, paddedPid, returnCode } from './run-folder.ts';

/** The name contains the worker's number, so that leftovers of a test file can be recognized. */
const PREFIX = `hive-test-${paddedPid()}-`;

const given = new Set<string>();

/** A new folder (0700), removed when the test has finished. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  given.add(folder);
  whenFinished(() => removeFolder(folder));
  return folder;
}

/** The same as somebody's home, where a program starts with the code that others of this run have compiled. */
export function tempHome(): string {
  const folder = tempFolder();
  lendCode(folder);
  whenFinished(() => returnCode(folder));
  return folder;
}

/** Copies what is in a folder, with modes and times, which `cpSync` does not keep. */
export function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

/** Removes what ending processes wrote while their folder was removed, also those of earlier files. Call it once none is left. */
export async function removeAgain(): Promise<void> {
  for (const folder of remaining()) if (given.has(folder)) await removeFolder(folder);
}

/** A path for a store that does not exist yet. */
export function tempStore(): string {
  return join(tempFolder(), 'hive.db');
}

/** Removes the folders of this worker that still exist, and returns their names. */
export async function removeRemaining(): Promise<string[]> {
  const left = remaining();
  for (const folder of left) await removeFolder(folder);
  return left.map((folder) => basename(folder));
}

function remaining(): string[] {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
  return names.map((name) => join(tmpdir(), name));
}

/** The sorted names in a folder. */
export function namesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
