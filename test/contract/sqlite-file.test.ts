/** The file of a SQLite store: how it comes into being, and what happens to it while it is open. */
import { existsSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { findDamage } from '../../src/infrastructure/store/sqlite-file.ts';
import { ask, newHive, openTestHive } from '../support/hive.ts';
import { namesIn, tempFolder, tempStore } from '../support/temp.ts';

describe('a new store', () => {
  test('is readable by its owner alone, and so is everything beside it', async () => {
    const store = join(tempFolder(), 'state', 'hive', 'hive.db');
    const hive = await openTestHive(store);
    await hive.desks.setPreferences('seat', { do_not_disturb: true });
    const folder = dirname(store);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(dirname(folder)).mode & 0o777).toBe(0o700);
    for (const name of namesIn(folder))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  test('leaves nothing but itself and its bell when it is closed', async () => {
    const { store, hive } = await newHive();
    await hive.desks.open({ seat: 'seat', pid: process.pid, client: 'test' }).then((desk) => desk.close());
    await hive.close();
    expect(namesIn(dirname(store))).toEqual(['hive.db', 'hive.db-bell']);
  });

  test('is durable: WAL, and every commit is synced', async () => {
    const store = tempStore();
    await openTestHive(store);
    const database = new DatabaseSync(store, { readOnly: true });
    const { journal_mode } = database.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
    database.close();
    expect(journal_mode).toBe('wal');
  });
});

test('damage that no query reads is found by the doctor', async () => {
  const { store, hive } = await newHive();
  await ask(hive);
  await hive.close();
  expect(findDamage(store)).toEqual([]);
  const unsafe = (): DatabaseSync => new DatabaseSync(store, { defensive: false });
  // A table that loses its rows behind the back of its index.
  let spoiler = unsafe();
  const index = spoiler
    .prepare(`SELECT * FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL`)
    .get() as { name: string; tbl_name: string; rootpage: number; sql: string };
  spoiler.exec(`PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = '${index.name}'`);
  spoiler.close();
  spoiler = unsafe();
  spoiler.exec('DELETE FROM events; PRAGMA writable_schema = ON');
  spoiler
    .prepare(`INSERT INTO sqlite_schema VALUES ('index', ?, ?, ?, ?)`)
    .run(index.name, index.tbl_name, index.rootpage, index.sql);
  spoiler.close();
  expect(findDamage(store)).not.toEqual([]);
  const again = await openTestHive(store);
  const check = (await again.doctor.run()).find(({ name }) => name === 'Store');
  expect(check).toMatchObject({
    state: 'broken',
    text: expect.stringContaining(index.name),
    advice: expect.stringMatching(/is damaged.*restore a backup/),
  });
});

test('through a link it is the same store, with the same bell', async () => {
  const { store, hive } = await newHive();
  const link = join(tempFolder(), 'linked.db');
  symlinkSync(store, link);
  const linked = await openTestHive(link);
  const rung = new Promise<void>((resolve) => linked.store.watch(resolve));
  await ask(hive);
  await rung;
  expect(namesIn(dirname(link))).toEqual(['linked.db']);
});

describe('a store that others move or remove while it is open', () => {
  test('refuses reads and writes, and works again once it is back', async () => {
    const { store, hive } = await newHive();
    const { ask_id } = await ask(hive, { question: 'Before?' });
    const place = dirname(store);
    renameSync(place, `${place}-away`);
    await expect(ask(hive, { question: 'Meanwhile?' })).rejects.toThrow(
      /was moved or removed\. Nothing was written/,
    );
    await expect(hive.prompts.get(ask_id)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(existsSync(place)).toBe(false);
    renameSync(`${place}-away`, place);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ question: 'Before?' });
    await ask(hive, { question: 'After?' });
  });

  test('is not mistaken for another one in its place', async () => {
    const [store, other] = [tempStore(), tempStore()];
    const hive = await openTestHive(store);
    await openTestHive(other);
    renameSync(other, store);
    await expect(ask(hive, { question: 'Where to?' })).rejects.toThrow(/was replaced by another one/);
  });
});
