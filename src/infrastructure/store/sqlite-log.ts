/** The write-ahead log of a SQLite store as a file: what SQLite itself cannot be told about it (sqlite.org/wal.html). */
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';

/** Reading back a log of this length takes whoever opens the store first about as long as ending it takes its last. */
const LONG_LOG_BYTES = 512 * 1024;

/** Whether the last one to leave should copy the log into place. */
export function isLogLong(path: string): boolean {
  return logBytes(path) > LONG_LOG_BYTES;
}

/** Whoever makes the log waits for the disk, for its name in the folder must be there as well. */
export function isLogNew(path: string): boolean {
  return logBytes(path) === 0;
}

function logBytes(path: string): number {
  return statSync(logOf(path), { throwIfNoEntry: false })?.size ?? 0;
}

/** What a commit under FULL does, done after it. Closing the log drops no lock: SQLite's are on other files. */
export function flushLog(path: string): void {
  const log = openSync(logOf(path), 'r+');
  try {
    fsyncSync(log);
  } finally {
    closeSync(log);
  }
}

function logOf(path: string): string {
  return `${path}-wal`;
}
