/**
 * The files next to a SQLite store: the write-ahead log (`-wal`) and its index (`-shm`), for which SQLite has few settings
 * (sqlite.org/wal.html, sqlite.org/walformat.html). Committed data is in the log until it is copied into the file. So the log
 * must exist as long as the store is open, and it must belong to the file next to it.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncPath } from '../platform/files.ts';
import { resultCode, SQLITE } from './sqlite-errors.ts';

export function logOf(path: string): string {
  return `${path}-wal`;
}

function indexOf(path: string): string {
  return `${path}-shm`;
}

/** Removes a draft of a store, with the files of SQLite and the doorbell next to it. */
export function removeDraft(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '-bell'])
    rmSync(`${draft}${suffix}`, { force: true });
}

/** At this length, reading the log at the next opening takes about as long as copying it now. */
const LONG_LOG_BYTES = 512 * 1024;

/** Whether the last connection should copy the log into the file when it closes. */
export function isLogLong(path: string): boolean {
  return logBytes(path) > LONG_LOG_BYTES;
}

/** Whether this process has to create the log; it then also waits until the log's name in the folder is on disk. */
export function isLogNew(path: string): boolean {
  return logBytes(path) === 0;
}

export function logBytes(path: string): number {
  return statSync(logOf(path), { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Flushes the log, as a commit under FULL does, and its name unless that is on disk already. Closing these files drops no
 * lock: SQLite's locks are on other files.
 */
export function flushLog(path: string, named: boolean): void {
  syncPath(logOf(path));
  if (!named) syncPath(dirname(path));
}

// ---- Whether the log is still there ----
// Cleaners and programs that sync folders remove or replace files that they take for temporary ones. SQLite continues to write
// into the removed log, and the next process begins another one. An open file keeps its inode, so another inode is another file.

/** The inodes of the log and of its index; undefined for a missing file. */
export interface LogFiles {
  readonly log: number | undefined;
  readonly index: number | undefined;
}

export function logFiles(path: string): LogFiles {
  return { log: numberOf(logOf(path)), index: numberOf(indexOf(path)) };
}

function numberOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Whether others may be writing a log of their own in the place of this one. */
export function isOtherLogThere(path: string, opened: LogFiles): boolean {
  const { log, index } = logFiles(path);
  const isOther = log !== opened.log && logBytes(path) > 0;
  return isOther || (index !== undefined && index !== opened.index);
}

/** Whether both files exist. They do while a process has the store open, unless somebody has removed them. */
export function hasLog(path: string): boolean {
  return existsSync(logOf(path)) && existsSync(indexOf(path));
}

/** The stores that are open in this process, by inode, and how often each is open. */
const openHere = new Map<number, number>();

/** Returns the function that ends it. */
export function holdOpen(ino: number): () => void {
  openHere.set(ino, (openHere.get(ino) ?? 0) + 1);
  let isHeld = true;
  return () => {
    if (isHeld) openHere.set(ino, (openHere.get(ino) ?? 1) - 1);
    isHeld = false;
  };
}

/**
 * Whether a store is open in this process. Then only SQLite may open and close its file: otherwise the system would drop the
 * locks of the whole process (fcntl(2)), and others could begin a log of their own. The file was checked when it was opened.
 */
export function isOpenHere(ino: number): boolean {
  return (openHere.get(ino) ?? 0) > 0;
}

/** Whether no other connection has the store open, in this process or another. */
export function isUnused(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // In this mode the first read locks the file, without a shared index, and fails while anybody else has the file open.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    return true;
  } catch (error) {
    return resultCode(error) !== SQLITE.busy;
  } finally {
    database.close();
  }
}

/**
 * Moves away a log that was left without its file, so that a new file does not get its pages. Returns its new name; null if
 * there was none. `stale` is the log's inode when the file was missing: a log with another inode belongs to a new file.
 */
export function setLogAside(path: string, aside: string, stale: LogFiles): string | null {
  const now = logFiles(path);
  if (now.index !== undefined && now.index === stale.index) rmSync(indexOf(path), { force: true });
  if (now.log === undefined || now.log !== stale.log) return null;
  if (logBytes(path) === 0) {
    rmSync(logOf(path), { force: true });
    return null;
  }
  renameSync(logOf(path), logOf(aside));
  return logOf(aside);
}

/** A name for a file that is set aside; such names sort by time. */
export function asideOf(path: string): string {
  return `${path}.before-${new Date().toISOString().replace(/[-:.]/g, '')}`;
}

// ---- Whether the log belongs to the file ----
// SQLite applies any log that it finds under the name, even to a backup that was copied over the file. So each log is marked:
// soon after a log begins, a commit writes a mark into the first page of the store (`user_version`). The mark consists of a
// number made from the salts of this log, and of the number of the log before. The file itself contains the number of the last
// log that was copied into it, which must be one of these two.

/** The offset of `user_version` in the first page. */
export const MARK_OFFSET = 60;
/** The offset of the two salts in the header of the log; each log begins with new ones. */
const SALTS_OFFSET = 16;
const LOG_HEADER = 32;
const FRAME_HEADER = 24;
/** A mark is among the first frames. A log that was not written by Hive has none. */
const FRAMES_SEARCHED = 256;

/** A 16-bit number for a log, never 0: a file that was never marked has 0. */
function idOfLog(salts: Buffer): number {
  return (((salts.readUInt32BE(0) ^ salts.readUInt32BE(4)) >>> 0) % 0xffff) + 1;
}

export function createLogMarker(path: string) {
  const salts = Buffer.alloc(8);
  let file: number | null = null;
  let id = 0;
  let marked = 0;
  return {
    /** Whether the log has no mark yet, as far as this process knows. Call it after each commit; it reads eight bytes. */
    isDue(): boolean {
      file ??= openSync(logOf(path), 'r');
      id = readSync(file, salts, 0, 8, SALTS_OFFSET) < 8 ? marked : idOfLog(salts);
      return id !== marked;
    },
    /** Marks the log. If another process is writing, the next commit of either tries again. */
    mark(database: DatabaseSync): void {
      try {
        database.exec('BEGIN IMMEDIATE');
        const before = markIn(database);
        if (before >>> 16 !== id) database.exec(`PRAGMA user_version = ${(id << 16) | (before >>> 16)}`);
        database.exec('COMMIT');
        marked = id;
      } catch {
        // The commit before this one is done, and must not fail because of its mark.
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    },
    close(): void {
      if (file !== null) closeSync(file);
      file = null;
      marked = 0;
    },
  };
}

function markIn(database: DatabaseSync): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** Whether the log next to a store belongs to another state of its file. `readMark` reads the file's own mark. */
export function isLogForeign(path: string, readMark: () => number): boolean {
  for (let last = readMark(); ; ) {
    if (!isForeignTo(path, last >>> 16)) return false;
    // Another process may have copied its log into the file and begun the next one just now.
    const again = readMark();
    if (again === last) return true;
    last = again;
  }
}

function isForeignTo(path: string, own: number): boolean {
  if (!existsSync(logOf(path))) return false;
  const file = openSync(logOf(path), 'r');
  try {
    const header = Buffer.alloc(LOG_HEADER);
    if (readSync(file, header, 0, LOG_HEADER, 0) < LOG_HEADER) return false;
    const salts = header.subarray(SALTS_OFFSET, SALTS_OFFSET + 8);
    const frame_bytes = FRAME_HEADER + header.readUInt32BE(8);
    const head = Buffer.alloc(FRAME_HEADER + MARK_OFFSET + 4);
    for (let n = 0; n < FRAMES_SEARCHED; n += 1) {
      const at = LOG_HEADER + n * frame_bytes;
      if (readSync(file, head, 0, head.length, at) < head.length) return false;
      // After the end of this log, the rest of an earlier one follows.
      if (!head.subarray(8, 16).equals(salts)) return false;
      if (head.readUInt32BE(0) !== 1) continue;
      const mark = head.readUInt32BE(FRAME_HEADER + MARK_OFFSET);
      if (mark >>> 16 !== idOfLog(salts)) continue;
      return own !== mark >>> 16 && own !== (mark & 0xffff) && isWhole(file, at + frame_bytes, frame_bytes);
    }
    return false;
  } finally {
    closeSync(file);
  }
}

/** Whether the log is valid up to here. After a power cut its last frames may be only partly on disk. */
function isWhole(file: number, end: number, frame_bytes: number): boolean {
  if (fstatSync(file).size < end) return false;
  const log = Buffer.alloc(end);
  readSync(file, log, 0, end, 0);
  const isLittle = (log.readUInt32BE(0) & 1) === 0;
  const word = (at: number): number => (isLittle ? log.readUInt32LE(at) : log.readUInt32BE(at));
  let [one, two] = [0, 0];
  const add = (from: number, to: number): void => {
    for (let at = from; at < to; at += 8) {
      one = (one + word(at) + two) >>> 0;
      two = (two + word(at + 4) + one) >>> 0;
    }
  };
  const isSum = (at: number): boolean => log.readUInt32BE(at) === one && log.readUInt32BE(at + 4) === two;
  add(0, 24);
  if (!isSum(24)) return false;
  for (let at = LOG_HEADER; at < end; at += frame_bytes) {
    add(at, at + 8);
    add(at + FRAME_HEADER, at + frame_bytes);
    if (!isSum(at + 16)) return false;
  }
  return true;
}
