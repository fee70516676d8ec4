/** Files: reading those of other programs, writing ours so that a power cut loses none. */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Files } from '../../application/world.ts';
import { HiveError } from '../../domain/errors.ts';

export const files: Files = {
  modifiedMs(path) {
    try {
      return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
    } catch {
      // It exists, but may not be looked at.
      return 0;
    }
  },

  flushFolders(folders) {
    const flushed = new Set<string>();
    for (const given of folders)
      for (let folder = resolve(given); !flushed.has(folder); folder = dirname(folder)) {
        flushed.add(folder);
        try {
          syncPath(folder, constants.O_DIRECTORY);
        } catch {
          // It may not exist, or may belong to somebody else; then it contains no names of ours.
        }
      }
  },

  readTail(path, bytes) {
    try {
      const file = openSync(path, READ_ONLY);
      try {
        const found = fstatSync(file);
        if (!found.isFile()) return null;
        const { size } = found;
        const tail = Buffer.alloc(Math.min(bytes, size));
        readSync(file, tail, 0, tail.length, size - tail.length);
        return tail.toString('utf8');
      } finally {
        closeSync(file);
      }
    } catch {
      return null;
    }
  },
};

/** Whether there is a link at a path, dangling or not. False if something above the path is not a folder. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Flags for opening a path that may not be a plain file: do not wait for a named pipe, and do not take over a terminal. */
export const READ_ONLY: number = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The text of a file that somebody else may have put there. @throws the system's error, or one that says that it is not a file:
 * reading a named pipe or a device could wait for ever.
 */
export function readFileOnly(path: string): string {
  const file = openSync(path, READ_ONLY);
  try {
    if (!fstatSync(file).isFile()) throw new HiveError('invalid_input', `${path} is not a file.`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Flushes a file, or the names in a folder. */
export function syncPath(path: string, flags = 0): void {
  const file = openSync(path, constants.O_RDONLY | flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes a folder with those above it, readable only by its owner, and waits until their names are on disk. One level at a
 * time, because Node's recursive mkdir never returns where none can be made, as in /proc.
 */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  syncPath(dirname(folder));
}

/** Read and written by its owner alone. */
const OWN_ONLY = 0o600;

/** Writes a new file, complete and on disk when this returns. @throws the system's error, `EEXIST` if the file exists. */
export function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', OWN_ONLY);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncPath(dirname(path));
}

/** Puts a complete new file, with its name on disk, in the place of whatever was there. */
export function replaceDurably(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  // A draft left behind by an earlier process with this id.
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, text, { mode: OWN_ONLY, flag: 'wx', flush: true });
    // Set again, because the umask applies to a new file.
    chmodSync(draft, OWN_ONLY);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}
