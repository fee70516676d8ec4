import { statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { statement } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { tempStore } from '../support/temp.ts';
import { describeStoreContract } from './store-contract.ts';

describeStoreContract('SQLite', {
  freshAddress: async () => tempStore(),
  missingAddress: async () => tempStore(),
  async openDriver(address) {
    await prepareSqliteFile(address);
    return openSqlite(address);
  },
});

test('only a receipt leaves its fsync to the next write, unless somebody is told by it', async () => {
  const path = tempStore();
  await prepareSqliteFile(path);
  const driver = openSqlite(path);
  onTestFinished(() => driver.close());
  const [FULL, NORMAL] = [2, 1];
  const synchronous = async (waits?: () => boolean) => {
    const [row] = await driver.write((sql) => sql.all(statement('PRAGMA synchronous'), []), { waits });
    return row?.['synchronous'];
  };
  expect(await synchronous(() => false), 'there is no log yet').toBe(FULL);
  await driver.write((sql) => sql.run(statement('CREATE TABLE notes (text TEXT)'), []));
  expect(await synchronous()).toBe(FULL);
  expect(await synchronous(() => false)).toBe(NORMAL);
  expect(await synchronous(() => true), 'flushed after the commit').toBe(NORMAL);
  expect(await synchronous()).toBe(FULL);
});

test('a log that has grown long is ended by the one who leaves, a short one is left', async () => {
  const path = tempStore();
  const log = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  await prepareSqliteFile(path);
  const note = statement('INSERT INTO notes (text) VALUES ($1)');
  const first = openSqlite(path);
  await first.write((sql) => sql.run(statement('CREATE TABLE notes (text TEXT)'), []));
  await first.leave();
  expect(log()).toBeGreaterThan(0);
  await first.write((sql) => sql.run(note, ['x'.repeat(600_000)]));
  expect(log()).toBeGreaterThan(600_000);
  await first.leave();
  expect(log()).toBe(0);
});
