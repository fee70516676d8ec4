/** Migrations: once, however many processes start, and never on a store that is newer than this code, or far older. */
import { expect, test } from 'vitest';
import { damagedRecords } from '../../src/application/doctor.ts';
import { checkVersion } from '../../src/infrastructure/store/copy.ts';
import { type Migration, migrate } from '../../src/infrastructure/store/migrations.ts';
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/infrastructure/store/schema.ts';
import { type Driver, statement } from '../../src/infrastructure/store/sql.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { childEnvironment, outputOf, spawnScript, startTogether } from '../support/children.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { append, openOn, seqsAfter } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function migrationsContract(engine: StoreEngine): void {
  test('run once when three processes start at once on a missing store', async () => {
    const address = await engine.missingAddress();
    const env = childEnvironment(address);
    const children = Array.from({ length: 3 }, () => spawnScript('test/contract/children/open.ts', [], env));
    const opening = children.map(outputOf);
    await startTogether(children);
    const found = await Promise.all(opening);
    const store = await openOn(engine, address);
    expect(new Set(found)).toEqual(new Set([store.store_id]));
    const driver = await engine.openDriver(address);
    const applied = await driver.read((sql) => sql.all(statement('SELECT number FROM migrations'), []));
    await driver.close();
    expect(applied.map((row) => Number(row['number']))).toEqual([SCHEMA_VERSION]);
  });

  test('leave what is stored as it is', async () => {
    const address = await engine.missingAddress();
    const first = await openOn(engine, address);
    await append(first, 3);
    await first.close();
    const again = await openOn(engine, address);
    expect(again.store_id).toBe(first.store_id);
    expect(await seqsAfter(again, 0)).toEqual([1, 2, 3]);
  });

  test('bring an older store up to date with all that is in it, each once', async () => {
    const address = await engine.missingAddress();
    const hive = await openTestHive(address);
    const { ask_id } = await ask(hive, { question: 'Deploy now?' });
    await hive.close();
    const driver = await engine.openDriver(address);
    for (let count = 0; count < 2; count += 1) await driver.write((sql, now) => migrate(sql, now, MADE_UP));
    const applied = await driver.read((sql) => sql.all(LEDGER, []));
    expect(applied.map(({ number, name }) => [Number(number), name])).toEqual([
      [SCHEMA_VERSION, 'schema'],
      [SCHEMA_VERSION + 1, 'moods'],
      [SCHEMA_VERSION + 2, 'projects'],
    ]);
    const found = await driver.read((sql) => sql.all(statement('SELECT mood, project FROM prompts'), []));
    expect(found).toEqual([{ mood: 'calm', project: 'renamed' }]);
    // This code knows nothing of them, but the row is what it was, and its checksum is right.
    await driver.write((sql) =>
      sql.run(statement('DELETE FROM migrations WHERE number > $1'), [SCHEMA_VERSION]),
    );
    await driver.close();
    const store = await openOn(engine, address);
    expect(await store.read((tx) => tx.prompts.get(ask_id))).toMatchObject({
      question: 'Deploy now?',
      project: 'renamed',
    });
    expect(await damagedRecords(store)).toEqual([]);
  });

  test('that are cut off have changed nothing', async () => {
    const address = await engine.missingAddress();
    await (await openOn(engine, address)).close();
    const before = await shapeOf(engine, address);
    const driver = await engine.openDriver(address);
    const cut = driver.write(async (sql, now) => {
      await migrate(sql, now, MADE_UP);
      throw new Error('The machine stops here.');
    });
    await expect(cut).rejects.toThrow('stops here');
    await driver.close();
    expect(await shapeOf(engine, address)).toEqual(before);
  });

  test('are refused on a store that is older than any of them, which stays as it is', async () => {
    const address = await engine.missingAddress();
    await (await openOn(engine, address)).close();
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write((sql) => sql.run(statement('UPDATE migrations SET number = $1'), [OLDEST_SCHEMA - 1]));
    const before = await shapeOf(engine, address);
    const refusal = {
      code: 'store_foreign',
      message: expect.stringMatching(/development version of Hive.*Nothing was changed; move it away/),
    };
    await expect(openStore(driver, address)).rejects.toMatchObject(refusal);
    await expect(driver.read((sql) => checkVersion(sql, address))).rejects.toMatchObject(refusal);
    expect(await shapeOf(engine, address)).toEqual(before);
  });

  test('are not tried if the version of the store cannot be read', async () => {
    const address = await engine.missingAddress();
    await (await openOn(engine, address)).close();
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write((sql) => sql.run(statement('ALTER TABLE meta RENAME COLUMN value TO words'), []));
    let written = 0;
    const watched: Driver = {
      ...driver,
      write: (work, options) => {
        written += 1;
        return driver.write(work, options);
      },
    };
    await expect(openStore(watched, address)).rejects.toThrow(/value/);
    await expect(driver.read((sql) => checkVersion(sql, address))).rejects.toThrow(/value/);
    expect(written).toBe(0);
  });

  test('by a newer Hive stop the processes that were open before: they write nothing more, and say to restart them', async () => {
    const address = await engine.missingAddress();
    const store = await openOn(engine, address);
    await append(store, 1);
    const newer = closedAtEnd(await engine.openDriver(address));
    const change = (text: string) => newer.write((sql) => sql.run(statement(text), []));
    // A change of another kind leaves the number as it is.
    await change('ALTER TABLE prompts ADD COLUMN of_somebody TEXT');
    await append(store, 1);
    await change('ALTER TABLE prompts ADD COLUMN of_tomorrow TEXT');
    await newer.write((sql, now) =>
      sql.run(statement('INSERT INTO migrations (number, name, applied_at) VALUES ($1, $2, $3)'), [
        SCHEMA_VERSION + 1,
        'tomorrow',
        now,
      ]),
    );
    const refusal = {
      code: 'store_too_new',
      message: expect.stringMatching(/newer Hive has updated.*Nothing was written; restart this process/),
    };
    await expect(append(store, 1)).rejects.toMatchObject(refusal);
    await expect(store.writeUnflushed((tx) => tx.events.head())).rejects.toMatchObject(refusal);
    // Everything that this one can still read, it reads.
    expect(await seqsAfter(store, 0)).toHaveLength(2);
    await change('ALTER TABLE events RENAME TO happenings');
    await expect(seqsAfter(store, 0)).rejects.toMatchObject(refusal);
    const stored = await newer.read((sql) => sql.all(statement('SELECT seq FROM happenings'), []));
    expect(stored).toHaveLength(2);
  });

  test('are refused on a store that a newer Hive has written, which stays as it is', async () => {
    const address = await engine.missingAddress();
    await openOn(engine, address);
    const newer = statement(`INSERT INTO migrations (number, name, applied_at) VALUES ($1, 'future', $2)`);
    const driver = await engine.openDriver(address);
    await driver.write((sql, now) => sql.run(newer, [SCHEMA_VERSION + 1, now]));
    await expect(openStore(driver, address)).rejects.toMatchObject({
      code: 'store_too_new',
      message: expect.stringMatching(/newer Hive.*Nothing was changed.*update/),
    });
    const numbers = await driver.read((sql) => sql.all(statement('SELECT number FROM migrations'), []));
    await driver.close();
    expect(numbers).toHaveLength(2);
  });
}

const LEDGER = statement('SELECT number, name FROM migrations ORDER BY number');

/** Changes of the schema as a later version may make them: a column more, and another value in one that a checksum covers. */
const MADE_UP: readonly Migration[] = [
  { name: 'moods', text: "ALTER TABLE prompts ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';" },
  { name: 'projects', text: "-- A comment.\nUPDATE prompts SET project = 'renamed';" },
];

/**
 * The tables of a store as its engine describes them: columns by name, their types, what may be null, and the indexes. Not
 * the order of columns, nor their defaults: a migration adds a column after the others, with a default for older rows.
 */
async function shapeOf(engine: StoreEngine, address: string): Promise<unknown> {
  const driver = await engine.openDriver(address);
  try {
    const onPostgres = address.includes('://');
    const schema = new URL(onPostgres ? address : 'file:///').searchParams.get('schema') ?? 'hive';
    const [columns, indexes] = onPostgres
      ? [POSTGRES_COLUMNS, POSTGRES_INDEXES]
      : [SQLITE_COLUMNS, SQLITE_INDEXES];
    const params = onPostgres ? [schema] : [];
    return await driver.read(async (sql) => ({
      columns: await sql.all(columns, params),
      // PostgreSQL names the index of a primary key after the table as it was called when it was made.
      indexes: (await sql.all(indexes, params))
        .map(({ text }) => String(text).replaceAll(`${schema}.`, '').replace(/\s+/g, ' '))
        .map((text) => text.replace(/ \w+_pkey /, ' pkey '))
        .sort(),
    }));
  } finally {
    await driver.close();
  }
}

const SQLITE_COLUMNS = statement(
  `SELECT m.name AS "table", c.name AS "column", c.type AS type, c."notnull" AS required, c.pk AS key
   FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.name`,
);
const SQLITE_INDEXES = statement(
  `SELECT sql AS text FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
);
const POSTGRES_COLUMNS = statement(
  `SELECT table_name AS "table", column_name AS "column", data_type AS type, is_nullable AS required
   FROM information_schema.columns WHERE table_schema = $1 ORDER BY table_name, column_name`,
);
const POSTGRES_INDEXES = statement(
  'SELECT indexdef AS text FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname',
);
