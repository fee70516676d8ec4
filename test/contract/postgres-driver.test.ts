/**
 * The driver of PostgreSQL: when a write counts as stored, its queues, and what it refuses.
 *
 * @module-tag durable
 * @module-tag postgres
 * @module-tag library
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ask, openTestHive } from '../support/hive.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharedPostgres();
});
afterAll(() => server.stop());

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
  const hive = await openTestHive(await server.freshStore());
  const prompt = await ask(hive);
  const write = hive.store.write(async (tx) => {
    await tx.desks.setPreferences('seat', { n: 1 });
    await tx.prompts.insert(prompt).catch(() => undefined);
  });
  await expect(write).rejects.toThrow('A statement of a write failed');
  expect(await hive.store.read((tx) => tx.desks.preferences('seat'))).toEqual({});
});
