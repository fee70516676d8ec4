/**
 * Files that are refused as a SQLite store: they stay as they are.
 *
 * @module-tag durable
 * @module-tag library
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { checkSqliteVersion, prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { openHive } from '../../src/open-hive.ts';
import { childEnvironment, HIVE, spawnChild } from '../support/children.ts';
import { ask, newHive, openTestHive, recordingLog } from '../support/hive.ts';
import { namesIn, tempFolder, tempStore } from '../support/temp.ts';

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

describe('is refused, and nothing is changed:', () => {
  test('a SQLite database of somebody else', async () => {
    const store = tempStore();
    const foreign = new DatabaseSync(store);
    foreign.exec('CREATE TABLE theirs (a)');
    foreign.close();
    const before = contents(dirname(store));
    expect(await refusal(store)).toMatchObject({
      code: 'store_foreign',
      message: expect.stringMatching(/is not a Hive store\. Nothing was changed; move it away/),
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
      message: expect.stringMatching(/is damaged or is not a Hive store.*restore a backup/),
    });
    expect(readFileSync(store)).toEqual(bytes);
  });

  test('a field that holds no JSON any more', async () => {
    const { store, hive } = await newHive();
    const { ask_id } = await ask(hive, { options: ['yes', 'no'] });
    const spoiler = new DatabaseSync(store);
    spoiler.exec(`UPDATE prompts SET options = '["ye'`);
    spoiler.close();
    await expect(hive.store.read((tx) => tx.prompts.get(ask_id))).rejects.toMatchObject({
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

  test('a folder that everybody uses, such as /tmp, which stays as others need it', async () => {
    const folder = tempFolder();
    chmodSync(folder, 0o1777);
    const { code, message } = await refusal(join(folder, 'hive.db'));
    expect(code).toBe('store_unsafe');
    expect(message).toMatch(
      /can be written by other users\. .*set HIVE_STORE to a file in your own folder\.$/,
    );
    expect(message).not.toContain('chmod');
  });

  test('a link to a file in a folder where others can write', async () => {
    const open = tempFolder();
    await (await openTestHive(join(open, 'hive.db'))).close();
    chmodSync(open, 0o777);
    const link = join(tempFolder(), 'hive.db');
    symlinkSync(join(open, 'hive.db'), link);
    expect(await refusal(link)).toMatchObject({
      code: 'store_unsafe',
      message: expect.stringContaining(open),
    });
  });

  test('a link to a file on a network file system', async () => {
    const far = tempFolder();
    await (await openTestHive(join(far, 'hive.db'))).close();
    const link = join(tempFolder(), 'hive.db');
    symlinkSync(join(far, 'hive.db'), link);
    const type = (folder: string): number => (folder === far ? NFS : EXT4);
    await expect(prepareSqliteFile(link, type)).rejects.toMatchObject({ code: 'store_unsafe' });
  });

  test('a file with a second name, by either of them, until that name is gone', async () => {
    const [store, other] = [tempStore(), tempStore()];
    await (await openTestHive(store)).close();
    linkSync(store, other);
    for (const name of [store, other])
      expect(await refusal(name)).toMatchObject({
        code: 'store_unsafe',
        message: expect.stringMatching(/has another name, too \(2 hard links\).*Nothing was changed; remove/),
      });
    expect(namesIn(dirname(other))).toEqual(['hive.db']);
    rmSync(other);
    await ask(await openTestHive(store));
  });

  test('but not because its creation was cut off after the draft was linked into place', async () => {
    const store = tempStore();
    await (await openTestHive(store)).close();
    linkSync(store, `${store}.new-0123456789abcdef`);
    linkSync(store, `${store}.copying`);
    writeFileSync(`${store}.new-of-another`, '');
    await ask(await openTestHive(store));
    expect(namesIn(dirname(store)).filter((name) => !/^hive\.db(-\w+)?$/.test(name))).toEqual([
      'hive.db.new-of-another',
    ]);
  });

  test('a file that is mounted alone', { tags: ['root', 'mounts'] }, async () => {
    const [store, mounted] = [tempStore(), tempStore()];
    await (await openTestHive(store)).close();
    writeFileSync(mounted, '');
    const script = `mount --bind '${store}' '${mounted}' && exec '${process.execPath}' '${HIVE}' ask 'Where?'`;
    const child = spawnChild('unshare', ['-m', 'sh', '-c', script], childEnvironment(mounted));
    expect((await child.exited).code).toBe(1);
    expect(child.stderr()).toMatch(
      /is mounted there as a single file.*Nothing was changed; mount its folder/,
    );
    expect(namesIn(dirname(mounted))).toEqual(['hive.db']);
  });

  // Only root can give a folder away, and so make one to look at.
  test('a folder of another user, who can write it', { tags: ['root'] }, async () => {
    const folder = tempFolder();
    chownSync(folder, 65_534, 65_534);
    expect(await refusal(join(folder, 'hive.db'))).toMatchObject({
      code: 'store_unsafe',
      message: expect.stringMatching(/belongs to another user \(uid 65534\).*chown/),
    });
    expect(namesIn(folder)).toEqual([]);
  });

  test('a network file system, before even a folder is made there', async () => {
    const store = join(tempFolder(), 'new', 'hive.db');
    await expect(prepareSqliteFile(store, () => NFS)).rejects.toEqual(
      expect.objectContaining({
        code: 'store_unsafe',
        message: expect.stringMatching(
          /file system that other machines see, too \(NFS\).*HIVE_STORE to a path on a local disk or a postgres/,
        ),
      }),
    );
    expect(existsSync(dirname(store))).toBe(false);
  });

  test('a place where no folder can be made', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    expect(await refusal(join(file, 'hive.db'))).toMatchObject({ code: 'store_unavailable' });
    // Nor may one be looked for there for ever.
    expect(await refusal('/proc/hive/store/hive.db')).toMatchObject({ code: 'store_unavailable' });
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
