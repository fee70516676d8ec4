/**
 * The PostgreSQL driver: the same statements, the same promises. Each hive is a schema of the database with
 * its own lock and channel. A write takes an advisory lock and the clock before anything else, so events
 * commit in the order of their seq and a cursor never skips a late commit, as with SQLite's one writer.
 */
import pg from 'pg';
import { createPostgresBell } from './postgres-bell.ts';
import { translatePostgresError } from './postgres-errors.ts';
import { type PostgresPlace, postgresPlace } from './postgres-place.ts';
import { createQueue } from './queue.ts';
import { checkArity, type Driver, type Row, type Sql, type SqlValue, type Statement } from './sql.ts';

/** How many reads of one process may run at once; writes have a connection of their own. */
const READERS = 3;
/** After this a write hears `store_busy`, and a connection that does not come up `store_unavailable`. */
const BUSY_LIMIT_MS = 5_000;
const CONNECT_LIMIT_MS = 3_000;
/** A statement that takes longer has met a server in trouble. */
const STATEMENT_LIMIT_MS = 10_000;

/** 64-bit numbers (counters, COUNT) as numbers: ours stay far below 2^53. */
const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
};

/** Now, as the store says it: ISO-8601 UTC with milliseconds. */
const CLOCK = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now`;

function sqlOver(client: pg.PoolClient): Sql {
  async function query(statement: Statement, params: readonly SqlValue[]): Promise<pg.QueryResult> {
    checkArity(statement, params);
    // A name makes it a prepared statement of this connection; one without parameters may be DDL.
    return client.query(
      params.length === 0
        ? { text: statement.text }
        : { name: nameOf(statement), text: statement.text, values: [...params] },
    );
  }
  return {
    all: async (statement, params) => (await query(statement, params)).rows as Row[],
    run: async (statement, params) => (await query(dialect(statement), params)).rowCount ?? 0,
  };
}

const names = new Map<string, string>();

/** PostgreSQL cuts names at 63 bytes, so a statement is known by a number of ours. */
function nameOf({ text }: Statement): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `hive_${names.size}`;
    names.set(text, name);
  }
  return name;
}

/** Text of a table compares by bytes on both engines: cursors and times depend on it. */
function dialect(statement: Statement): Statement {
  if (!statement.text.startsWith('CREATE TABLE')) return statement;
  return { ...statement, text: statement.text.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"') };
}

export function openPostgres(
  place: PostgresPlace,
  { busy_ms = BUSY_LIMIT_MS }: { busy_ms?: number | undefined } = {},
): Driver {
  const { config, schema, lock, where } = place;
  const common: pg.PoolConfig = {
    ...config,
    application_name: 'hive',
    types,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    statement_timeout: STATEMENT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS + busy_ms,
    options: `-c search_path="${schema}" -c synchronous_commit=on`,
    allowExitOnIdle: true,
  };
  const writers = new pg.Pool({ ...common, max: 1 });
  const readers = new pg.Pool({ ...common, max: READERS });
  // An idle connection that breaks is replaced with the next use; without a listener it would end the process.
  for (const pool of [writers, readers]) pool.on('error', () => undefined);
  const writes = createQueue();
  const bell = createPostgresBell(place, () => version());

  async function version(): Promise<number> {
    const { rows } = await readers.query(`SELECT value FROM counters WHERE name = 'event'`);
    return Number(rows[0]?.value ?? 0);
  }

  async function transaction<T>(
    pool: pg.Pool,
    begin: string,
    work: (sql: Sql, now: string) => Promise<T>,
  ): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw translatePostgresError(error, where);
    }
    let broken: Error | undefined;
    try {
      // Several statements without parameters travel as one message: one round trip before the first of ours.
      const results = (await client.query(begin)) as unknown as pg.QueryResult[];
      const now = String(results.at(-1)?.rows[0]?.now);
      const result = await work(sqlOver(client), now);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure;
      });
      throw translatePostgresError(error, where);
    } finally {
      client.release(broken);
    }
  }

  let schemaReady: Promise<void> | null = null;
  let closing: Promise<void> | null = null;

  /** Under the lock: of processes that start at once, `IF NOT EXISTS` alone would let one fail. */
  async function ensureSchema(): Promise<void> {
    try {
      const { rows } = await writers.query('SELECT to_regnamespace($1) AS there', [`"${schema}"`]);
      if (rows[0]?.there !== null) return;
      await writers.query(
        `BEGIN; SELECT pg_advisory_xact_lock(${lock}); CREATE SCHEMA IF NOT EXISTS "${schema}"; COMMIT`,
      );
    } catch (error) {
      throw translatePostgresError(error, where);
    }
  }

  return {
    write: (work) =>
      writes.run(() =>
        transaction(
          writers,
          `BEGIN; SET LOCAL lock_timeout = ${busy_ms}; SELECT pg_advisory_xact_lock(${lock}); SELECT ${CLOCK}`,
          work,
        ),
      ),
    read: (work) =>
      transaction(readers, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT ${CLOCK}`, work),
    async inspect(work) {
      schemaReady ??= ensureSchema();
      await schemaReady;
      return transaction(writers, `BEGIN; SELECT ${CLOCK}`, work);
    },
    ring() {
      // Only the commit matters; a ring that is lost costs whoever waits a little time.
      writers.query('SELECT pg_notify($1, $2)', [place.channel, '']).catch(() => undefined);
    },
    watch: (listener) => bell.watch(listener),
    close() {
      closing ??= (async () => {
        await writes.drained();
        await bell.close();
        await Promise.all([writers.end(), readers.end()]);
      })();
      return closing;
    },
  };
}

/** The driver for an address as `HIVE_STORE` gives it. */
export function openPostgresAt(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  options: { busy_ms?: number | undefined } = {},
): Driver {
  return openPostgres(postgresPlace(address, env), options);
}
