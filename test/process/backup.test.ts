/** `hive store backup` and `hive store restore`: a store comes back whole, whatever lies where it was. */
import { copyFileSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { findDamage } from '../../src/infrastructure/store/sqlite-file.ts';
import { childEnvironment } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, newHive, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { namesIn, tempFolder, tempStore } from '../support/temp.ts';

/** The commands are a person's, so they get a process that nothing above it calls an agent's. */
async function listed(store: string): Promise<string[]> {
  const { code, out, err } = await shell(store).hive('list', '--json');
  if (code !== 0) throw new Error(err);
  return (JSON.parse(out).prompts as { question: string }[]).map(({ question }) => question).sort();
}

/** A store with questions, and the log of a process that was killed: it was copied while that one ran. */
async function killed(questions: readonly string[]): Promise<string> {
  const [store, left] = [tempStore(), tempStore()];
  const hive = await openTestHive(store);
  for (const question of questions) await ask(hive, { question });
  for (const suffix of ['', '-wal']) copyFileSync(`${store}${suffix}`, `${left}${suffix}`);
  await hive.close();
  return left;
}

describe('a backup', () => {
  test('contains what was acknowledged when it was made, while others go on, and is complete by itself', async () => {
    const store = tempStore();
    const file = join(tempFolder(), "ada's backup.db");
    const hive = await openTestHive(store);
    await ask(hive, { question: 'Before?' });
    const ran = await shell(store).hive('store', 'backup', file);
    expect(ran).toMatchObject({ code: 0, out: `Backed up ${store} to ${file}, and checked the copy.\n` });
    await ask(hive, { question: 'After?' });
    expect(namesIn(dirname(file))).toEqual(["ada's backup.db"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(findDamage(file)).toEqual([]);
    expect(await listed(file)).toEqual(['Before?']);
    expect(await listed(store)).toEqual(['After?', 'Before?']);
  });

  test.each(['hive-12:30+00:00.db', '12:30 hive.db', 'hive@12:30.db'])(
    'has any name that a file may have, such as %s',
    async (name) => {
      const store = tempStore();
      await (await openTestHive(store)).close();
      const home = childEnvironment(store)['HOME'] ?? '';
      const file = relative(home, join(tempFolder(), name));
      expect(await shell(store).hive('store', 'backup', file)).toMatchObject({ code: 0, err: '' });
      expect(await shell(store).hive('store', 'restore', file)).toMatchObject({ code: 0, err: '' });
    },
  );

  test.each([
    ['over a file', 'store', 2, /already a file .*not changed/],
    ['into a folder that is missing', '/nowhere/backup.db', 2, /There is no folder \/nowhere, so/],
    ['to a database', 'postgres://db.example/d', 2, /A backup is a file/],
  ])('is refused %s', async (_what, where, code, err) => {
    const store = tempStore();
    await (await openTestHive(store)).close();
    const file = where === 'store' ? store : where;
    expect(await shell(store).hive('store', 'backup', file)).toMatchObject({
      code,
      err: expect.stringMatching(err),
    });
  });

  test('is made by one of several that begin at once with the same name', async () => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Kept?' });
    await hive.close();
    const file = join(tempFolder(), 'backup.db');
    const begun = Array.from({ length: 4 }, () => shell(store).start('store', 'backup', file));
    const ended = await Promise.all(begun.map(({ done }) => done));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 2, 2, 2]);
    expect(namesIn(dirname(file))).toEqual(['backup.db']);
    expect(await listed(file)).toEqual(['Kept?']);
  });

  test('is refused where there is no store, and makes none', async () => {
    const store = tempStore();
    const ran = await shell(store).hive('store', 'backup', join(dirname(store), 'backup.db'));
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/There is no store at/) });
    expect(namesIn(dirname(store))).toEqual([]);
  });

  test('of a database is left to the tools of its server', async () => {
    const ran = await shell('postgres://ada@127.0.0.1:1/d').hive('store', 'backup', '/tmp/x.db');
    expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(/pg_dump/) });
  });
});

test('what backups and restores of killed processes left behind goes away when the next one begins', async () => {
  const store = await killed(['Kept?']);
  const file = join(tempFolder(), 'today.db');
  const left = (beside: string, name: string, hours: number): void => {
    const draft = join(dirname(beside), name);
    for (const suffix of ['', '-wal']) copyFileSync(`${store}${suffix}`, `${draft}${suffix}`);
    const then = Date.now() / 1_000 - hours * 3_600;
    utimesSync(draft, then, then);
  };
  const id = '0123456789abcdef';
  for (const beside of [file, store]) left(beside, `yesterday.db.new-${id}`, 2);
  // SQLite was killed while it copied.
  const begun = join(dirname(file), `begun.db.new-${id}`);
  writeFileSync(begun, Buffer.alloc(8_192));
  utimesSync(begun, 1_000, 1_000);
  left(file, `today.db.new-${id}`, 0);
  left(file, `tomorrow.db.new-${id}`, 2);
  left(file, 'letter.new-draft', 2);
  const foreign = join(dirname(file), `notes.new-${id}`);
  writeFileSync(foreign, 'Not of Hive.');
  utimesSync(foreign, 1_000, 1_000);
  // Somebody is still at work on this one.
  const other = closedAtEnd(new DatabaseSync(join(dirname(file), `tomorrow.db.new-${id}`)));
  other.exec('BEGIN IMMEDIATE');
  expect((await shell(store).hive('store', 'backup', file)).code).toBe(0);
  expect(namesIn(dirname(file)).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual([
    'letter.new-draft',
    `notes.new-${id}`,
    'today.db',
    `today.db.new-${id}`,
    `tomorrow.db.new-${id}`,
  ]);
  expect(namesIn(dirname(file))).not.toContain(`yesterday.db.new-${id}-wal`);
  expect((await shell(store).hive('store', 'restore', file)).code).toBe(0);
  expect(namesIn(dirname(store)).filter(isDraft)).toEqual([]);
});

const isDraft = (name: string): boolean => name.includes('.new-');

describe('restoring', () => {
  let kept = '';
  type Happens = (store: string) => void;

  test.each<readonly [string, readonly string[], Happens]>([
    ['a store that was killed', ['Lost?', 'Later?'], () => undefined],
    ['a store whose file is damaged', ['Lost?'], (store: string) => writeFileSync(store, 'not a store')],
    ['a store whose file was removed', ['Lost?'], (store: string) => rmSync(store)],
    ['a file that a backup was copied over', ['Lost?'], (store: string) => void copyFileSync(kept, store)],
  ])('replaces %s, and sets it aside with its log', async (_what, questions, happens) => {
    const source = tempStore();
    const hive = await openTestHive(source);
    await ask(hive, { question: 'Kept?' });
    await hive.close();
    kept = join(tempFolder(), 'backup.db');
    expect((await shell(source).hive('store', 'backup', kept)).code).toBe(0);
    const store = await killed(questions);
    happens(store);
    const log = readFileSync(`${store}-wal`);
    const ran = await shell(store).hive('store', 'restore', kept, '--json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(await listed(store)).toEqual(['Kept?']);
    expect(findDamage(store)).toEqual([]);
    const [aside = ''] = namesIn(dirname(store)).filter(
      (name) => name.endsWith('-wal') && /before/.test(name),
    );
    expect(readFileSync(join(dirname(store), aside))).toEqual(log);
    expect(namesIn(dirname(store)).filter(isDraft)).toEqual([]);
    expect(statSync(kept).size).toBeGreaterThan(0);
  });

  test('several times at once removes no draft of another one', async () => {
    const source = tempStore();
    const hive = await openTestHive(source);
    await ask(hive, { question: 'Kept?' });
    await hive.close();
    const backup = join(tempFolder(), 'backup.db');
    expect((await shell(source).hive('store', 'backup', backup)).code).toBe(0);
    const store = await killed(['Lost?']);
    const begun = Array.from({ length: 4 }, () => shell(store).start('store', 'restore', backup));
    const ended = await Promise.all(begun.map(({ done }) => done));
    // One may find that another one has just opened what it has restored, or has restored it after the one had looked.
    const late = / is open in | was replaced by another one\. Nothing was written/;
    expect(ended.filter(({ code, err }) => code !== 0 && !late.test(err))).toEqual([]);
    expect(ended.filter(({ code }) => code === 0)).not.toEqual([]);
    expect(await listed(store)).toEqual(['Kept?']);
    expect(findDamage(store)).toEqual([]);
    expect(namesIn(dirname(store)).filter(isDraft)).toEqual([]);
  });

  test('can be undone: what was set aside is a store with its log', async () => {
    const store = await killed(['Lost?']);
    const backup = tempStore();
    await (await openTestHive(backup)).close();
    const { aside } = (await shell(store).hive('store', 'restore', backup, '--json')).json();
    expect(await listed(store)).toEqual([]);
    expect(await shell(store).hive('store', 'restore', aside)).toMatchObject({ code: 0, err: '' });
    expect(await listed(store)).toEqual(['Lost?']);
  });

  test('the store itself sets only its log aside', async () => {
    const backup = tempStore();
    const hive = await openTestHive(backup);
    await ask(hive, { question: 'Kept?' });
    await hive.close();
    const store = await killed(['Lost?']);
    copyFileSync(backup, store);
    expect(await shell(store).hive('list')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/does not belong to the store/),
    });
    expect((await shell(store).hive('store', 'restore', store)).code).toBe(0);
    expect(await listed(store)).toEqual(['Kept?']);
  });

  test('is refused while the store is open, and names the process', async () => {
    const store = tempStore();
    const backup = tempStore();
    await (await openTestHive(backup)).close();
    const hive = await openTestHive(store);
    await ask(hive, { question: 'Open?' });
    const before = namesIn(dirname(store));
    expect(await shell(store).hive('store', 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(`is open in process ${process.pid}\\. Nothing was changed`)),
    });
    expect(namesIn(dirname(store))).toEqual(before);
    await ask(hive, { question: 'Still?' });
  });

  test.each([
    ['a file that is missing', (_file: string) => undefined, /There is no backup at/],
    [
      'a file of something else',
      (file: string) => writeFileSync(file, 'x'.repeat(9_000)),
      /is not a Hive store/,
    ],
    [
      'a folder',
      (file: string) => rmSync(file, { force: true }),
      /There is no backup at|is not a Hive store/,
    ],
  ])('is refused from %s', async (_what, make, err) => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Kept?' });
    await hive.close();
    const file = join(tempFolder(), 'backup.db');
    make(file);
    expect(await shell(store).hive('store', 'restore', file)).toMatchObject({
      code: 1,
      err: expect.stringMatching(err),
    });
    expect(await listed(store)).toEqual(['Kept?']);
  });

  test('is refused from a damaged backup, and changes nothing', async () => {
    const store = await killed(['Kept?']);
    const backup = tempStore();
    await (await openTestHive(backup)).close();
    const bytes = readFileSync(backup);
    bytes.fill(0x5a, 8_192, 40_000);
    writeFileSync(backup, bytes);
    const before = namesIn(dirname(store));
    expect(await shell(store).hive('store', 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be copied to .*is damaged/),
    });
    expect(namesIn(dirname(store))).toEqual(before);
    expect(await listed(store)).toEqual(['Kept?']);
  });

  test('is refused from a backup of a newer Hive, which is named', async () => {
    const store = await killed(['Kept?']);
    const backup = tempStore();
    await (await openTestHive(backup)).close();
    const newer = new DatabaseSync(backup);
    newer.exec('UPDATE migrations SET number = number + 1');
    newer.close();
    expect(await shell(store).hive('store', 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`The store ${backup} was written by a newer Hive`),
    });
    expect(await listed(store)).toEqual(['Kept?']);
  });

  test('is refused to an agent', async () => {
    const store = await killed(['Kept?']);
    const backup = tempStore();
    await (await openTestHive(backup)).close();
    const ran = await shell(store, { CLAUDECODE: '1' }).hive('store', 'restore', backup);
    expect(ran).toMatchObject({ code: 7, err: expect.stringMatching(/Only a human may restore a backup/) });
    expect(await listed(store)).toEqual(['Kept?']);
    expect(namesIn(dirname(store)).filter(isDraft)).toEqual([]);
  });
});
