/**
 * Connections that may be dead without notice. A connection that breaks in use must not end the process. A
 * half-open one loses what is sent over it, so the first statement of every transaction has a short time limit. It is then
 * sent again over a new connection, which is safe because nothing has been done yet.
 */
import type { ClientConfig } from 'pg';
import pg from 'pg';
import type pgpass from 'pgpass';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { createPatience, monotonic } from '../../infrastructure/store/sql.ts';
import { isAboutTls, TLS_PARAMETERS, takeTls, tlsProblem, type Way } from './tls.ts';

export type PostgresPool = ReturnType<typeof createPostgresPool>;

/** In ms. A connection that was idle for this long is tested before it is used. */
const TRUSTED_MS = 2_000;
/** In ms. A living connection answers within this time; a slower server could not be used anyway. */
export const LIVENESS_MS = 2_000;
const END_LIMIT_MS = 500;
/** If several idle connections died together, the next one may be dead too; a new one is not. */
const ATTEMPTS = 3;

// pg would read PGPASSFILE and ~/.pgpass itself, but warns at each start that its next version will not. This is called if the
// server asks for a password and neither the URL nor PGPASSWORD has one. The types of pg do not know that it may be a function.
Object.assign(pg.defaults, { password: passwordFromFile });

async function passwordFromFile(connection: pgpass.Connection): Promise<string> {
  const { default: find } = await import('pgpass');
  const found = await new Promise<string | undefined>((resolve) => find(connection, resolve));
  if (found !== undefined) return found;
  const { user, host, port, database } = connection;
  throw new HiveError(
    'store_unavailable',
    `The server ${host}:${port} asks for the password of ${user}, and there is none. Set PGPASSWORD, or put the line ${host}:${port}:${database}:${user}:PASSWORD into ~/.pgpass or the file that PGPASSFILE names (mode 0600).`,
  );
}

export function createPostgresPool(
  { config, ways, where }: PostgresAddress,
  { busy_ms, ...more }: pg.PoolConfig & { max: number; busy_ms: number },
) {
  const places = createPlaces(more.max, { busy_ms, where });
  let way: Way = false;
  /** Each new connection uses the way of connecting that is being tried at that time. */
  class Client extends pg.Client {
    constructor() {
      super({ ...config, ...more, ssl: way });
    }
  }
  const pool = new pg.Pool({ ...config, ...more, Client });
  const all = new Set<pg.PoolClient>();
  const busy = new Set<pg.PoolClient>();
  const used_at = new WeakMap<pg.PoolClient, number>();
  // Without a listener a connection that breaks would end the process, idle or not.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    all.add(client);
    client.on('error', () => undefined);
  });
  pool.on('remove', (client) => all.delete(client));

  async function connect(): Promise<pg.PoolClient> {
    if (pool.idleCount > 0) return pool.connect();
    return firstThatWorks(ways(), (next) => {
      way = next;
      return pool.connect();
    });
  }

  function release(client: pg.PoolClient, broken: boolean): void {
    busy.delete(client);
    used_at.set(client, performance.now());
    if (broken) cut(client);
    client.release(broken);
  }

  /** Idle connections have probably died for the same reason, and testing each would cost its time limit. */
  async function dropIdle(): Promise<void> {
    for (const client of all) if (!busy.has(client)) cut(client);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The first statement over an existing connection; fails if the connection is dead. */
  async function firstWord(
    client: pg.PoolClient,
    text: string,
    limit_ms: number,
  ): Promise<pg.QueryResult[] | Error> {
    try {
      const idle_ms = performance.now() - (used_at.get(client) ?? performance.now());
      if (limit_ms > LIVENESS_MS && idle_ms > TRUSTED_MS) await ask(client, 'SELECT 1', LIVENESS_MS);
      return await ask(client, text, limit_ms);
    } catch (error) {
      release(client, true);
      if (isConnectionLost(error)) return error as Error;
      throw error;
    }
  }

  async function begin(
    text: string,
    limit_ms: number,
  ): Promise<{ client: pg.PoolClient; results: pg.QueryResult[] }> {
    for (let tried = 1; ; tried += 1) {
      const client = await connect();
      busy.add(client);
      const results = await firstWord(client, text, limit_ms);
      if (!(results instanceof Error)) return { client, results };
      if (tried === ATTEMPTS) throw results;
      await dropIdle();
    }
  }

  return {
    /**
     * A connection on which `text` has just succeeded, and the result. Return it with `giveBack`.
     * @throws HiveError `store_busy` if no connection has become free for too long.
     */
    async begin(text: string, limit_ms: number) {
      await places.take();
      try {
        return await begin(text, limit_ms);
      } catch (error) {
        places.give(error);
        throw error;
      }
    },
    /** `broken`: the connection must not be used again. */
    giveBack(client: pg.PoolClient, broken: boolean): void {
      release(client, broken);
      places.give(null);
    },
    /** Ends within `END_LIMIT_MS`, even if the server does not answer. */
    async end(): Promise<void> {
      places.close();
      const limit = setTimeout(() => {
        for (const client of all) cut(client);
      }, END_LIMIT_MS);
      await pool.end();
      // The pool forgets connections before they have ended, and a half-open one would keep the process running.
      while (all.size > 0) await new Promise((resolve) => pool.once('remove', resolve));
      clearTimeout(limit);
    },
  };
}

/**
 * One place for each connection of a pool, given out in the order of the requests. The pool has a queue as well, but counts the
 * time in it as time to connect, so a server with many reads would seem to be away.
 */
function createPlaces(count: number, { busy_ms, where }: { busy_ms: number; where: string }) {
  const patience = createPatience(busy_ms);
  const waiting = new Map<() => void, (error: unknown) => void>();
  let free = count;

  function wait(): Promise<void> {
    const queued_at = monotonic();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const go = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const refuse = (error: unknown): void => {
        clearTimeout(timer);
        waiting.delete(go);
        reject(error);
      };
      const look = (): void => {
        const left = patience.left(queued_at);
        if (left <= 0) refuse(patience.failure ?? allBusy(count, busy_ms, where));
        else timer = setTimeout(look, left);
      };
      waiting.set(go, refuse);
      look();
    });
  }

  return {
    async take(): Promise<void> {
      if (free > 0) free -= 1;
      else await wait();
    },
    /** `failure`: why nothing could be done with the connection; null if something was done. */
    give(failure: unknown): void {
      if (failure === null) patience.moved();
      else patience.failed(failure);
      const [next] = waiting.keys();
      if (next === undefined) free += 1;
      else {
        waiting.delete(next);
        next();
      }
    },
    /** Refuses all waiters. */
    close(): void {
      const error = new HiveError(
        'cancelled',
        `The store ${where} was closed by this program: nothing was read.`,
      );
      for (const refuse of [...waiting.values()]) refuse(error);
    },
  };
}

function allBusy(count: number, busy_ms: number, where: string): HiveError {
  const connections = count === 1 ? 'The connection' : `Each of the ${count} connections`;
  return new HiveError(
    'store_busy',
    `${connections} of this process to the store ${where} has been busy for ${busy_ms / 1000} s. Nothing was read or written; try again.`,
  );
}

/** Tries the ways to connect in order, as long as an error concerns the way of connecting. */
async function firstThatWorks<T>(ways: readonly Way[], connect: (way: Way) => Promise<T>): Promise<T> {
  for (const [n, way] of ways.entries()) {
    try {
      return await connect(way);
    } catch (error) {
      if (n === ways.length - 1 || !isAboutTls(error)) throw error;
    }
  }
  throw new Error('There is no way to connect.');
}

/** A connection of its own, outside of a pool. `begin` gets each client before it connects. */
export function connectPostgres(
  { config, ways }: PostgresServer,
  more: ClientConfig,
  begin: (client: pg.Client) => void = () => undefined,
): Promise<pg.Client> {
  return firstThatWorks(ways(), async (ssl) => {
    const client = new pg.Client({ ...config, ...more, ssl });
    client.on('error', () => undefined);
    begin(client);
    await client.connect();
    return client;
  });
}

/** Several statements without parameters are one message and one round trip. */
async function ask(client: pg.PoolClient, text: string, limit_ms: number): Promise<pg.QueryResult[]> {
  const limited: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: limit_ms };
  return (await client.query(limited)) as unknown as pg.QueryResult[];
}

/** Closes the socket without a goodbye, because the other side does not listen. */
function cut(client: pg.PoolClient): void {
  (client as unknown as pg.Client).connection.stream.destroy();
}

// ---- Errors of PostgreSQL and the network, as codes and sentences of Hive ----
// The codes are in PostgreSQL's Appendix A.

const LOCK_TIMEOUT = '55P03';
const QUERY_CANCELED = '57014';
const SERIALIZATION = '40001';
const DEADLOCK = '40P01';
const READ_ONLY = '25006';
const IDLE_IN_TRANSACTION = '25P03';
/** A limit of the server: a row of an index takes at most 2,704 bytes. */
const TOO_LONG = '54000';
/** No such table, column or schema. Our statements fit our tables, so the store is damaged or foreign. */
const MISSING: ReadonlySet<string> = new Set(['42P01', '42703', '3F000']);
/** Classes: 08 connection, 53 insufficient resources, 57P server stopping or starting, 28 and 3D user and database. */
const CONNECTION = /^(08|57P|58)/;
const RESOURCES = /^53/;
const REFUSED = /^(28|3D|42501)/;

const TOO_SLOW: ReadonlySet<string> = new Set([
  LOCK_TIMEOUT,
  QUERY_CANCELED,
  SERIALIZATION,
  DEADLOCK,
  IDLE_IN_TRANSACTION,
]);

/** The HiveError for an error of the server or the network; our own errors are returned unchanged. */
export function translatePostgresError(error: unknown, where: string): unknown {
  if (error instanceof HiveError || !(error instanceof Error)) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  const message = error.message;
  const problem = tlsProblem(error, where);
  if (problem !== null) return new HiveError('store_unavailable', problem);
  if (TOO_SLOW.has(code)) {
    return new HiveError(
      'store_busy',
      `The store ${where} did not answer in time (${message}). Nothing was written; try again.`,
    );
  }
  if (code === '53100')
    return new HiveError(
      'store_full',
      `The server of the store ${where} has no space left. Nothing was written; free some space and try again.`,
    );
  if (code === TOO_LONG)
    return invalidInput(
      `The store ${where} cannot keep an id or a path that is so long (${message}). Nothing was written; use a shorter one.`,
    );
  if (MISSING.has(code))
    return new HiveError(
      'store_foreign',
      `The store ${where} is damaged or is not a Hive store (${message}). To restore a backup, use the tools of the server.`,
    );
  if (REFUSED.test(code))
    return new HiveError(
      'store_unavailable',
      `The server refuses the store ${where} (${message}). Check user, password, database and grants${/no encryption/.test(message) ? ', and sslmode: the server requires TLS' : ''}.`,
    );
  if (RESOURCES.test(code) || code === READ_ONLY || isConnectionLost(error)) {
    return new HiveError(
      'store_unavailable',
      `The store ${where} cannot be reached (${message}). What was not acknowledged may not be written; try again.`,
    );
  }
  return error;
}

/** @throws HiveError `store_unavailable` for a database that cannot keep every character. */
export function refuseEncoding(encoding: string, where: string): void {
  if (encoding === 'UTF8') return;
  throw new HiveError(
    'store_unavailable',
    `The database of the store ${where} has the encoding ${encoding}, which cannot keep every character that an agent or a human writes. Make another one, for example with CREATE DATABASE hive ENCODING 'UTF8' TEMPLATE template0, and name it in HIVE_STORE.`,
  );
}

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOENT',
]);
/** The client library reports these as text only. */
const NETWORK_WORDS =
  /connection terminated|timeout expired|timeout exceeded|query read timeout|client was closed|not queryable|connection error/i;

/** Whether the connection is closed or no longer answers, and so cannot be used again. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return CONNECTION.test(code) || NETWORK_CODES.has(code) || NETWORK_WORDS.test(error.message);
}

// ---- The address of a store on PostgreSQL: a database and a schema in it ----

export interface PostgresServer {
  config: ClientConfig;
  /** With TLS or without, in the order in which to try. */
  ways: () => readonly Way[];
}

export interface PostgresAddress extends PostgresServer {
  /** Each hive is a schema: its own tables, with the lock and the channel in one of them. */
  schema: string;
  /** Off for a pooler that cannot carry prepared statements over its connections. */
  prepares: boolean;
  /** For LISTEN, which needs a direct connection; no notification arrives over a transaction pooler. */
  listen: PostgresServer;
  /** For people: the address without password. */
  where: string;
}

/** The server reserves names that begin with pg_. */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,50}$/;

/** The parameters that the client library gets. It would silently drop any other, and its meaning. */
const OF_THE_LIBRARY = ['user', 'password', 'host', 'port', 'application_name', 'options'];

/** Hive sets its own time limits, for each connection and each transaction, so these would have no effect. */
const TIME_LIMITS = [
  'connect_timeout',
  'statement_timeout',
  'lock_timeout',
  'query_timeout',
  'idle_in_transaction_session_timeout',
];

/**
 * Reads `postgres://user@host/database?schema=team_a&sslmode=verify-full`. A password comes from PGPASSFILE or
 * the environment; one in the URL works and is never shown.
 * @throws HiveError `invalid_input` for an invalid address, or a schema name that needs quoting.
 */
export function postgresAddress(
  address: string,
  env: Readonly<Record<string, string | undefined>> = {},
): PostgresAddress {
  const url = parse(address, 'HIVE_STORE');
  const schema = url.searchParams.get('schema') ?? 'hive';
  if (!SCHEMA.test(schema)) {
    throw invalidInput(
      `The schema "${schema}" in HIVE_STORE is not a plain name. Use at most 51 lower-case letters, digits and _, and no pg_ at its beginning.`,
    );
  }
  url.searchParams.delete('schema');
  const prepares = preparesAt(url);
  const direct = env['HIVE_LISTEN_URL'];
  const listen = direct === undefined || direct === '' ? url : parse(direct, 'HIVE_LISTEN_URL');
  listen.searchParams.delete('schema');
  listen.searchParams.delete('prepare');
  const ways = takeTls(url, 'HIVE_STORE', env);
  const waysOfListen = listen === url ? ways : takeTls(listen, 'HIVE_LISTEN_URL', env);
  refuseUnknown(url, 'HIVE_STORE');
  refuseUnknown(listen, 'HIVE_LISTEN_URL');
  return {
    config: { connectionString: url.href },
    ways,
    schema,
    prepares,
    listen: {
      ways: waysOfListen,
      config: { connectionString: listen.href },
    },
    where: `${url.host}${url.pathname}?schema=${schema}`,
  };
}

/** For a parameter that is left after ours were taken. Its name is not shown: it may be part of an unencoded password. */
function refuseUnknown(url: URL, name: string): void {
  const unknown = [...url.searchParams.keys()].filter((key) => !OF_THE_LIBRARY.includes(key));
  if (unknown.length === 0) return;
  const limit = TIME_LIMITS.find((known) => unknown.includes(known));
  if (limit !== undefined)
    throw invalidInput(`${name} has the parameter ${limit}. Leave it out: Hive sets its own time limits.`);
  throw invalidInput(
    `${name} has a parameter that Hive does not know. Correct it or leave it out: the parameters are schema, prepare, ${[...TLS_PARAMETERS, ...OF_THE_LIBRARY].join(', ')}.`,
  );
}

/** Reads `prepare=off`, which is our own parameter and not one of the connection. */
function preparesAt(url: URL): boolean {
  const given = url.searchParams.get('prepare') ?? 'on';
  url.searchParams.delete('prepare');
  if (given !== 'on' && given !== 'off')
    throw invalidInput(`prepare=${given} in HIVE_STORE is neither on nor off.`);
  return given === 'on';
}

function parse(address: string, name: string): URL {
  try {
    return new URL(address);
  } catch {
    throw invalidInput(
      `${name} is not a postgres:// URL, such as postgres://user@host:5432/database?schema=hive`,
    );
  }
}
