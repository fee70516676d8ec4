/** `hive store migrate`: everything arrives, in order, or nothing does. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { tablesOfStore } from '../../src/infrastructure/store/copy.ts';
import { statement } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { pair } from '../support/devices.ts';
import { ask, HUMAN, introduce, openTestHive, withoutQuotas } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { post } from '../support/messages.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { namesIn, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

function place(engine: 'sqlite' | 'postgres'): string {
  return engine === 'sqlite' ? tempStore() : server.address();
}

/** A closed store with rows in most tables; with many `asks`, more than one batch. */
async function filled(address: string, asks = 150): Promise<string> {
  const hive = await withoutQuotas(await openTestHive(address));
  const session = await introduce(hive);
  for (let n = 0; n < asks; n += 1) {
    const { ask_id } = await ask(hive, {
      question: `Größe ${n}? 🐝 \n "quoted" $1`,
      options: ['ja', 'nein'],
    });
    if (n % 3 === 0) await hive.prompts.respond({ ask_id, decision: 'ja', actor: HUMAN });
  }
  await post(hive, session, 'Hello @Human');
  await tokensOf(hive).make({ name: 'one' });
  const { device } = await pair(hive);
  await devicesOf(hive).setPush(device.device_id, {
    endpoint: 'https://x',
    keys: { p256dh: 'p', auth: 'a' },
  });
  await hive.close();
  return address;
}

/** Everything that a store contains. */
async function contents(address: string): Promise<Record<string, unknown>> {
  const driver = address.includes('://') ? openPostgresAt(address, {}) : openSqlite(address);
  const all: Record<string, unknown> = {};
  for (const { table, key } of tablesOfStore()) {
    const order = key.map((column) => `"${column}"`).join(', ');
    all[table] = await driver.read((sql) =>
      sql.all(statement(`SELECT * FROM ${table} ORDER BY ${order}`), []),
    );
  }
  await driver.close();
  return all;
}

describe.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
] as const)('from %s to %s', (engine, other) => {
  test('every row of every table arrives, including identity and counters', async () => {
    const source = await filled(place(engine));
    const target = place(other);
    const ran = await shell(source).hive('store', 'migrate', '--to', target);
    expect(ran.err).toMatch(/^hive: Set HIVE_STORE/);
    expect(ran.code).toBe(0);
    expect(await contents(target)).toEqual(await contents(source));
    const [before, after] = [await openTestHive(source), await openTestHive(target)];
    expect(after.store.store_id).toBe(before.store.store_id);
    const heads = (hive: OpenedHive): Promise<number> => hive.store.read((tx) => tx.events.head());
    const head = await heads(before);
    await ask(after);
    expect(await heads(after)).toBeGreaterThan(head);
  });

  test('a target that is not empty is not changed', async () => {
    const [source, target] = [await filled(place(engine), 1), await filled(place(other), 2)];
    const before = await contents(target);
    const ran = await shell(source).hive('store', 'migrate', '--to', target);
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('already') });
    expect(await contents(target)).toEqual(before);
  });

  test('a copy that is killed leaves no store, and continues where it was', async () => {
    const source = await filled(place(engine), 800);
    const target = place(other);
    const cut = shell(source).start('store', 'migrate', '--to', target);
    await eventually(async () => (await growing(target)) > 300, 20_000, 'the copy');
    await cut.child.kill('SIGKILL');
    expect(await isThere(target)).toBe(false);
    const ran = await shell(source).hive('store', 'migrate', '--to', target, '--json');
    expect(ran.code).toBe(0);
    const tables = ran.json().tables as { rows: number; there_before: number }[];
    expect(tables.some(({ there_before }) => there_before >= 100)).toBe(true);
    expect(await contents(target)).toEqual(await contents(source));
    if (other === 'sqlite')
      expect(namesIn(dirname(target)).filter((name) => name.includes('copying'))).toEqual([]);
  });
});

/** How many rows of events the unfinished copy has. */
async function growing(target: string): Promise<number> {
  const count = statement('SELECT COUNT(*) AS n FROM events');
  if (!target.includes('://') && !existsSync(`${target}.copying`)) return 0;
  const driver = target.includes('://')
    ? openPostgresAt(`${target}_copying`, {})
    : openSqlite(`${target}.copying`);
  try {
    return Number((await driver.read((sql) => sql.all(count, [])))[0]?.['n']);
  } catch {
    return 0;
  } finally {
    await driver.close();
  }
}

async function isThere(target: string): Promise<boolean> {
  if (!target.includes('://')) return existsSync(target);
  const driver = openPostgresAt(target, {});
  const found = await driver
    .read((sql) => sql.all(statement('SELECT number FROM migrations'), []))
    .then(
      () => true,
      () => false,
    );
  await driver.close();
  return found;
}

test('a store that is in use is not copied without the explicit option', async () => {
  const source = await filled(tempStore(), 1);
  const hive = await openTestHive(source);
  const desk = await hive.desks.open({ seat: 'ada@desk', pid: process.pid, client: 'emacs' });
  const target = join(dirname(source), 'other.db');
  const refused = await shell(source).hive('store', 'migrate', '--to', target);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('emacs of ada@desk') });
  expect(existsSync(target)).toBe(false);
  expect((await shell(source).hive('store', 'migrate', '--to', target, '--in-use')).code).toBe(0);
  await desk.close();
});

test('a schema whose name is too long for a copy is refused by the name that was given', async () => {
  const name = 'a'.repeat(44);
  const source = await filled(tempStore(), 1);
  const ran = await shell(source).hive('store', 'migrate', '--to', `postgres://127.0.0.1/db?schema=${name}`);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(`"${name}" is too long`) });
  expect(ran.err).toContain('at most 43 characters');
});

test('a missing source is not created', async () => {
  const missing = tempStore();
  const ran = await shell(missing).hive('store', 'migrate', '--to', join(dirname(missing), 'other.db'));
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('There is no store') });
  expect(namesIn(dirname(missing))).toEqual([]);
});

test('the address to set is shown in full, also of a path that was given in short', async () => {
  const target = place('sqlite');
  const source = await filled(place('sqlite'), 1);
  // `hive` runs in the home directory of the tests.
  const short = relative(childEnvironment(source)['HOME'] ?? '', target);
  const ran = await shell(source).hive('store', 'migrate', '--to', short);
  expect(ran).toMatchObject({
    code: 0,
    err: expect.stringContaining(`Set HIVE_STORE to ${target} everywhere.`),
  });
});

test('only its owner can read the copy of a file', async () => {
  const source = await filled(tempStore(), 1);
  const target = join(dirname(source), 'other.db');
  await shell(source).hive('store', 'migrate', '--to', target);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});

test('every table that a store has is copied', async () => {
  const source = await filled(tempStore(), 1);
  const driver = openSqlite(source);
  const names = await driver.read((sql) =>
    sql.all(
      statement(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
      ),
      [],
    ),
  );
  await driver.close();
  expect(
    tablesOfStore()
      .map(({ table }) => table)
      .sort(),
  ).toEqual(names.map(({ name }) => name));
});
