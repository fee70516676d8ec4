/** Folders that a test may fill; each is gone when its test has finished. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whenFinished } from './lifetime.ts';

/** The worker's number stands in the name, so that what one test file leaves behind is known to be its own. */
const PREFIX = `hive-test-${process.pid}-`;

const given = new Set<string>();

/** A new folder (0700), removed when the test has finished. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  given.add(folder);
  whenFinished(() => removeFolder(folder));
  return folder;
}

/** Removes what a process wrote that was ending while its folder was removed. Once no process is left. */
export async function removeAgain(): Promise<void> {
  for (const folder of given) await removeFolder(folder);
}

/** A path for a store that does not exist yet. */
export function tempStore(): string {
  return join(tempFolder(), 'hive.db');
}

/** The folders of this worker that are still there. */
export function remainingFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
}

/** Names in a folder, sorted: what a process that has ended properly leaves there. */
export function namesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
