/**
 * Connections that may be dead without saying so. One that breaks while it is used must not end the process;
 * one that is half-open swallows what it is told: so the first word of every transaction has a short limit, and
 * is said again over a new connection, since nothing has been done by then.
 */
import pg from 'pg';
import { isConnectionLost } from './postgres-errors.ts';

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
