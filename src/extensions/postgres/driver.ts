/**
 * The PostgreSQL driver: the same statements and the same guarantees. Each hive is a schema of the database with its own
 * lock and channel. A write first takes the lock and the time, so events commit in the order of their seq and a cursor never
 * skips a late commit, as with SQLite's one writer. The lock is a row of that schema, which also contains the name of the
 * channel: a role without grants can neither block a hive nor listen to it.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { HiveError } from '../../domain/errors.ts';
import { HEAD } from '../../infrastructure/store/events.ts';
import {
  arityOf,
  checkedParams,
  createPatience,
  createQueue,
  type Driver,
  monotonic,
  numberIn,
  type Row,
  type Sql,
  type SqlValue,
  type Statement,
  statement,
} from '../../infrastructure/store/sql.ts';
import {
  connectPostgres,
  createPostgresPool,
  isConnectionLost,
  LIVENESS_MS,
  type PostgresAddress,
  type PostgresPool,
  postgresAddress,
  refuseEncoding,
  translatePostgresError,
} from './pool.ts';

/** How many reads of one process may run at once; writes have their own connection. */
const READERS = 3;
/** In ms. After this time without the lock, or without a connection of the pool, a call gets `store_busy`. */
const BUSY_LIMIT_MS = 5_000;
/** In ms. A connection that cannot be made in this time is `store_unavailable`. */
const CONNECT_LIMIT_MS = 3_000;
/** In ms. If a statement takes longer, the server has a problem. */
const STATEMENT_LIMIT_MS = 10_000;
/** In ms. If a writer's machine goes down, the server releases the lock after this time. */
const SILENT_WRITER_MS = 4_000;

/** Reads 64-bit integers (counters, COUNT) as numbers: ours stay far below 2^53. */
const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
};

/** The store's time: ISO-8601 UTC with milliseconds. */
const CLOCK = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now`;

/** The statements of one transaction; `onFailed` gets the error of each that failed, in their order. */
function sqlOver(client: pg.PoolClient, prepares: boolean, onFailed: (error: unknown) => void): Sql {
  /** Throws at once if a parameter is missing: the server, which never gets such a statement, would commit the others. */
  function query(statement: Statement, params: readonly SqlValue[]): Promise<pg.QueryResult> {
    const { name, arity } = known(statement);
    const checked = checkedParams(statement.text, arity, params);
    // A name makes it a prepared statement of this connection. One without parameters may be DDL.
    const given =
      params.length === 0
        ? { text: statement.text }
        : {
            ...(prepares ? { name } : {}),
            text: statement.text,
            values: [...checked],
          };
    const result = client.query(given);
    result.catch(onFailed);
    return result;
  }
  return {
    all: async (statement, params) => (await query(statement, params)).rows as Row[],
    run: async (statement, params) => (await query(dialect(statement), params)).rowCount ?? 0,
    async change(statement, params) {
      void query(statement, params);
    },
  };
}

const statements = new Map<string, { name: string; arity: number }>();

/** Computed once for each text. PostgreSQL cuts names at 63 bytes, so the name of a statement is a number. */
function known({ text }: Statement): { name: string; arity: number } {
  let found = statements.get(text);
  if (found === undefined) {
    found = { name: `hive_${statements.size}`, arity: arityOf(text) };
    statements.set(text, found);
  }
  return found;
}

/**
 * Text columns compare by bytes on both engines; cursors and times depend on it. SQLite allows a row's own number
 * only with this type; here it gets 64 bits, too.
 */
function dialect(statement: Statement): Statement {
  if (!statement.text.startsWith('CREATE TABLE')) return statement;
  const text = statement.text
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replace(/\bINTEGER PRIMARY KEY\b/, 'BIGINT PRIMARY KEY');
  return { ...statement, text };
}

/** Spelled out, because an administrator may have set another default for the database or the role. */
const BEGIN_WRITE = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

export function openPostgres(
  place: PostgresAddress,
  { busy_ms = BUSY_LIMIT_MS }: { busy_ms?: number | undefined } = {},
): Driver {
  const { schema, where } = place;
  const common: pg.PoolConfig = {
    application_name: 'hive',
    types,
    // Several statements at once cost one round trip (node-postgres.com/features/pipelining).
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS + LIVENESS_MS,
    allowExitOnIdle: true,
  };
  const writers = createPostgresPool(place, { ...common, max: 1, busy_ms });
  const readers = createPostgresPool(place, { ...common, max: READERS, busy_ms });
  const writes = createQueue();
  const patience = createPatience(busy_ms);
  const bell = createPostgresBell(place, {
    channel: channelName,
    version: () => transaction(readers, reading, LIVENESS_MS, (sql) => numberIn(sql, HEAD, [])),
  });
  const settings = {
    search_path: schema,
    statement_timeout: STATEMENT_LIMIT_MS,
    idle_in_transaction_session_timeout: SILENT_WRITER_MS,
  };
  const ringing = {
    synchronous_commit: 'off',
    statement_timeout: STATEMENT_LIMIT_MS,
    lock_timeout: LIVENESS_MS,
  };
  const reading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${setLocal(settings)}; SELECT ${CLOCK}`;
  const writing = (lock_timeout: number): string =>
    `${BEGIN_WRITE}; ${setLocal({ ...settings, synchronous_commit: 'on', lock_timeout })}; SELECT 1 FROM "${schema}".write_lock FOR UPDATE; SELECT ${CLOCK}`;

  async function transaction<T>(
    pool: PostgresPool,
    begin: string,
    limit_ms: number,
    work: (sql: Sql, now: string) => Promise<T>,
    rings: (() => boolean) | null = null,
  ): Promise<T> {
    // Before the transaction: inside it, the query would need a connection that another transaction may be waiting for.
    const channel = rings === null ? null : await channelName();
    let begun: Awaited<ReturnType<PostgresPool['begin']>>;
    try {
      begun = await pool.begin(begin, limit_ms);
    } catch (error) {
      throw translatePostgresError(error, where);
    }
    const { client, results } = begun;
    let broken = false;
    /** The first error of a statement. Later statements fail because of it, and say less. */
    let failure: unknown = null;
    const onFailed = (error: unknown): void => {
      failure ??= error;
    };
    try {
      const sql = sqlOver(client, place.prepares, onFailed);
      const result = await work(sql, String(results.at(-1)?.rows[0]?.now));
      if (rings === null) await client.query('COMMIT');
      else broken = !(await commit(client, rings() ? channel : null));
      return result;
    } catch (error) {
      // Over a connection that does not answer, a ROLLBACK would only wait again; the server rolls back by itself.
      broken = isConnectionLost(error) || !(await isUndone(client));
      // A refusal of Hive says more, for example that a newer one has changed the tables.
      const cause = error instanceof HiveError ? error : (failure ?? error);
      throw translatePostgresError(cause, where);
    } finally {
      pool.giveBack(client, broken);
    }
  }

  /** A write whose turn it is. */
  async function write<T>(
    work: (sql: Sql, now: string) => Promise<T>,
    { rings = () => false, queued_at }: { rings: (() => boolean) | undefined; queued_at: number },
  ): Promise<T> {
    // A limit of 0 would mean no limit.
    const left = Math.max(1, Math.ceil(patience.left(queued_at)));
    if (left === 1 && patience.failure !== null) throw patience.failure;
    let begun = false;
    const begin = (sql: Sql, now: string): Promise<T> => {
      begun = true;
      patience.moved();
      return work(sql, now);
    };
    try {
      return await transaction(writers, writing(left), left + LIVENESS_MS, begin, rings);
    } catch (error) {
      if (!begun) patience.failed(error);
      throw error;
    } finally {
      if (begun) patience.moved();
    }
  }

  /**
   * Commits a write; returns whether the connection can still be used. The ring is sent with the commit and runs after it: inside
   * the transaction it would queue for a lock of the whole database. The ring is a transaction of its own, which would wait for
   * the disk and for a standby once more, so it has its own limits.
   */
  async function commit(client: pg.PoolClient, channel: string | null): Promise<boolean> {
    const committed = client.query('COMMIT');
    const rung = channel === null ? true : ring(client, channel);
    const { command } = await committed;
    // A transaction in which a statement failed is undone by its COMMIT, which is not an error.
    if (command !== 'COMMIT')
      throw new Error('A statement of a write failed, so the server has undone the write.');
    return rung;
  }

  /** If this fails, the write is still stored, and other processes find it with their slow poll. */
  async function ring(client: pg.PoolClient, channel: string): Promise<boolean> {
    try {
      await client.query(`${setLocal(ringing)}; SELECT pg_notify('${channel}', '')`);
      return true;
    } catch (error) {
      return !isConnectionLost(error);
    }
  }

  let schemaReady: Promise<void> | null = null;
  let closing: Promise<void> | null = null;

  /** Creates the rows that a write locks. Processes that start at once may all try: one wins. */
  async function ensureSchema(): Promise<void> {
    const isThere = async (): Promise<boolean> => {
      const [found] = await transaction(writers, reading, LIVENESS_MS, (sql) =>
        sql.all(TABLES_THERE, [schema]),
      );
      refuseEncoding(String(found?.['encoding']), where);
      if (found?.['others'] !== 0 && found?.['ours'] !== 3) throw foreign(schema, where);
      return found?.['locks'] === 1;
    };
    if (await isThere()) return;
    const beginning = `${BEGIN_WRITE}; ${setLocal({ ...settings, lock_timeout: busy_ms })}; SELECT ${CLOCK}`;
    try {
      await transaction(writers, beginning, busy_ms + LIVENESS_MS, async (sql) => {
        const [known] = await sql.all(SCHEMA_THERE, [schema]);
        // A role that does not own the database may not create schemas, not even one that exists already.
        if (known === undefined) await sql.run(statement(`CREATE SCHEMA "${schema}"`), []);
        await sql.run(statement(`CREATE TABLE "${schema}".write_lock (channel TEXT PRIMARY KEY)`), []);
        const channel = `hive_${randomBytes(16).toString('hex')}`;
        await sql.run(statement(`INSERT INTO "${schema}".write_lock (channel) VALUES ($1)`), [channel]);
      });
    } catch (error) {
      if (!(await isThere())) throw error;
    }
  }

  let named: Promise<string> | null = null;

  /** Read once: it never changes for a hive. */
  function channelName(): Promise<string> {
    named ??= transaction(readers, reading, LIVENESS_MS, async (sql) => {
      const [row] = await sql.all(CHANNEL, []);
      return String(row?.['channel']);
    }).catch((error: unknown) => {
      named = null;
      throw error;
    });
    return named;
  }

  return {
    boot: null,
    // A receipt waits for the disk, too: the server may crash alone while the agent lives.
    write(work, { rings } = {}) {
      const queued_at = monotonic();
      return writes.run(() => write(work, { rings, queued_at }));
    },
    read: (work) => transaction(readers, reading, LIVENESS_MS, work),
    async inspect(work) {
      schemaReady ??= ensureSchema();
      await schemaReady;
      return transaction(writers, reading, LIVENESS_MS, work);
    },
    watch: (listener) => bell.watch(listener),
    leave: async () => undefined,
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

/**
 * Set in each transaction, not once per connection, because a pooler may give each transaction another connection. One
 * statement for all takes a third of the time of several. The values are ours and need no quoting (pool.ts).
 */
function setLocal(settings: Readonly<Record<string, string | number>>): string {
  const all = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return `SELECT ${all.join(', ')}`;
}

const SCHEMA_THERE = statement('SELECT 1 FROM pg_namespace WHERE nspname = $1');
/** A hive has only its lock, or at least these three tables: all others are created in the same transaction. */
const TABLES_THERE = statement(
  `SELECT current_setting('server_encoding') AS encoding, count(*) FILTER (WHERE tablename = 'write_lock') AS locks,
     count(*) FILTER (WHERE tablename <> 'write_lock') AS others,
     count(*) FILTER (WHERE tablename IN ('write_lock', 'migrations', 'meta')) AS ours FROM pg_tables WHERE schemaname = $1`,
);
const CHANNEL = statement('SELECT channel FROM write_lock');

async function isUndone(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

function foreign(schema: string, where: string): HiveError {
  return new HiveError(
    'store_foreign',
    `The schema ${schema} of the store ${where} has tables of another program. Nothing was changed; name another schema in HIVE_STORE.`,
  );
}

/** The driver for an address in the form of `HIVE_STORE`. */
export function openPostgresAt(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  options: { busy_ms?: number | undefined } = {},
): Driver {
  return openPostgres(postgresAddress(address, env), options);
}

// ---- The doorbell ----
// LISTEN on its own connection. Such a connection dies silently, so it has a heartbeat. It reconnects with a capped back-off,
// listens again and then wakes all waiters. Without LISTEN the slow poll works alone. LISTEN is not trusted before the first
// notification, because a transaction pooler accepts it and never delivers any.

const HEARTBEAT_MS = 5_000;
const HEARTBEAT_LIMIT_MS = 3_000;
const END_LIMIT_MS = 500;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;
/** The interval of the slow poll: long while the connection works, short while it is down or has never delivered. */
const POLL_MS = 500;
const POLL_EVERY_WHEN_LISTENING = 10;

interface BellParts {
  /** The name of the channel, known only to those who may read the hive's tables. */
  channel: () => Promise<string>;
  /** Changes whenever something was committed; only the slow poll reads it. */
  version: () => Promise<number>;
}

function createPostgresBell(place: PostgresAddress, { channel, version }: BellParts) {
  const listeners = new Set<() => void>();
  let client: pg.Client | null = null;
  let listening = false;
  /** A notification has arrived, and since then the poll has found no commit without one. */
  let delivers = false;
  let deliveredSince = false;
  let stopped = true;
  let retry_ms = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | null = null;
  let heartbeat: NodeJS.Timeout | null = null;
  /** The connection whose last heartbeat is unanswered: the library takes one statement at a time. */
  let beating: pg.Client | null = null;
  let pollTimer: NodeJS.Timeout | null = null;
  let seen: number | null = null;
  let rounds = 0;
  let polling = false;

  function wake(): void {
    for (const listener of [...listeners]) listener();
  }

  async function connect(): Promise<void> {
    retry = null;
    const limits = {
      application_name: 'hive-listen',
      keepAlive: true,
      connectionTimeoutMillis: HEARTBEAT_LIMIT_MS,
      query_timeout: HEARTBEAT_LIMIT_MS,
    };
    // Assigned before it is connected, so that a stop can end it.
    let attempt: pg.Client | null = null;
    try {
      const fresh = await connectPostgres(place.listen, limits, (next) => {
        attempt = next;
        client = next;
      });
      fresh.on('error', () => lose(fresh));
      fresh.on('end', () => lose(fresh));
      fresh.on('notification', () => {
        delivers = true;
        deliveredSince = true;
        wake();
      });
      await fresh.query(`LISTEN "${await channel()}"`);
      if (stopped || client !== fresh) return await end(fresh);
      listening = true;
      retry_ms = FIRST_RETRY_MS;
      // Commits while the connection was down woke nobody.
      wake();
    } catch {
      lose(attempt);
    }
  }

  /** Null if there was not even a client, because a certificate file cannot be read. */
  function lose(lost: pg.Client | null): void {
    if (client !== lost) return;
    client = null;
    listening = false;
    if (lost !== null) void end(lost);
    if (stopped) return;
    retry = setTimeout(() => void connect(), retry_ms * (0.5 + Math.random()));
    retry_ms = Math.min(retry_ms * 2, LAST_RETRY_MS);
  }

  function beat(): void {
    const current = client;
    if (current === null || !listening || beating === current) return;
    beating = current;
    // A half-open connection does not answer this; the time limit then declares it dead.
    current.query('SELECT 1').then(
      () => {
        if (beating === current) beating = null;
      },
      () => lose(current),
    );
  }

  async function poll(): Promise<void> {
    rounds += 1;
    if (polling || (listening && delivers && rounds % POLL_EVERY_WHEN_LISTENING !== 0)) return;
    polling = true;
    try {
      const current = await version();
      // A first poll has nothing to compare with: commits since the watch began may have woken nobody.
      const changed = current !== seen;
      if (changed && !deliveredSince && seen !== null) delivers = false;
      seen = current;
      deliveredSince = false;
      if (changed) wake();
    } catch {
      // The server is away. Each waiter gets the error from its own read.
      wake();
    } finally {
      polling = false;
    }
  }

  function start(): void {
    stopped = false;
    retry_ms = FIRST_RETRY_MS;
    void connect();
    heartbeat = setInterval(beat, HEARTBEAT_MS);
    pollTimer = setInterval(() => void poll(), POLL_MS);
  }

  async function stop(): Promise<void> {
    stopped = true;
    listening = false;
    for (const timer of [retry, heartbeat, pollTimer]) if (timer !== null) clearTimeout(timer);
    retry = null;
    heartbeat = null;
    pollTimer = null;
    const last = client;
    client = null;
    if (last !== null) await end(last);
  }

  /** The end of a broken connection tells us nothing, and a half-open one never ends. */
  async function end(old: pg.Client): Promise<void> {
    const limit = setTimeout(() => old.connection.stream.destroy(), END_LIMIT_MS);
    await old.end().catch(() => undefined);
    clearTimeout(limit);
  }

  return {
    watch(listener: () => void): () => void {
      listeners.add(listener);
      if (listeners.size === 1) start();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) void stop();
      };
    },
    async close(): Promise<void> {
      listeners.clear();
      await stop();
    },
  };
}
