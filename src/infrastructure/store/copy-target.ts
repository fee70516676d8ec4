/**
 * Where a copy grows: aside, under a name that nobody opens, until it is whole. Then it takes its place in one
 * step, and only if nothing has come to stand there meanwhile.
 */
import { existsSync, linkSync, rmSync } from 'node:fs';
import { HiveError } from '../../domain/errors.ts';
import { tablesOfStore } from './copy.ts';
import { migrate } from './migrations.ts';
import { type Driver, statement } from './sql.ts';

export interface CopyTarget {
  driver: Driver;
  /** Puts the whole copy in its place. @throws HiveError `invalid_input` when there is a store already. */
  publish(): Promise<void>;
  /** Lets go of it; what was copied so far stays aside for the next attempt. */
  close(): Promise<void>;
}

type OpenDriver = (address: string) => Promise<Driver>;

/** @throws HiveError `invalid_input` when there is a store already. */
export async function openCopyTarget(address: string, open: OpenDriver): Promise<CopyTarget> {
  const target = address.includes('://')
    ? await schemaTarget(address, open)
    : await fileTarget(address, open);
  await target.driver.inspect(async () => undefined);
  await target.driver.write(async (sql, now) => migrate(sql, now));
  return target;
}

async function fileTarget(path: string, open: OpenDriver): Promise<CopyTarget> {
  if (existsSync(path)) throw occupied(path);
  const aside = `${path}.copying`;
  const driver = await open(aside);
  return {
    driver,
    async publish() {
      // Whoever closes last brings the log into the file.
      await driver.close();
      try {
        linkSync(aside, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw occupied(path);
        throw error;
      }
      for (const suffix of ['', '-wal', '-shm', '-bell']) rmSync(`${aside}${suffix}`, { force: true });
    },
    close: () => driver.close(),
  };
}

const TABLES_OF = statement('SELECT tablename FROM pg_tables WHERE schemaname = $1');

async function schemaTarget(address: string, open: OpenDriver): Promise<CopyTarget> {
  const url = new URL(address);
  const schema = url.searchParams.get('schema') ?? 'hive';
  url.searchParams.set('schema', `${schema}_copying`);
  const place = await open(address);
  try {
    if ((await place.read((sql) => sql.all(TABLES_OF, [schema]))).length > 0) throw occupied(address);
    const driver = await open(url.href);
    return {
      driver,
      async publish() {
        await place.inspect(async () => undefined);
        await place.write(async (sql) => {
          if ((await sql.all(TABLES_OF, [schema])).length > 0) throw occupied(address);
          for (const table of [...tablesOfStore().map((shape) => shape.table), 'migrations'])
            await sql.run(statement(`ALTER TABLE "${schema}_copying".${table} SET SCHEMA "${schema}"`), []);
          await sql.run(statement(`DROP SCHEMA "${schema}_copying"`), []);
        });
      },
      async close() {
        await Promise.all([driver.close(), place.close()]);
      },
    };
  } catch (error) {
    await place.close();
    throw error;
  }
}

function occupied(address: string): HiveError {
  return new HiveError(
    'invalid_input',
    `There is something at ${withoutPassword(address)} already, and it stays as it is. Copy to a new place.`,
  );
}

function withoutPassword(address: string): string {
  return address.replace(/:[^:/@]*@/, '@');
}
