/** What SQLite says, as sentences and codes of ours. */
import { HiveError } from '../../domain/errors.ts';

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

/** The primary result code of a node:sqlite error; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  const errcode = (error as { errcode?: unknown } | null)?.errcode;
  return typeof errcode === 'number' ? errcode & 255 : undefined;
}

/** Whether another process holds the lock just now. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

/** Whether the file could not be written by this connection. */
export function isReadOnly(error: unknown): boolean {
  return resultCode(error) === SQLITE_READONLY;
}

/** A HiveError for what the file system or the engine refused; any other error passes unchanged. */
export function translateSqliteError(error: unknown, path: string): unknown {
  const said = error instanceof Error ? error.message : String(error);
  switch (resultCode(error)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return new HiveError(
        'store_busy',
        `The store ${path} is locked by another process. Nothing was written; try again.`,
      );
    case SQLITE_FULL:
      return new HiveError(
        'store_full',
        `There is no room for the store ${path}. Nothing was written; make room on that disk and try again.`,
      );
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      return new HiveError(
        'store_unavailable',
        `The store ${path} cannot be written (${said}). Nothing was written; check the disk and the permissions.`,
      );
    // Our statements fit our schema, so what does not fit a store is its file.
    case SQLITE_ERROR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new HiveError(
        'store_foreign',
        `The store ${path} is damaged or no store of Hive (${said}). Put it aside and restore a backup.`,
      );
    default:
      return isFileError(error)
        ? new HiveError(
            'store_unavailable',
            `The store ${path} cannot be reached (${said}). What was not acknowledged may not be written; check the disk and the permissions of its folder.`,
          )
        : error;
  }
}

/** What the file system refused to us and not to the engine: a folder that may not be entered, say. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'errno' in error;
}
