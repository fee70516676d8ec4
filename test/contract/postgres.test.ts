import pg from 'pg';
import { expect, test } from 'vitest';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/infrastructure/store/schema.ts';
import { copyStore, openHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { tempStore } from '../support/temp.ts';
import { describeStoreContract } from './store-contract.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

describeStoreContract('PostgreSQL', {
  freshAddress: () => server.freshStore(),
  missingAddress: async () => server.address(),
  openDriver: async (address, options) => openPostgresAt(address, {}, options),
});

test.each([
  "default_transaction_isolation = 'serializable'",
  "default_transaction_isolation = 'repeatable read'",
  'default_transaction_read_only = on',
  'default_transaction_deferrable = on',
])('what an administrator has set for the database changes nothing: %s', async (setting) => {
  const address = await server.freshStore();
  const admin = new pg.Client(address.replace(/\?.*/, ''));
  await admin.connect();
  await admin.query(`ALTER DATABASE ${new URL(address).pathname.slice(1)} SET ${setting}`);
  await admin.end();
  // A new one in the same database, too.
  for (const store of [address, address.replace(/schema=.*/, 'schema=another')]) {
    const hives = await Promise.all(Array.from({ length: 4 }, () => openTestHive(store)));
    const asked = await Promise.all(
      hives.flatMap((hive, n) => Array.from({ length: 10 }, (_, m) => ask(hive, { question: `${n} ${m}?` }))),
    );
    const [first] = hives;
    const { items } = (await first?.prompts.list({ limit: 100 })) ?? { items: [] };
    expect(items.map(({ ask_id }) => ask_id).toSorted()).toEqual(
      asked.map(({ ask_id }) => ask_id).toSorted(),
    );
    const answered = await Promise.all(
      hives.map((hive) =>
        hive.prompts.respond({ ask_id: asked[0]?.ask_id ?? '', decision: 'yes', actor: HUMAN }),
      ),
    );
    expect(answered.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
  }
});

test.each([
  ['in the URL', (url: URL) => Object.assign(url, { password: 'geheim:4711' })],
  ['in a parameter', (url: URL) => url.searchParams.set('password', 'geheim:4711')],
])('no sentence about a store contains its password: %s', async (_where, give) => {
  const url = new URL(await server.freshStore());
  give(url);
  const address = url.href;
  expect(address).toMatch(/geheim/);
  const hive = await openTestHive(address);
  const set = async (number: number): Promise<void> => {
    const admin = new pg.Client(address.replace(/\?.*/, ''));
    await admin.connect();
    await admin.query(`UPDATE ${url.searchParams.get('schema') ?? 'hive'}.migrations SET number = ${number}`);
    await admin.end();
  };
  const sentenceOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'it worked',
      (error: Error) => error.message,
    );
  const copy = { from: tempStore(), to: address, env: {}, in_use: true };
  await (await openTestHive(copy.from)).close();
  const sentences = [await sentenceOf(copyStore(copy))];
  for (const number of [SCHEMA_VERSION + 1, OLDEST_SCHEMA - 1]) {
    await set(number);
    sentences.push(
      await sentenceOf(ask(hive)),
      await sentenceOf(openHive({ store: address, env: {} })),
      await sentenceOf(copyStore({ ...copy, from: address, to: tempStore() })),
    );
  }
  await hive.close();
  sentences.push(await sentenceOf(ask(hive)));
  expect(sentences.filter((text) => text !== 'it worked')).toHaveLength(7);
  for (const text of sentences) expect(text).not.toMatch(/geheim|4711/);
});
