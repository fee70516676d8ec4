/** The file of a SQLite store, and the checks before it is opened. A refusal changes nothing. */
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HiveError } from '../../domain/errors.ts';
import { isAtLeast } from '../../domain/text.ts';
import { makeFolders, syncPath } from '../platform/files.ts';
import { randomIds } from '../platform/ids.ts';
import { platform } from '../platform/platform.ts';
import {
  asideOf,
  hasLog,
  isLogForeign,
  isOpenHere,
  isUnused,
  logFiles,
  MARK_OFFSET,
  removeDraft,
  setLogAside,
} from './sqlite-log.ts';

/** "HIVE" in the header of every store of ours. */
const APPLICATION_ID = 0x48495645;
const MAGIC = 'SQLite format 3\0';
/** Older ones can corrupt a WAL database that several processes write (sqlite.org/wal.html#walresetbug). */
const OLDEST_SQLITE = '3.51.3';

/** @throws HiveError `sqlite_too_old`. */
export function checkSqliteVersion(version: string): void {
  if (isAtLeast(version, OLDEST_SQLITE)) return;
  throw new HiveError(
    'sqlite_too_old',
    `This Node contains SQLite ${version}, which can damage a store that several processes write. Hive needs ${OLDEST_SQLITE} or newer: update Node.`,
  );
}

/**
 * Makes sure that `given` is a Hive store, and creates it (folder 0700, file 0600) if there is none. Resolves to the real
 * path of the file, so that a store opened through a link gets the same checks and the same bell.
 * @throws HiveError `store_unsafe`, `store_foreign`, `store_unavailable`.
 */
export async function prepareSqliteFile(
  given: string,
  fileSystemType: (folder: string) => number = typeOf,
): Promise<string> {
  const path = existsSync(given) ? realpathSync.native(given) : given;
  const folder = dirname(path);
  const create = existsSync(path) ? null : createStoreFile;
  try {
    // We may have to create the folder; its file system is known before that.
    const above = existingAbove(folder);
    refuseNetwork(above, fileSystemType);
    makeFolders(folder);
    refuseOpenFolder(folder);
    create?.(path);
    const isOpen = isOpenHere(statSync(path).ino);
    if (!isOpen) checkHeader(path);
    refuseSecondName(path);
    if (!isOpen && isLogForeign(path, () => markOf(path))) throw foreignLog(path);
    if (create === null) await refuseLogless(path);
    return path;
  } catch (error) {
    if (error instanceof HiveError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new HiveError(
      'store_unavailable',
      `The store ${path} cannot be opened (${message}). Check the folder and its permissions, or set HIVE_STORE.`,
    );
  }
}

function typeOf(folder: string): number {
  return statfsSync(folder).type;
}

function existingAbove(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingAbove(dirname(folder));
}

function refuseNetwork(folder: string, fileSystemType: (folder: string) => number): void {
  const network = platform.networkFileSystem(realpathSync(folder), fileSystemType(folder));
  if (network !== null) {
    throw new HiveError(
      'store_unsafe',
      `The folder ${folder} is on a file system that other machines see, too (${network}), where SQLite cannot keep a store safe. Nothing was changed; set HIVE_STORE to a path on a local disk or a postgres:// URL.`,
    );
  }
}

function refuseOpenFolder(folder: string): void {
  const me = process.getuid?.();
  if (me === undefined) return;
  const { mode, uid } = statSync(folder);
  if ((mode & 0o022) !== 0) {
    // Others need a folder like /tmp as it is.
    const remedy =
      (mode & 0o1000) !== 0 ? 'set HIVE_STORE to a file in your own folder.' : `run: chmod go-w '${folder}'`;
    throw new HiveError(
      'store_unsafe',
      `The folder ${folder} can be written by other users. Nothing was changed; ${remedy}`,
    );
  }
  // The owner can change the mode at any time, and root can write everything.
  if (uid !== me && uid !== 0) {
    throw new HiveError(
      'store_unsafe',
      `The folder ${folder} belongs to another user (uid ${uid}). Nothing was changed; take it over with chown, or set HIVE_STORE to your own folder.`,
    );
  }
}

/**
 * SQLite finds the log by the name of the file. With a second name the file would have a second log, and processes that use
 * different names would overwrite each other's pages.
 */
function refuseSecondName(path: string): void {
  if (platform.isMountPoint(path)) {
    throw new HiveError(
      'store_unsafe',
      `The store ${path} is mounted there as a single file, so its log is not the one that processes outside write. Nothing was changed; mount its folder instead, or set HIVE_STORE to a postgres:// URL.`,
    );
  }
  if (statSync(path).nlink === 1) return;
  removeDrafts(path);
  const { nlink } = statSync(path);
  if (nlink > 1) {
    throw new HiveError(
      'store_unsafe',
      `The store ${path} has another name, too (${nlink} hard links), and a process that opens it by that name would damage it. Nothing was changed; remove the other name, which find -inum ${statSync(path).ino} shows.`,
    );
  }
}

/**
 * While a process has the store open, its log exists. If it does not, somebody has removed it. Another log must not begin before
 * that process has copied its own into the file, which it does at its next check.
 * @throws HiveError `store_busy`.
 */
export async function refuseLogless(path: string): Promise<void> {
  for (let waited_ms = 0; !hasLog(path) && !isUnused(path); ) {
    if (waited_ms > LOGLESS_MS) {
      throw new HiveError(
        'store_busy',
        `The log of the store ${path} was removed while ${namesOfUsers(path)} had the store open. Nothing was changed; restart that process, which then copies what it knows into the store.`,
      );
    }
    // Processes that start at the same moment see each other here, before the first of them has a log.
    const pause_ms = 2 + Math.random() * 8;
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
    waited_ms += pause_ms;
  }
}

/** In ms: longer than the interval in which an idle process checks. */
const LOGLESS_MS = 1_500;

export function namesOfUsers(path: string): string {
  const pids = platform.lockersOf(statSync(path).ino).filter((pid) => pid !== process.pid);
  return pids.length === 0 ? 'another process' : `process ${pids.join(', ')}`;
}

export function foreignLog(path: string): HiveError {
  return new HiveError(
    'store_unsafe',
    `The log ${path}-wal does not belong to the store ${path}, which may be a backup that was copied there. Nothing was changed. To restore a backup, run: hive store restore FILE. To use the store without this log, run: hive store restore '${path}'`,
  );
}

/** Up to this size every index is compared with its table, in about half a second; above it, only the pages are checked. */
const COMPARED_BYTES = 64 * 1024 * 1024;

/** The errors in the structure of a store file, in SQLite's words; empty if there are none. Reads the whole file. */
export function findDamage(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const how = statSync(path).size > COMPARED_BYTES ? 'quick_check' : 'integrity_check';
    const rows = database.prepare(`PRAGMA ${how}(3)`).all() as Record<string, string>[];
    return rows.map((row) => Object.values(row)[0] ?? '').filter((text) => text !== 'ok');
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    database.close();
  }
}

export function checkHeader(path: string): void {
  const header = Buffer.alloc(100);
  // Opening a pipe would wait for its writer.
  if (!statSync(path).isFile()) throw foreign(path);
  const file = openSync(path, 'r');
  try {
    const read = readSync(file, header, 0, 100, 0);
    const ours =
      read === 100 &&
      header.toString('latin1', 0, 16) === MAGIC &&
      header.readUInt32BE(68) === APPLICATION_ID;
    if (!ours) throw foreign(path);
  } finally {
    closeSync(file);
  }
}

export function markOf(path: string): number {
  const mark = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, mark, 0, 4, MARK_OFFSET);
  } finally {
    closeSync(file);
  }
  return mark.readUInt32BE(0);
}

function foreign(path: string): HiveError {
  return new HiveError(
    'store_foreign',
    `The file ${path} is not a Hive store. Nothing was changed; move it away or set HIVE_STORE to another path.`,
  );
}

// ---- Creating the file ----
// It is built under another name and linked into place when it is complete. If eight processes start at once, one wins, and
// none sees a half-made file.

/** The end of a draft's name, after the name of the store, until the draft is linked into place. */
const DRAFT = /^\.(new-|copying$)/;

/** Removes names of drafts that remain because a process was killed just after it had linked one into place. */
function removeDrafts(path: string): void {
  const { ino } = statSync(path);
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(basename(path)) || !DRAFT.test(name.slice(basename(path).length))) continue;
    const draft = join(dirname(path), name);
    if (statSync(draft, { throwIfNoEntry: false })?.ino === ino) rmSync(draft, { force: true });
  }
}

/** A mark for a new file, so that no other file's log counts as its own. */
export function newMark(): number {
  return (1 + Math.floor(Math.random() * 0x7ffe)) << 16;
}

/** Makes an empty store at `path`, unless another process is first. The folder exists. */
function createStoreFile(path: string): void {
  const draft = `${path}.${randomIds.make('new')}`;
  const stale = logFiles(path);
  if (existsSync(path)) return;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const database = new DatabaseSync(draft);
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newMark()}`,
    );
    database.close();
    chmodSync(draft, 0o600);
    syncPath(draft);
    setLogAside(path, asideOf(path), stale);
    linkSync(draft, path);
    syncPath(dirname(path));
  } catch (error) {
    // Another process was first, and its store is just as good.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    removeDraft(draft);
  }
}
