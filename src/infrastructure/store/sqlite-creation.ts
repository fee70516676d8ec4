/**
 * How the file of a SQLite store comes into being: built aside and linked into place whole, so that of eight
 * processes that start at once one wins and nobody ever sees a half-made one.
 */
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { randomIds } from '../platform/ids.ts';
import { APPLICATION_ID } from './sqlite-file.ts';

/** Makes an empty store of ours at `path`, unless another process is first; its folder is there. */
export function createStoreFile(path: string): void {
  const draft = `${path}.${randomIds.make('new')}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const database = new DatabaseSync(draft);
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA application_id = ${APPLICATION_ID}`,
    );
    database.close();
    chmodSync(draft, 0o600);
    syncPath(draft);
    linkSync(draft, path);
    syncPath(dirname(path));
  } catch (error) {
    // Another process was first: its store is as good as ours.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${suffix}`, { force: true });
  }
}

function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
