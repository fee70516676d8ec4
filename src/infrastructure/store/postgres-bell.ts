/**
 * The doorbell of a PostgreSQL store: LISTEN on its own connection. Such a connection dies silently, so it has a heartbeat.
 * It reconnects with a capped back-off, listens again and then wakes everybody. Without LISTEN the slow poll works alone.
 * LISTEN is not trusted before the first notification, because a transaction pooler accepts it and never delivers any.
 */
import pg from 'pg';
import type { PostgresAddress } from './postgres-pool.ts';

export interface PostgresBell {
  watch(listener: () => void): () => void;
  close(): Promise<void>;
}

const HEARTBEAT_MS = 5_000;
const HEARTBEAT_LIMIT_MS = 3_000;
const END_LIMIT_MS = 500;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;
/** The interval of the slow poll: long while the connection works, short while it is down or has never delivered. */
const NET_MS = 500;
const NET_EVERY_WHEN_LISTENING = 10;

interface BellParts {
  /** The name of the channel, which only those who may read the hive's tables can know. */
  channel: () => Promise<string>;
  /** Changes whenever something was committed; only the slow poll reads it. */
  version: () => Promise<number>;
}

export function createPostgresBell(place: PostgresAddress, { channel, version }: BellParts): PostgresBell {
  const listeners = new Set<() => void>();
  let client: pg.Client | null = null;
  let listening = false;
  /** A notification has arrived, and the poll has found no commit since then without one. */
  let heard = false;
  let heardSince = false;
  let stopped = true;
  let retry_ms = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | null = null;
  let heartbeat: NodeJS.Timeout | null = null;
  let net: NodeJS.Timeout | null = null;
  let seen: number | null = null;
  let rounds = 0;
  let casting = false;

  function wake(): void {
    for (const listener of [...listeners]) listener();
  }

  async function connect(): Promise<void> {
    retry = null;
    const fresh = new pg.Client({
      ...place.listen,
      application_name: 'hive-listen',
      keepAlive: true,
      connectionTimeoutMillis: HEARTBEAT_LIMIT_MS,
      query_timeout: HEARTBEAT_LIMIT_MS,
    });
    client = fresh;
    fresh.on('error', () => lose(fresh));
    fresh.on('end', () => lose(fresh));
    fresh.on('notification', () => {
      heard = true;
      heardSince = true;
      wake();
    });
    try {
      await fresh.connect();
      await fresh.query(`LISTEN "${await channel()}"`);
      if (stopped || client !== fresh) return await end(fresh);
      listening = true;
      retry_ms = FIRST_RETRY_MS;
      // Commits while the connection was down rang for nobody.
      wake();
    } catch {
      lose(fresh);
    }
  }

  function lose(lost: pg.Client): void {
    if (client !== lost) return;
    client = null;
    listening = false;
    void end(lost);
    if (stopped) return;
    retry = setTimeout(() => void connect(), retry_ms * (0.5 + Math.random()));
    retry_ms = Math.min(retry_ms * 2, LAST_RETRY_MS);
  }

  function beat(): void {
    const current = client;
    if (current === null || !listening) return;
    // A half-open connection swallows this; the time limit then declares it dead.
    current.query('SELECT 1').catch(() => lose(current));
  }

  async function cast(): Promise<void> {
    rounds += 1;
    if (casting || (listening && heard && rounds % NET_EVERY_WHEN_LISTENING !== 0)) return;
    casting = true;
    try {
      const current = await version();
      // A first poll knows nothing to compare with: what was committed since the watch began may have rung for nobody.
      const changed = current !== seen;
      if (changed && !heardSince && seen !== null) heard = false;
      seen = current;
      heardSince = false;
      if (changed) wake();
    } catch {
      // The server is away. Whoever waits gets the error from its own read.
      wake();
    } finally {
      casting = false;
    }
  }

  function start(): void {
    stopped = false;
    retry_ms = FIRST_RETRY_MS;
    void connect();
    heartbeat = setInterval(beat, HEARTBEAT_MS);
    net = setInterval(() => void cast(), NET_MS);
  }

  async function stop(): Promise<void> {
    stopped = true;
    listening = false;
    for (const timer of [retry, heartbeat, net]) if (timer !== null) clearTimeout(timer);
    retry = null;
    heartbeat = null;
    net = null;
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
    watch(listener) {
      listeners.add(listener);
      if (listeners.size === 1) start();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) void stop();
      };
    },
    async close() {
      listeners.clear();
      await stop();
    },
  };
}
