/**
 * Connections that may be dead without saying so. One that breaks while it is used must not end the process;
 * one that is half-open swallows what it is told: so the first word of every transaction has a short limit, and
 * is said again over a new connection, since nothing has been done by then.
 */
import type { ClientConfig } from 'pg';
import pg from 'pg';
import { HiveError, invalidInput } from '../../domain/errors.ts';

export interface PostgresPool {
  /** A connection on which `text` was answered just now, and what it answered. Give it back. */
  begin(text: string, limit_ms: number): Promise<{ client: pg.PoolClient; results: pg.QueryResult[] }>;
  /** `broken`: it is not to be used again. */
  giveBack(client: pg.PoolClient, broken: boolean): void;
  /** Ends within `END_LIMIT_MS`, whatever the other side says. */
  end(): Promise<void>;
}

/** A connection that was not used for so long is asked whether it lives before it is trusted. */
const TRUSTED_MS = 2_000;
/** What lives answers within this: a server this slow could not be used anyway. */
export const LIVENESS_MS = 2_000;
const END_LIMIT_MS = 500;
/** Of several idle connections that died together the next may be dead, too; a new one is not. */
const ATTEMPTS = 3;

export function createPostgresPool(config: pg.PoolConfig): PostgresPool {
  const pool = new pg.Pool(config);
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

  function giveBack(client: pg.PoolClient, broken: boolean): void {
    busy.delete(client);
    used_at.set(client, performance.now());
    if (broken) cut(client);
    client.release(broken);
  }

  /** What is idle has most likely died of the same thing; each of them would cost its own time limit. */
  async function dropIdle(): Promise<void> {
    for (const client of all) if (!busy.has(client)) cut(client);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The first word over a connection that is there; an error when it turns out to be dead. */
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
      giveBack(client, true);
      if (isConnectionLost(error)) return error as Error;
      throw error;
    }
  }

  return {
    giveBack,
    async begin(text, limit_ms) {
      for (let tried = 1; ; tried += 1) {
        const client = await pool.connect();
        busy.add(client);
        const results = await firstWord(client, text, limit_ms);
        if (!(results instanceof Error)) return { client, results };
        if (tried === ATTEMPTS) throw results;
        await dropIdle();
      }
    },
    async end() {
      const limit = setTimeout(() => {
        for (const client of all) cut(client);
      }, END_LIMIT_MS);
      await pool.end();
      // The pool forgets its connections before they have ended: a half-open one would hold the process.
      while (all.size > 0) await new Promise((resolve) => pool.once('remove', resolve));
      clearTimeout(limit);
    },
  };
}

/** Several statements without parameters travel as one message: one round trip. */
async function ask(client: pg.PoolClient, text: string, limit_ms: number): Promise<pg.QueryResult[]> {
  const limited: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: limit_ms };
  return (await client.query(limited)) as unknown as pg.QueryResult[];
}

/** Without a goodbye: who does not listen cannot be told. */
function cut(client: pg.PoolClient): void {
  (client as unknown as pg.Client).connection.stream.destroy();
}

// ---------------------------------------------------------------------------
// What PostgreSQL and the network say, as sentences and codes of ours (PostgreSQL, Appendix A: error codes).

const LOCK_TIMEOUT = '55P03';
const QUERY_CANCELED = '57014';
const SERIALIZATION = '40001';
const DEADLOCK = '40P01';
const READ_ONLY = '25006';
const IDLE_IN_TRANSACTION = '25P03';
/** Classes: 08 connection, 53 insufficient resources, 57P server going or not there yet, 28 and 3D who and where. */
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

/** A HiveError for what the server or the network refused; our own errors pass unchanged. */
export function translatePostgresError(error: unknown, where: string): unknown {
  if (error instanceof HiveError || !(error instanceof Error)) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  const said = error.message;
  if (TOO_SLOW.has(code)) {
    return new HiveError(
      'store_busy',
      `The store ${where} did not get to it in time (${said}). Nothing was written; try again.`,
    );
  }
  if (code === '53100')
    return new HiveError(
      'store_full',
      `The server of the store ${where} has no room left. Nothing was written; make room and try again.`,
    );
  if (REFUSED.test(code))
    return new HiveError(
      'store_unavailable',
      `The server refuses the store ${where} (${said}). Check user, password, database and grants.`,
    );
  if (RESOURCES.test(code) || code === READ_ONLY || isConnectionLost(error)) {
    return new HiveError(
      'store_unavailable',
      `The store ${where} cannot be reached (${said}). What was not acknowledged may not be written; try again.`,
    );
  }
  return error;
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
/** The client library says these in words only. */
const NETWORK_WORDS =
  /connection terminated|timeout expired|timeout exceeded|query read timeout|client was closed|not queryable|connection error/i;

/** Whether the connection is gone, or says nothing any more: then it is of no further use. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return CONNECTION.test(code) || NETWORK_CODES.has(code) || NETWORK_WORDS.test(error.message);
}

// ---------------------------------------------------------------------------
// Where a hive lies on a PostgreSQL server: which database, and which schema of it.

export interface PostgresAddress {
  config: ClientConfig;
  /** Each hive is a schema: its own tables, with the lock and the channel in one of them. */
  schema: string;
  /** Off for a pooler that cannot carry prepared statements over its connections. */
  prepares: boolean;
  /** For LISTEN, which needs a direct connection; a transaction pooler swallows it. */
  listen: ClientConfig;
  /** For people: the address without password. */
  where: string;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,50}$/;

/**
 * Reads `postgres://user@host/database?schema=team_a&sslmode=verify-full`. A password comes from PGPASSFILE or
 * the environment; one in the URL works and is never shown.
 * @throws HiveError `invalid_input` for an address that is none, or a schema name that needs quoting.
 */
export function postgresAddress(
  address: string,
  env: Readonly<Record<string, string | undefined>> = {},
): PostgresAddress {
  const url = parse(address, 'HIVE_STORE');
  const schema = url.searchParams.get('schema') ?? 'hive';
  if (!SCHEMA.test(schema)) {
    throw invalidInput(
      `The schema "${schema}" in HIVE_STORE is no plain name: use small letters, digits and _, at most 51.`,
    );
  }
  url.searchParams.delete('schema');
  const prepares = preparesAt(url);
  const direct = env['HIVE_LISTEN_URL'];
  const listen = direct === undefined || direct === '' ? url : parse(direct, 'HIVE_LISTEN_URL');
  listen.searchParams.delete('schema');
  listen.searchParams.delete('prepare');
  return {
    config: { connectionString: url.href },
    schema,
    prepares,
    listen: { connectionString: listen.href },
    where: `${url.host}${url.pathname}?schema=${schema}`,
  };
}

/** `prepare=off`, which is ours and no parameter of the connection. */
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
      `${name} is no postgres:// URL. It reads like postgres://user@host:5432/database?schema=hive`,
    );
  }
}
