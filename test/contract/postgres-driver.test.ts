/**
 * The driver of PostgreSQL: when a write counts as stored, its queues, and what it refuses.
 *
 * @module-tag durable
 * @module-tag postgres
 * @module-tag library
 */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { type Sql, statement } from '../../src/infrastructure/store/sql.ts';
import { openHive } from '../../src/open-hive.ts';
import { ask, introduce, openTestHive } from '../support/hive.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { moment } from '../support/wait.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

test('a write whose ring fails is stored and acknowledged', async () => {
  const address = await server.freshStore();
  const hive = await openTestHive(address);
  const admin = new pg.Client(address.replace(/\?.*/, ''));
  await admin.connect();
  await admin.query('ALTER FUNCTION pg_notify(text, text) RENAME TO pg_silent');
  onTestFinished(async () => {
    await admin.query('ALTER FUNCTION pg_silent(text, text) RENAME TO pg_notify');
    await admin.end();
  });
  const asked = [await ask(hive, { question: 'One?' }), await ask(hive, { question: 'Two?' })];
  const { items } = await hive.prompts.list({ limit: 10 });
  expect(items.map(({ ask_id }) => ask_id).toSorted()).toEqual(asked.map(({ ask_id }) => ask_id).toSorted());
});

test('a write that goes on after a statement that failed is not acknowledged', async () => {
  const driver = closedAtEnd(openPostgresAt(await server.freshStore(), {}));
  const write = driver.write((sql) => sql.run(statement('SELECT 1 / 0'), []).catch(() => undefined));
  await expect(write).rejects.toThrow('division by zero');
});

test.each([
  ['goes on with a statement', (sql: Sql) => sql.all(statement('SELECT 1'), [])],
  ['ends', async () => undefined],
])('the error of a statement that nobody waits for is that of the write, which then %s', async (_, later) => {
  await expect(writeAfterFailure(later)).rejects.toThrow('division by zero');
});

test('the error of a write is that of its first statement that failed, also if one that nobody waits for followed at once', async () => {
  const driver = closedAtEnd(openPostgresAt(await server.freshStore(), {}));
  const write = driver.write(async (sql) => {
    const failing = sql.all(statement('SELECT 1 / 0'), []);
    await sql.change(statement('SELECT 1'), []);
    await failing;
  });
  await expect(write).rejects.toThrow('division by zero');
});

test('a write that Hive refuses says why, also if a statement that nobody waits for has failed', async () => {
  const refusal = new HiveError('store_too_new', 'A newer Hive has updated the store.');
  await expect(writeAfterFailure(() => Promise.reject(refusal))).rejects.toThrow(refusal);
});

async function writeAfterFailure(later: (sql: Sql) => Promise<unknown>): Promise<void> {
  const driver = closedAtEnd(openPostgresAt(await server.freshStore(), {}));
  await driver.write(async (sql) => {
    await sql.change(statement('SELECT 1 / 0'), []);
    await later(sql);
  });
}

test.each([
  ['a table of that name', 'CREATE TABLE app.sessions (id INTEGER)'],
  ['its own migrations', 'CREATE TABLE app.migrations (number INTEGER, name TEXT)'],
  ['a lock beside it', 'CREATE TABLE app.sessions (id INTEGER); CREATE TABLE app.write_lock (channel TEXT)'],
])("a schema with another program's tables is refused and stays as it is: %s", async (_, tables) => {
  const address = (await server.freshStore()).replace(/schema=.*/, 'schema=app');
  const admin = new pg.Client(address.replace(/\?.*/, ''));
  await admin.connect();
  onTestFinished(() => admin.end());
  await admin.query(`CREATE SCHEMA app; ${tables}`);
  onTestFinished(async () => void (await admin.query('DROP SCHEMA app CASCADE')));
  const names = async (): Promise<unknown[]> =>
    (await admin.query("SELECT tablename FROM pg_tables WHERE schemaname = 'app' ORDER BY tablename")).rows;
  const before = await names();
  await expect(openHive({ store: address, env: {} })).rejects.toMatchObject({
    code: 'store_foreign',
    message: expect.stringContaining('has tables of another program. Nothing was changed'),
  });
  expect(await names()).toEqual(before);
});

test('a store whose tables are gone says so', async () => {
  const address = (await server.freshStore()).replace(/schema=.*/, 'schema=moved');
  const hive = await openTestHive(address);
  const { ask_id } = await ask(hive);
  const admin = new pg.Client(address.replace(/\?.*/, ''));
  await admin.connect();
  onTestFinished(async () => {
    await admin.query('DROP SCHEMA away CASCADE');
    await admin.end();
  });
  await admin.query('ALTER SCHEMA moved RENAME TO away');
  await expect(hive.prompts.get(ask_id)).rejects.toMatchObject({ code: 'store_foreign' });
  await expect(ask(hive)).rejects.toMatchObject({ code: 'store_foreign' });
});

test('an id that is too long for an index is refused with a sentence', async () => {
  const hive = await openTestHive(await server.freshStore());
  // Nothing that an index could compress.
  const long = Array.from({ length: 3_000 }, (_, n) =>
    String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000)),
  ).join('');
  await expect(introduce(hive, long)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/cannot keep an id or a path that is so long .* Nothing was written/),
  });
});

test('more reads than connections wait for each other, and do not take the server for away', async () => {
  const driver = closedAtEnd(openPostgresAt(await server.freshStore(), {}));
  // The last ones wait for longer than a connection may take to be made.
  const reads = Array.from({ length: 15 }, () => driver.read(() => moment(800)));
  const outcomes = await Promise.allSettled(reads);
  expect(outcomes.map(({ status }) => status)).toEqual(reads.map(() => 'fulfilled'));
});

test('a read that gets no connection says that they are busy, and the next one gets one', async () => {
  const driver = closedAtEnd(openPostgresAt(await server.freshStore(), {}, { busy_ms: 300 }));
  const held = Promise.withResolvers<void>();
  const slow = [1, 2, 3].map(() => driver.read(() => held.promise));
  await expect(driver.read(async () => 'read')).rejects.toMatchObject({
    code: 'store_busy',
    message: expect.stringMatching(
      /^Each of the 3 connections of this process .* Nothing was read or written/,
    ),
  });
  held.resolve();
  await Promise.all(slow);
  expect(await driver.read(async () => 'read')).toBe('read');
});
