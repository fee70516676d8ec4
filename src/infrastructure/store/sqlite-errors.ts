/** Errors of SQLite, as codes and sentences of Hive. */
import { HiveError } from '../../domain/errors.ts';

/** Primary result codes of SQLite. */
export const SQLITE = {
  error: 1,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  notadb: 26,
} as const;

/** An extended code, one of ioerr: the index of the log cannot grow, because the disk is full. */
const SHM_SIZE = 4874;

/** The primary result code of a node:sqlite error; undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  const errcode = (error as { errcode?: unknown } | null)?.errcode;
  if (typeof errcode !== 'number') return undefined;
  return errcode === SHM_SIZE ? SQLITE.full : errcode & 255;
}

/** Whether another process holds the lock now. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE.busy || code === SQLITE.locked;
}

/** Whether the file could not be written by this connection. */
export function isReadOnly(error: unknown): boolean {
  return resultCode(error) === SQLITE.readonly;
}

/** The HiveError for an error of the file system or the engine; any other error is returned unchanged. */
export function translateSqliteError(error: unknown, path: string): unknown {
  const message = error instanceof Error ? error.message : String(error);
  switch (resultCode(error)) {
    case SQLITE.busy:
    case SQLITE.locked:
      return new HiveError(
        'store_busy',
        `The store ${path} is locked by another process. Nothing was written; try again.`,
      );
    case SQLITE.full:
      return new HiveError(
        'store_full',
        `The disk of the store ${path} is full. Nothing was written; free some space there and try again.`,
      );
    case SQLITE.readonly:
    case SQLITE.cantopen:
    case SQLITE.ioerr:
      return new HiveError(
        'store_unavailable',
        `The store ${path} cannot be written (${message}). Nothing was written; check the disk and the permissions.`,
      );
    // Our statements fit our schema, so any other error means that the file is damaged.
    case SQLITE.error:
    case SQLITE.corrupt:
    case SQLITE.notadb:
      return new HiveError(
        'store_foreign',
        `The store ${path} is damaged or is not a Hive store (${message}). To restore a backup, run: hive store restore FILE`,
      );
    default:
      return isFileError(error)
        ? new HiveError(
            'store_unavailable',
            `The store ${path} cannot be reached (${message}). What was not acknowledged may not be written; check the disk and the permissions of its folder.`,
          )
        : error;
  }
}

/** An error of the file system itself, for example a folder without permission to enter. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'errno' in error;
}
