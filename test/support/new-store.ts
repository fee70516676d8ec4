/**
 * A new SQLite store, copied from one that was made once: to make the tables again takes four fifths of what opening a hive
 * costs, and most tests open one. How a store is made is tested by what does not ask for a copy: test/contract, and programs.
 */
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { newMark, prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { MARK_OFFSET } from '../../src/infrastructure/store/sqlite-log.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';

interface Made {
  bytes: Buffer;
  /** Where the id of the store is in the file. */
  at: number;
}

let made: Promise<Made> | null = null;

/** Copies it to the path of a store in a folder that is still empty; anywhere else the program makes its own. */
export async function copyNewStore(path: string): Promise<void> {
  made ??= makeOnce();
  const { bytes, at } = await made;
  if (!isEmptyFolder(dirname(path))) return;
  // The id tells two stores apart, and the mark a store from the log of another one.
  bytes.write(randomIds.make('store'), at, 'latin1');
  bytes.writeUInt32BE(newMark(), MARK_OFFSET);
  const draft = `${path}.new-copy`;
  writeFileSync(draft, bytes, { mode: 0o600 });
  linkSync(draft, path);
  rmSync(draft);
}

async function makeOnce(): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'hive-new-store-'));
  const path = join(folder, 'hive.db');
  const store = await openStore(await openSqlite(await prepareSqliteFile(path)), path);
  await store.close();
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return { bytes, at: bytes.indexOf(store.store_id, 0, 'latin1') };
}

function isEmptyFolder(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}
