/**
 * The files beside a SQLite store: what happens when its log is removed while it is open, and when a log lies beside a file that it does
 * not belong to.
 *
 * @module-tag durable
 * @module-tag sqlite
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { findDamage } from '../../src/infrastructure/store/sqlite-file.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { childEnvironment, outputOf, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, newHive, openTestHive, recordingLog } from '../support/hive.ts';
import { namesIn, tempFolder, tempStore } from '../support/temp.ts';
import { append } from './open.ts';

const REMOVED = {
  code: 'store_unavailable',
  message: expect.stringMatching(
    /^The log of the store, .*was removed or replaced while the store was open\. Everything acknowledged before is safe in .*This was not written; try it again\./,
  ),
};

/** The questions that a process of its own finds. */
async function listed(store: string): Promise<string[]> {
  const { code, out, err } = await shell(store).hive('list', '--json');
  if (code !== 0) throw new Error(err);
  return (JSON.parse(out).prompts as { question: string }[]).map(({ question }) => question).sort();
}

const REMOVALS: readonly (readonly [string, (store: string) => void])[] = [
  ['both are removed', (store) => remove(store, '-wal', '-shm')],
  ['the log is removed', (store) => remove(store, '-wal')],
  ['its index is removed', (store) => remove(store, '-shm')],
  [
    'both are moved away',
    (store) => {
      for (const suffix of ['-wal', '-shm']) renameSync(`${store}${suffix}`, `${store}-away${suffix}`);
    },
  ],
  [
    'the log is replaced by an empty one',
    (store) => {
      remove(store, '-wal');
      writeFileSync(`${store}-wal`, '');
    },
  ],
  [
    'the log is replaced by an earlier state of it',
    (store) => {
      renameSync(`${store}-wal`, `${store}-later`);
      copyFileSync(`${store}-later`, `${store}-wal`);
    },
  ],
];

function remove(store: string, ...suffixes: string[]): void {
  for (const suffix of suffixes) rmSync(`${store}${suffix}`);
}

describe('while a store is open', () => {
  test.each(REMOVALS)('%s: nothing is lost, one write is refused, and it goes on', async (_what, happens) => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Before?' });
    happens(store);
    await expect(ask(hive, { question: 'Refused?' })).rejects.toMatchObject(REMOVED);
    expect(await listed(store)).toEqual(['Before?']);
    await ask(hive, { question: 'After?' });
    expect(await listed(store)).toEqual(['After?', 'Before?']);
    await hive.close();
    expect(findDamage(store)).toEqual([]);
    expect(await listed(store)).toEqual(['After?', 'Before?']);
  });

  test.each(REMOVALS)('%s, and then it is closed: nothing is lost', async (_what, happens) => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Before?' });
    happens(store);
    await hive.close();
    expect(findDamage(store)).toEqual([]);
    expect(await listed(store)).toEqual(['Before?']);
  });

  test.each(REMOVALS)(
    '%s in the middle of a write: it is acknowledged once it is in the file',
    async (_what, happens) => {
      const { store, hive } = await newHive();
      await append(hive.store, 1);
      await hive.store.write(async (tx) => {
        await tx.events.append({ type: 'desk/notice', session_id: null, subject: 'kept', data: {} });
        happens(store);
      });
      const file = new DatabaseSync(`file:${store}?immutable=1`, { readOnly: true });
      const kept = file.prepare("SELECT count(*) AS n FROM events WHERE subject = 'kept'").get();
      file.close();
      expect(kept).toEqual({ n: 1 });
      await expect(append(hive.store, 1)).rejects.toMatchObject(REMOVED);
      await append(hive.store, 1);
    },
  );

  test('and its log is removed, reads go on', async () => {
    const { store, hive } = await newHive();
    const { ask_id } = await ask(hive, { question: 'Before?' });
    remove(store, '-wal', '-shm');
    expect(await hive.prompts.get(ask_id)).toMatchObject({ question: 'Before?' });
    expect(await listed(store)).toEqual(['Before?']);
  });

  test('a process that waits notices it without being asked, and another one that starts meanwhile waits for that', async () => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Before?' });
    hive.store.watch(() => undefined);
    remove(store, '-wal', '-shm');
    expect(await listed(store)).toEqual(['Before?']);
  });

  test('a process that does nothing does not notice it, so no other one begins a log of its own', async () => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Before?' });
    remove(store, '-wal', '-shm');
    const before = namesIn(dirname(store));
    expect(await shell(store).hive('ask', 'Meanwhile?')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        new RegExp(`was removed while process ${process.pid} had the store open\\. Nothing was changed`),
      ),
    });
    expect(namesIn(dirname(store))).toEqual(before);
    await hive.close();
    expect(await listed(store)).toEqual(['Before?']);
  });

  test("another program that writes a log of its own in its place gets in nobody's way: all is saved beside the store, and this process stops", async () => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Before?' });
    remove(store, '-wal', '-shm');
    const script = `const { DatabaseSync } = require('node:sqlite'); const other = new DatabaseSync(process.argv[1]);
      other.exec('CREATE TABLE theirs (a)'); console.log('written'); process.stdin.resume();`;
    const other = spawnChild(process.execPath, ['-e', script, store], childEnvironment(store));
    await new Promise((resolve) => other.process.stdout.once('data', resolve));
    const error = await ask(hive).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.message).toMatch(/another program has begun one in its place.*hive store restore '/);
    await expect(append(hive.store, 1)).rejects.toThrow(error?.message);
    const copy = /is saved in (.*?)\. This/.exec(error?.message ?? '')?.[1] ?? '';
    expect(await listed(copy)).toEqual(['Before?']);
    other.process.stdin.end();
    await outputOf(other);
  });

  test('no check of a second opening in the same process drops its locks', async () => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Before?' });
    await openTestHive(store);
    remove(store, '-wal', '-shm');
    expect((await shell(store).hive('ask', 'Meanwhile?')).code).toBe(1);
  });
});

// ---- A log beside a file ----

/** The file and the log of a store as they are now: what is there after kill -9. */
function image(store: string): string {
  const folder = join(tempFolder(), 'image');
  mkdirSync(folder, { mode: 0o700 });
  for (const suffix of ['', '-wal'])
    if (existsSync(`${store}${suffix}`)) copyFileSync(`${store}${suffix}`, join(folder, `hive.db${suffix}`));
  return join(folder, 'hive.db');
}

async function seqs(hive: OpenedHive): Promise<number[]> {
  return hive.store.read(async (tx) => (await tx.events.after(0, 10_000)).map(({ seq }) => seq));
}

describe('the log beside a file', () => {
  test('is applied if it belongs to the file, and refused if it does not, whichever moments they are from', async () => {
    const { store, hive } = await newHive();
    const other = new DatabaseSync(store);
    const moments: { at: string; events: number[] }[] = [];
    for (let n = 0; n < 8; n += 1) {
      await append(hive.store, 40, `${n}`.repeat(200));
      moments.push({ at: image(store), events: await seqs(hive) });
      // Copied in part, copied, copied and begun again.
      if (n % 2 === 1) other.exec(`PRAGMA wal_checkpoint(${n % 4 === 1 ? 'PASSIVE' : 'TRUNCATE'})`);
      if (n % 4 === 1) moments.push({ at: image(store), events: await seqs(hive) });
    }
    other.close();
    const outcomes = { applied: 0, refused: 0 };
    for (const [fileIndex, file] of moments.entries())
      for (const [logIndex, log] of moments.entries()) {
        const pair = join(tempFolder(), 'hive.db');
        copyFileSync(file.at, pair);
        if (existsSync(`${log.at}-wal`)) copyFileSync(`${log.at}-wal`, `${pair}-wal`);
        const opened = await openHive({ store: pair, env: {}, log: recordingLog() }).catch(
          (error: unknown) => {
            expect(error).toMatchObject({
              code: 'store_unsafe',
              message: expect.stringMatching(
                /does not belong to the store .*Nothing was changed\. To restore/,
              ),
            });
            return null;
          },
        );
        if (fileIndex === logIndex) expect(opened).not.toBeNull();
        if (opened === null) {
          expect(statSync(pair).size).toBe(statSync(file.at).size);
          outcomes.refused += 1;
          continue;
        }
        expect(await seqs(opened)).toEqual(log.events);
        await opened.close();
        expect(findDamage(pair)).toEqual([]);
        outcomes.applied += 1;
      }
    expect(outcomes.refused).toBeGreaterThan(moments.length);
    expect(outcomes.applied).toBeGreaterThanOrEqual(moments.length);
  });

  test('is set aside when a new store is made in the place of one that was removed', async () => {
    const { store, hive } = await newHive();
    await ask(hive, { question: 'Deleted?' });
    const left = image(store);
    rmSync(left);
    expect(await listed(left)).toEqual([]);
    expect(namesIn(dirname(left))).toContainEqual(expect.stringMatching(/^hive\.db\.before-\d+T\d+Z-wal$/));
  });

  test('is never that of another process which makes the new store at the same time', async () => {
    const store = tempStore();
    await ask(await openTestHive(store), { question: 'Deleted?' });
    const left = image(store);
    rmSync(left);
    const asked = await Promise.all(
      Array.from({ length: 4 }, (_, n) => outputOf(shell(left).start('ask', `New ${n}?`).child)),
    );
    expect(asked).toHaveLength(4);
    expect(await listed(left)).toEqual(Array.from({ length: 4 }, (_, n) => `New ${n}?`));
  });
});

test('hive store migrate is refused beside the log of an earlier store', async () => {
  const [store, backup] = [tempStore(), tempStore()];
  await (await openTestHive(backup)).close();
  await ask(await openTestHive(store));
  const left = image(store);
  rmSync(left);
  const ran = await shell(backup).hive('store', 'migrate', '--to', left);
  expect(ran).toMatchObject({
    code: 2,
    err: expect.stringMatching(/log of an earlier store at .*-wal.*Nothing was copied/),
  });
  expect(namesIn(dirname(left))).toEqual(['hive.db-wal']);
});
