/**
 * A backup of a SQLite store: what it contains when others write at that very moment, and disks that can do less than others.
 *
 * @module-tag sqlite
 */
import fs, { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { backUp } from '../../src/infrastructure/store/sqlite-backup.ts';
import { findDamage } from '../../src/infrastructure/store/sqlite-file.ts';
import { childEnvironment, HIVE, spawnChild } from '../support/children.ts';
import { ask, newHive, openTestHive } from '../support/hive.ts';
import { namesIn, tempFolder, tempStore } from '../support/temp.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

async function storeWith(question: string): Promise<string> {
  const { store, hive } = await newHive();
  await ask(hive, { question });
  await hive.close();
  return store;
}

interface Two {
  counter: number;
  named: number;
}

function twoOf(path: string): Two {
  const database = new DatabaseSync(path);
  const row = database
    .prepare(
      `SELECT (SELECT value FROM counters WHERE name = 'message') AS counter,
         (SELECT COUNT(*) FROM meta WHERE name = 'written meanwhile') AS named`,
    )
    .get();
  database.close();
  return { ...row } as unknown as Two;
}

/** Somebody opens the store, writes two tables in one transaction and closes it, which copies the log into the file. */
function writeTwo(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(
    `BEGIN IMMEDIATE; UPDATE counters SET value = value + 1 WHERE name = 'message';
     INSERT INTO meta (name, value) VALUES ('written meanwhile', '1'); COMMIT`,
  );
  database.close();
}

test('contains one moment, also if another process opens, writes and closes the store while it is copied', async () => {
  const store = await storeWith('Which moment?');
  const before = twoOf(store);
  const { exec } = DatabaseSync.prototype;
  let written = 0;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, text) {
    const tables = new Set(['counters', 'meta']);
    // Asked for each table as its turn to be copied comes: here one of the two has been copied.
    if (text.startsWith('VACUUM INTO'))
      this.setAuthorizer((action, table) => {
        if (action === constants.SQLITE_INSERT && tables.delete(table ?? '') && tables.size === 0) {
          writeTwo(store);
          written += 1;
        }
        return 0;
      });
    return exec.call(this, text);
  });
  const file = join(tempFolder(), 'backup.db');
  backUp(store, file);
  expect(written).toBe(1);
  expect(twoOf(store)).toEqual({ counter: before.counter + 1, named: 1 });
  expect(twoOf(file)).toEqual(before);
});

test('leaves nothing beside the store', async () => {
  const store = await storeWith('Alone?');
  const names = namesIn(dirname(store));
  backUp(store, join(tempFolder(), 'backup.db'));
  expect(namesIn(dirname(store))).toEqual(names);
});

test('a backup on a disk that cannot be written is restored', { tags: ['root', 'mounts'] }, async () => {
  const folder = join(tempFolder(), 'disk');
  mkdirSync(folder);
  backUp(await storeWith('Kept?'), join(folder, 'backup.db'));
  const store = tempStore();
  const script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
  const command = [process.execPath, HIVE, 'store', 'restore', join(folder, 'backup.db')];
  const child = spawnChild(
    'unshare',
    ['-m', 'sh', '-c', script, folder, ...command],
    childEnvironment(store),
  );
  child.process.stdout.resume();
  expect({ ...(await child.exited), said: child.stderr() }).toMatchObject({ code: 0, said: '' });
  const hive = await openTestHive(store);
  expect((await hive.prompts.list({ limit: 5 })).items).toMatchObject([{ question: 'Kept?' }]);
});

test('is written where the file system has no hard links, and replaces no file there', async () => {
  const store = await storeWith('On a stick?');
  const file = join(tempFolder(), 'backup.db');
  vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    throw Object.assign(new Error(`EPERM: operation not permitted, link '${from}' -> '${to}'`), {
      code: 'EPERM',
    });
  });
  syncBuiltinESMExports();
  backUp(store, file);
  expect(namesIn(dirname(file))).toEqual(['backup.db']);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(findDamage(file)).toEqual([]);

  // The file appears after the first look.
  const late = join(tempFolder(), 'backup.db');
  vi.mocked(fs.linkSync).mockImplementation(() => {
    writeFileSync(late, 'mine');
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  });
  syncBuiltinESMExports();
  expect(() => backUp(store, late)).toThrow(/already a file .*not changed/);
  expect(readFileSync(late, 'utf8')).toBe('mine');
  expect(namesIn(dirname(late))).toEqual(['backup.db']);
});
