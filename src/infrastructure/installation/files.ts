/** Reads and writes the files of clients, and remembers what was changed in them. */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import { makeFolders, replaceDurably, syncPath } from '../platform/files.ts';
import { stateDirectory } from '../platform/paths.ts';
import type { Environment, FileChange, Receipt } from './parts.ts';

/** The text of a file; null when it does not exist. @throws HiveError `invalid_input` when it is not valid UTF-8. */
export function readText(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString('utf8');
    if (Buffer.from(text).equals(bytes)) return text;
    throw new HiveError('invalid_input', `${path} is not UTF-8 text: Hive leaves it alone.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Changes files, and remembers what it changed. */
export interface Installer {
  /** What was done to this file; null when nothing was. */
  receiptOf(path: string): Receipt | null;
  /** Makes a planned change; false when the file has changed since it was planned. */
  write(change: FileChange): boolean;
}

/** The installer whose records are in the state directory. */
export function createInstaller(env: Environment): Installer {
  const file = join(stateDirectory(env), 'installed.json');
  const receipts = (): Record<string, Receipt> => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Receipt>;
    } catch {
      // Without the records everything of ours is still recognized, but the exact bytes can no longer be restored.
      return {};
    }
  };
  const remember = (path: string, receipt: Receipt | null): void => {
    const { [path]: _old, ...others } = receipts();
    const all = receipt === null ? others : { ...others, [path]: receipt };
    makeFolders(dirname(file));
    if (Object.keys(all).length === 0) rmSync(file, { force: true });
    else replace(file, JSON.stringify(all, null, 2), 0o600);
  };
  return {
    receiptOf: (path) => receipts()[path] ?? null,
    write({ path, before, after, receipt }) {
      if (readText(path) !== before) return false;
      const old = receipts()[path] ?? null;
      if (after === null) {
        rmSync(path);
        syncPath(dirname(path));
        remember(path, null);
        removeFolders(path, old?.folder ?? null);
        return true;
      }
      const made = mkdirSync(dirname(path), { recursive: true });
      if (made !== undefined) syncNames(made, dirname(path));
      const folder = made ?? old?.folder ?? null;
      // Recorded first: a change that is not recorded could not be undone to the byte.
      if (receipt !== null) remember(path, { ...receipt, folder });
      replace(path, after, 0o600);
      if (receipt === null) remember(path, null);
      return true;
    },
  };
}

/** Waits until the names of new folders are on disk: the first one made, down to the last. */
function syncNames(first: string, last: string): void {
  for (let folder = last; folder.startsWith(first); folder = dirname(folder)) syncPath(dirname(folder));
}

/** Replaces a file completely or not at all, and keeps its mode. A link stays a link, as people often version such files. */
function replace(path: string, text: string, mode: number): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  replaceDurably(target, text, existsSync(target) ? statSync(target).mode & 0o7777 : mode);
}

/** Removes the folders that were created for a file, as far as they are empty. */
function removeFolders(path: string, first: string | null): void {
  if (first === null) return;
  try {
    for (let folder = dirname(path); folder.startsWith(first); folder = dirname(folder)) rmdirSync(folder);
  } catch {
    // Somebody else uses it.
  }
}
