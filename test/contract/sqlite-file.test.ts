/** The file of a SQLite store: how it comes into being, and what is refused, changing nothing. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { networkFileSystem } from '../../src/infrastructure/platform/file-systems.ts';
import {
  checkSqliteVersion,
  findDamage,
  prepareSqliteFile,
} from '../../src/infrastructure/store/sqlite-file.ts';
import { openHive } from '../../src/open-hive.ts';
import { ask, openTestHive, recordingLog } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { namesIn, tempFolder, tempStore } from '../support/temp.ts';

expectNothingLeft();

const EXT4 = 0xef53;
const NFS = 0x6969;

async function refusal(store: string): Promise<{ code: string; message: string }> {
  return openHive({ store, env: {}, log: recordingLog() }).then(
    () => Promise.reject(new Error('It was opened.')),
    (error: unknown) => error as { code: string; message: string },
  );
}

/** Name, size, mode and content of everything in a folder. */
function contents(folder: string): unknown {
  return namesIn(folder).map((name) => {
    const { mode, isFile } = {
      mode: statSync(join(folder, name)).mode,
      isFile: statSync(join(folder, name)).isFile(),
    };
    return [name, mode, isFile ? readFileSync(join(folder, name)).toString('base64') : null];
  });
}

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
    const store = tempStore();
    const hive = await openTestHive(store);
    await hive.desks.open({ seat: 'seat', pid: 1, client: 'test' }).then((desk) => desk.close());
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

describe('is refused, and nothing is changed:', () => {
  test('a SQLite database of somebody else', async () => {
    const store = tempStore();
    const foreign = new DatabaseSync(store);
    foreign.exec('CREATE TABLE theirs (a)');
    foreign.close();
    const before = contents(dirname(store));
    expect(await refusal(store)).toMatchObject({
      code: 'store_foreign',
      message: expect.stringMatching(/no store of Hive\. Nothing was changed; move it away/),
    });
    expect(contents(dirname(store))).toEqual(before);
  });

  test.each([
    ['a text', 'not SQLite at all\n'.repeat(10)],
    ['an empty file', ''],
  ])('%s', async (_what, text) => {
    const store = tempStore();
    writeFileSync(store, text, { mode: 0o600 });
    const before = contents(dirname(store));
    expect(await refusal(store)).toMatchObject({ code: 'store_foreign' });
    expect(contents(dirname(store))).toEqual(before);
  });

  test('a store of ours whose header was damaged, in words that say what to do', async () => {
    const store = tempStore();
    await (await openTestHive(store)).close();
    const bytes = readFileSync(store);
    // The versions that may write and read this file: SQLite calls others "unsupported", a plain error.
    bytes[18] = 9;
    bytes[19] = 9;
    writeFileSync(store, bytes);
    expect(await refusal(store)).toMatchObject({
      code: 'store_foreign',
      message: expect.stringMatching(/is damaged or no store of Hive.*restore a backup/),
    });
    expect(readFileSync(store)).toEqual(bytes);
  });

  test('a field that holds no JSON any more', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    await ask(hive, { options: ['yes', 'no'] });
    const spoiler = new DatabaseSync(store);
    spoiler.exec(`UPDATE prompts SET options = '["ye'`);
    spoiler.close();
    await expect(hive.store.read((tx) => tx.prompts.list({ limit: 10 }))).rejects.toMatchObject({
      code: 'store_foreign',
      message: expect.stringMatching(/store is damaged.*restore a backup/),
    });
  });

  test('a folder in the place of the file', async () => {
    const store = tempStore();
    mkdirSync(store);
    expect(await refusal(store)).toMatchObject({ code: 'store_foreign' });
    expect(namesIn(dirname(store))).toEqual(['hive.db']);
  });

  test('a link that leads nowhere', async () => {
    const store = tempStore();
    symlinkSync('/nowhere/hive.db', store);
    expect(await refusal(store)).toMatchObject({ code: 'store_unavailable' });
    expect(namesIn(dirname(store))).toEqual(['hive.db']);
  });

  test.each([0o770, 0o707, 0o777])('a folder with mode %o, where others can write', async (mode) => {
    const folder = tempFolder();
    chmodSync(folder, mode);
    expect(await refusal(join(folder, 'hive.db'))).toMatchObject({
      code: 'store_unsafe',
      message: expect.stringMatching(/can be written by other users.*chmod go-w/),
    });
    expect([namesIn(folder), statSync(folder).mode & 0o777]).toEqual([[], mode]);
  });

  test('a network file system, before even a folder is made there', () => {
    const store = join(tempFolder(), 'new', 'hive.db');
    expect(() => prepareSqliteFile(store, () => NFS)).toThrow(
      expect.objectContaining({
        code: 'store_unsafe',
        message: expect.stringMatching(
          /network file system \(NFS\).*HIVE_STORE to a local path or a postgres/,
        ),
      }),
    );
    expect(existsSync(dirname(store))).toBe(false);
  });

  test('a place where no folder can be made', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    expect(await refusal(join(file, 'hive.db'))).toMatchObject({ code: 'store_unavailable' });
  });

  test.each(['3.7.0', '3.45.1', '3.51.2', '3.50.9', '0'])('a SQLite of version %s', (version) => {
    expect(() => checkSqliteVersion(version)).toThrow(
      expect.objectContaining({
        code: 'sqlite_too_old',
        message: expect.stringMatching(/3\.51\.3.*update Node/),
      }),
    );
  });

  test.each(['3.51.3', '3.52', '4.0.0', '3.100.0'])('but not one of version %s', (version) => {
    expect(() => checkSqliteVersion(version)).not.toThrow();
  });
});

test('what an older Hive has stored is sealed when it is migrated, and refused when it has changed since', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  await hive.close();
  const older = new DatabaseSync(store);
  older.exec('ALTER TABLE prompts DROP COLUMN seal; DELETE FROM migrations WHERE number = 11');
  older.close();
  const again = await openTestHive(store);
  expect((await again.prompts.get(ask_id)).question).toBe('Go on?');
  const spoiler = new DatabaseSync(store);
  spoiler.exec(`UPDATE prompts SET question = 'Go in?'`);
  spoiler.close();
  await expect(again.prompts.get(ask_id)).rejects.toMatchObject({ code: 'store_foreign' });
});

test('damage that no reading meets is found by the doctor', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
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
    ok: false,
    text: expect.stringContaining(index.name),
    advice: expect.stringMatching(/is damaged.*restore a backup/),
  });
});

describe('a store that others move or remove while it is open', () => {
  test('takes nothing and shows nothing, and goes on once it is back', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive, { question: 'Before?' });
    const place = dirname(store);
    renameSync(place, `${place}-away`);
    await expect(ask(hive, { question: 'Meanwhile?' })).rejects.toThrow(
      /is gone: somebody moved or removed it\. Nothing was written/,
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

describe('a file system', () => {
  const mountinfo = (): string =>
    [
      '22 1 254:1 / / rw - ext4 /dev/vda1 rw',
      '30 22 0:50 / /home/ada/far rw - fuse.sshfs ada@far: rw',
      '31 22 0:51 / /home/ada/far/near rw - fuse.gocryptfs near rw',
    ].join('\n');
  const FUSE = 0x65735546;

  test.each([
    ['ext4', EXT4, '/home', null],
    ['NFS', NFS, '/home', 'NFS'],
    ['SMB, whose number is negative in some versions of Node', 0xfe534d42 | 0, '/home', 'SMB2'],
    ['sshfs', FUSE, '/home/ada/far/hive', 'fuse.sshfs'],
    ['a local FUSE inside sshfs', FUSE, '/home/ada/far/near', null],
    ['a neighbour with a longer name', FUSE, '/home/ada/farther', null],
  ])('%s is told by its type and mount', (_what, type, folder, network) => {
    expect(networkFileSystem(type, folder, mountinfo)).toBe(network);
  });
});
