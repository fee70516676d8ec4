/**
 * Stores of tests, as copies of one that is new. A copy costs PostgreSQL a thousand times what it costs to empty one, so a
 * copy that a test has used is emptied for the next.
 */
import type pg from 'pg';
import { whenFinished } from './lifetime.ts';

/** The schema of the store in the template and in each copy. */
export const SCHEMA = 'hive';

export interface Copies {
  /** The name of a database with a store on which nothing has happened, which is the test's until it has finished. */
  fresh(): Promise<string>;
  /** Drops them all. */
  drop(): Promise<void>;
}

/** `connect` opens a connection to a database by its name; `prefix` begins the names of the copies. */
export function createCopies(
  admin: pg.Client,
  { template, prefix, connect }: { template: string; prefix: string; connect(name: string): pg.Client },
): Copies {
  const free: Copy[] = [];
  let count = 0;

  async function make(): Promise<Copy> {
    count += 1;
    const name = `${prefix}_${count}`;
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    return openCopy(name, connect(name));
  }
  async function drop({ name, client }: Copy): Promise<void> {
    await client.end();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  }

  return {
    async fresh() {
      const copy = free.pop() ?? (await make());
      whenFinished(async () => {
        if (await restore(copy)) free.push(copy);
        else await drop(copy);
      });
      return copy.name;
    },
    async drop() {
      for (const copy of free.splice(0)) await drop(copy);
    },
  };
}

interface Copy {
  readonly name: string;
  readonly client: pg.Client;
  readonly tables: readonly string[];
  /** The rows of a new store, by table. */
  readonly rows: ReadonlyMap<string, unknown>;
  readonly shape: string;
  readonly bytes: number;
}

async function openCopy(name: string, client: pg.Client): Promise<Copy> {
  await client.connect();
  const found = await client.query<{ table: string }>(
    `SELECT tablename AS "table" FROM pg_tables WHERE schemaname = '${SCHEMA}'`,
  );
  const tables = found.rows.map(({ table }) => table);
  const rows = new Map<string, unknown>();
  for (const table of tables) {
    const { rows: stored } = await client.query(`SELECT * FROM ${SCHEMA}.${table}`);
    if (stored.length > 0) rows.set(table, stored);
  }
  return { name, client, tables, rows, ...(await look(client)) };
}

/** Makes it a new store again; false if a test has changed its tables, or left so much that it would be slower. */
async function restore({ client, tables, rows, shape, bytes }: Copy): Promise<boolean> {
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  const now = await look(client);
  if (now.shape !== shape || now.bytes > 2 * bytes) return false;
  await client.query('BEGIN');
  await client.query(tables.map((table) => `DELETE FROM ${SCHEMA}.${table}`).join(';'));
  for (const [table, stored] of rows)
    await client.query(
      `INSERT INTO ${SCHEMA}.${table} SELECT * FROM json_populate_recordset(NULL::${SCHEMA}.${table}, $1)`,
      [JSON.stringify(stored)],
    );
  await client.query('COMMIT');
  return true;
}

/** The shape of a database, and its size. */
async function look(client: pg.Client): Promise<{ shape: string; bytes: number }> {
  const { rows } = await client.query<{ shape: string; bytes: string }>(`
    SELECT pg_database_size(current_database()) AS bytes, string_agg(line, E'\\n' ORDER BY line) AS shape FROM (
      SELECT concat_ws(' ', table_schema, table_name, column_name, data_type, is_nullable, column_default) AS line
        FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
      UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = '${SCHEMA}'::regnamespace
      UNION ALL SELECT relname || ' ' || relacl::text FROM pg_class
        WHERE relnamespace = '${SCHEMA}'::regnamespace AND relacl IS NOT NULL
      UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = '${SCHEMA}'::regnamespace
      UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal) AS lines`);
  const [found = { shape: '', bytes: '0' }] = rows;
  return { shape: found.shape, bytes: Number(found.bytes) };
}
