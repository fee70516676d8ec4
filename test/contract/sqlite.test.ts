import fs, { copyFileSync, existsSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Store, WriteTx } from '../../src/application/ports.ts';
import { statement } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { copyNewStore } from '../support/new-store.ts';
import { tempStore } from '../support/temp.ts';
import { describeStoreContract } from './store-contract.ts';

describeStoreContract('SQLite', {
  async freshAddress() {
    const path = tempStore();
    await copyNewStore(path);
    return path;
  },
  missingAddress: async () => tempStore(),
  async openDriver(address, options) {
    await prepareSqliteFile(address);
    return openSqlite(address, options);
  },
});

test('only a receipt leaves its fsync to the next write, unless it tells somebody something', async () => {
  const path = tempStore();
  await prepareSqliteFile(path);
  const driver = closedAtEnd(openSqlite(path));
  const [FULL, NORMAL] = [2, 1];
  const synchronous = async (acknowledges?: () => boolean) => {
    const [row] = await driver.write((sql) => sql.all(statement('PRAGMA synchronous'), []), { acknowledges });
    return row?.['synchronous'];
  };
  expect(await synchronous(() => false), 'there is no log yet').toBe(FULL);
  await driver.write((sql) => sql.run(statement('CREATE TABLE notes (text TEXT)'), []));
  expect(await synchronous()).toBe(FULL);
  expect(await synchronous(() => false)).toBe(NORMAL);
  expect(await synchronous(() => true), 'flushed after the commit').toBe(NORMAL);
  expect(await synchronous()).toBe(FULL);
});

test('after a flush that failed, the next write flushes even if it changes nothing', {
  tags: ['flushed'],
}, async () => {
  const path = tempStore();
  await prepareSqliteFile(path);
  const driver = closedAtEnd(openSqlite(path));
  await driver.write((sql) => sql.run(statement('CREATE TABLE notes (text TEXT)'), []));
  // SQLite flushes by itself; what follows a commit under NORMAL is ours.
  const flush = fs.fsyncSync;
  const fail = (): never => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', errno: -5, syscall: 'fsync' });
  };
  const setFlush = (now: typeof flush): void => {
    fs.fsyncSync = now;
    syncBuiltinESMExports();
  };
  onTestFinished(() => setFlush(flush));

  const note = statement('INSERT INTO notes (text) VALUES ($1)');
  setFlush(fail);
  const lagging = driver.write((sql) => sql.run(note, ['one']), { acknowledges: () => true });
  await expect(lagging).rejects.toThrow(/What was not acknowledged may not be written/);
  await expect(
    driver.write(async () => undefined),
    'flushes again',
  ).rejects.toThrow();
  setFlush(flush);
  await driver.write(async () => undefined);
  const [row] = await driver.read((sql) => sql.all(statement('SELECT COUNT(*) AS n FROM notes'), []));
  expect(row?.['n']).toBe(1);
});

test('a long log is emptied by the process that closes the store, a short one is left', async () => {
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

describe('after the machine lost power', () => {
  const event = { type: 'session/changed', session_id: null, subject: null, data: {} } as const;

  /** The store as it was found on the disk after the restart `boot`: with none of the receipts since the copy. */
  async function afterwards(path: string, boot: string): Promise<Store> {
    const found = `${path}-found`;
    return openStore(openSqlite(found, { boot }), found);
  }

  /** Appends an event; returns its number. */
  async function numbered(tx: WriteTx): Promise<number> {
    await tx.events.append(event);
    return tx.events.head();
  }

  function copyDisk(path: string): void {
    for (const part of ['', '-wal'])
      if (existsSync(`${path}${part}`)) copyFileSync(`${path}${part}`, `${path}-found${part}`);
  }

  test('no number of an event that a receipt has shown is used again', async () => {
    const path = tempStore();
    await prepareSqliteFile(path);
    const store = closedAtEnd(await openStore(openSqlite(path, { boot: 'first' }), path));
    await store.write((tx) => tx.events.append(event));
    copyDisk(path);
    const shown = [];
    for (let count = 0; count < 20; count += 1) shown.push(await store.writeUnflushed(numbered));
    expect(shown.at(-1)).toBe(21);
    const again = await afterwards(path, 'second');
    expect(await again.write(numbered)).toBeGreaterThan(21);
    expect(await again.read((tx) => tx.events.head())).toBeGreaterThan(21);
    await again.close();
  });

  test('without a restart the numbers have no gaps, however many processes there were', async () => {
    const path = tempStore();
    await prepareSqliteFile(path);
    const numbers = [];
    for (let count = 0; count < 3; count += 1) {
      const store = await openStore(openSqlite(path, { boot: 'first' }), path);
      numbers.push(await store.writeUnflushed(numbered));
      numbers.push(await store.write(numbered));
      await store.close();
    }
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('receipts that use up the reserved numbers wait for the disk, and reserve more', async () => {
    const path = tempStore();
    await prepareSqliteFile(path);
    const driver = openSqlite(path, { boot: 'first' });
    const store = closedAtEnd(await openStore(driver, path));
    const mark = statement(`SELECT value FROM counters WHERE name = 'reserved_event'`);
    const reserved = async () => Number((await driver.read((sql) => sql.all(mark, [])))[0]?.['value']);
    const before = await reserved();
    for (let count = 0; count < 11; count += 1)
      await store.writeUnflushed(async (tx) => {
        for (let part = 0; part < 900; part += 1) await tx.events.append(event);
      });
    expect(await reserved()).toBeGreaterThan(before);
    expect((await store.read((tx) => tx.events.head())) + 10_000).toBeLessThan(await reserved());
  });

  test('a store that cannot be written is still read', async () => {
    const path = tempStore();
    await prepareSqliteFile(path);
    const store = await openStore(openSqlite(path, { boot: 'first' }), path);
    await store.close();
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const reader = closedAtEnd(await openStore(openSqlite(path, { boot: 'second', busy_ms: 1 }), path));
    expect(await reader.read((tx) => tx.events.head())).toBe(0);
    await expect(reader.write((tx) => tx.events.append(event))).rejects.toMatchObject({ code: 'store_busy' });
    other.exec('ROLLBACK');
    other.close();
    expect(await reader.write(numbered)).toBeGreaterThan(0);
  });
});
