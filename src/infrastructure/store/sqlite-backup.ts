/**
 * Backups of a SQLite store. SQLite copies the content of the store at one moment, the log included, while others keep writing.
 * The copy is built under another name, checked, and moved into place when it is complete.
 */
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { HiveError } from '../../domain/errors.ts';
import { makeFolders, syncPath } from '../platform/files.ts';
import { randomIds } from '../platform/ids.ts';
import { resultCode, SQLITE } from './sqlite-errors.ts';
import { checkHeader, findDamage, foreignLog, markOf, namesOfUsers, newMark } from './sqlite-file.ts';
import { asideOf, isLogForeign, isUnused, logFiles, logOf, removeDraft, setLogAside } from './sqlite-log.ts';

/**
 * Writes a backup. `file` must not exist.
 * @throws HiveError `invalid_input`, `store_foreign`, `store_unavailable`.
 */
export function backUp(path: string, file: string): void {
  if (existsSync(file)) throw occupied(file);
  if (!existsSync(dirname(file)))
    throw new HiveError('invalid_input', `There is no folder ${dirname(file)}, so no backup was made in it.`);
  const draft = newDraft(file);
  removeOldDrafts(dirname(file));
  try {
    copyStoreFile(path, draft);
    giveName(draft, file);
    syncPath(dirname(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw occupied(file);
    throw error;
  } finally {
    removeDraft(draft);
  }
}

/** Moves the draft into place if nothing is there. Without hard links, as on FAT, a file has to reserve the name. */
function giveName(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    closeSync(openSync(file, 'wx', 0o600));
    try {
      renameSync(draft, file);
    } catch (failed) {
      rmSync(file, { force: true });
      throw failed;
    }
  }
}

function occupied(file: string): HiveError {
  return new HiveError(
    'invalid_input',
    `There is already a file ${file}, which was not changed. Choose another name.`,
  );
}

/**
 * Prepares to restore a backup: copies it next to the store, without its log if it is the store itself. Resolves to the copy.
 * @throws HiveError `store_foreign`, `store_busy`, `store_unsafe`, `store_unavailable`.
 */
export function draftOf(file: string, path: string): string {
  if (!existsSync(file))
    throw new HiveError('store_foreign', `There is no backup at ${file}. Nothing was changed.`);
  checkHeader(file);
  const isStore = existsSync(path) && statSync(path).ino === statSync(file).ino;
  if (!isStore && isLogForeign(file, () => markOf(file))) throw foreignLog(file);
  const draft = newDraft(path);
  makeFolders(dirname(path));
  removeOldDrafts(dirname(path));
  refuseUsed(path);
  copyStoreFile(file, draft, isStore);
  return draft;
}

/**
 * Puts the draft in the place of the store. The old store keeps its log and gets another name, which is returned; null if there
 * was none. The store has two names until the new one is in place, so no process opens it in between.
 */
export function putInPlace(draft: string, path: string): string | null {
  refuseUsed(path);
  const aside = asideOf(path);
  const there = existsSync(path);
  if (there) linkSync(path, aside);
  const log = setLogAside(path, aside, logFiles(path));
  renameSync(draft, path);
  syncPath(dirname(path));
  removeDraft(draft);
  return there ? aside : log;
}

/** A name of its own: two processes that begin at once with one file would remove each other's draft. */
function newDraft(file: string): string {
  return `${file}.${randomIds.make('new')}`;
}

/** The name of a draft ends like this. */
const DRAFT = /\.new-[0-9a-z]{16}$/;
/** In ms, longer than any step of a copy takes. */
const ABANDONED_MS = 60 * 60_000;

/** Removes the drafts of processes that were killed. Backups may have names with a date, so it looks at every draft in the folder. */
function removeOldDrafts(folder: string): void {
  for (const draft of readdirSync(folder).filter((name) => DRAFT.test(name))) {
    const path = join(folder, draft);
    try {
      if (!isBegun(path)) checkHeader(path);
      const { mtimeMs, nlink } = statSync(path);
      // biome-ignore lint/plugin: the time of a file is compared, which the same clock has set
      const isOld = Date.now() - mtimeMs > ABANDONED_MS;
      // A second name of a finished file is removed without opening that file.
      if (isOld && (nlink > 1 || isUnused(path))) removeDraft(path);
    } catch {
      // Gone in the meantime, another user's, or no store at all.
    }
  }
}

/** Whether a copy was begun here: SQLite writes the beginning of the first page last. */
function isBegun(path: string): boolean {
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    readSync(file, header);
  } finally {
    closeSync(file);
  }
  return header.every((byte) => byte === 0);
}

/** Opens the store by another name, under which it has no log: it is not known yet whether the log belongs to the file. */
function refuseUsed(path: string): void {
  if (!existsSync(path)) return;
  const probe = newDraft(path);
  linkSync(path, probe);
  try {
    if (isUnused(probe)) return;
  } finally {
    removeDraft(probe);
  }
  throw new HiveError(
    'store_busy',
    `The store ${path} is open in ${namesOfUsers(path)}. Nothing was changed; end every Hive that uses it, Emacs and agents included, and try again.`,
  );
}

/** Copies the content of a store at one moment into a new, complete and checked file. */
function copyStoreFile(from: string, to: string, withoutLog = false): void {
  removeDraft(to);
  try {
    if (withoutLog || !isLockable(from)) copyUnlocked(from, to);
    else copyFrom(from, to);
    const copy = new DatabaseSync(to);
    copy.exec(`PRAGMA journal_mode = WAL; PRAGMA user_version = ${newMark()}`);
    copy.close();
    const damage = findDamage(to);
    if (damage.length > 0) throw new Error(damage.join('; '));
    syncPath(to);
  } catch (error) {
    removeDraft(to);
    const message = error instanceof Error ? error.message : String(error);
    throw new HiveError(
      'store_unavailable',
      `The store ${from} cannot be copied to ${to} (${message}). Nothing was changed; check the disk and the permissions, and whether ${from} is damaged.`,
    );
  }
}

function copyFrom(address: string, to: string): void {
  const source = open(address);
  try {
    closeSync(openSync(to, 'wx', 0o600));
    source.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } finally {
    source.close();
  }
}

/**
 * Copies without locks and without the log. A process that opens the store at the same time may write the log back into it. The
 * copy would then mix two moments, so it is refused.
 */
function copyUnlocked(from: string, to: string): void {
  const before = statSync(from, { bigint: true });
  copyFrom(`${pathToFileURL(from).href}?immutable=1`, to);
  const { mtimeNs, size, ino } = statSync(from, { bigint: true });
  if (mtimeNs !== before.mtimeNs || size !== before.size || ino !== before.ino)
    throw new Error('somebody wrote it while it was copied');
}

/**
 * Whether SQLite can lock a store. To do so it opens the log and its index, or makes them if they are missing. On a disk that
 * cannot be written it cannot, and nobody writes there. An existing log is never ignored.
 */
function isLockable(path: string): boolean {
  const source = open(path);
  try {
    source.prepare('SELECT 1 FROM sqlite_schema').get();
    return true;
  } catch (error) {
    const code = resultCode(error);
    if (existsSync(logOf(path)) || (code !== SQLITE.readonly && code !== SQLITE.cantopen)) throw error;
    return false;
  } finally {
    source.close();
  }
}

/** How long it waits for a process that opens or closes the store. */
const LOCKED_MS = 2_000;

/** A connection that may write removes the log and the index that it made; a read-only one leaves a log as it is. */
function open(address: string): DatabaseSync {
  return new DatabaseSync(address, {
    readOnly: address.includes('://') || existsSync(logOf(address)),
    timeout: LOCKED_MS,
  });
}
