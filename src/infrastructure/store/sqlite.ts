/**
 * The SQLite driver: `node:sqlite` in WAL mode, a connection that writes and one that reads beside it.
 * Pitfalls it is built around (measured): the built-in busy timeout starves writers, so it is 0 and
 * the retry below is ours; an asynchronous wrapper over one connection is no transaction, so writes queue.
 */
import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HiveError } from '../../domain/errors.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import { createQueue } from './queue.ts';
import type { Driver, Sql, WriteOptions } from './sql.ts';
import { type Connection, connect } from './sqlite-connection.ts';
import { isBusy, isReadOnly, translateSqliteError } from './sqlite-errors.ts';
import { flushLog, isLogLong, isLogNew } from './sqlite-log.ts';

/** Tries within this time stay synchronous: a writer holds the lock for well under a millisecond. */
const SYNC_RETRY_MS = 8;
/** After this the caller hears `store_busy`, unless it said otherwise. */
const BUSY_LIMIT_MS = 5_000;

/**
 * Pages of log after which a commit copies them into place, four times what SQLite takes: of eight processes that write,
 * each keeps the others from finishing that, so it is begun again and again (measured: a fifth of all their time).
 */
const CHECKPOINT_PAGES = 4_000;

/** Opens an existing, checked store file (see sqlite-file.ts); a second connection comes with the first read beside a write. */
export function openSqlite(
  path: string,
  { busy_ms = BUSY_LIMIT_MS }: { busy_ms?: number | undefined } = {},
): Driver {
  let writer = connect(path, false);
  const place = statSync(path).ino;
  let writes_begun = false;
  let read_only = false;
  let reader: Connection | null = null;
  let dataVersion: StatementSync | null = null;
  const writes = createQueue();
  const reads = createQueue();
  const doorbell: Doorbell = createDoorbell(`${path}-bell`, () => {
    // `data_version` changes when any other connection commits: the net under a lost wake-up.
    try {
      dataVersion ??= openReader().database.prepare('PRAGMA data_version');
      const row = dataVersion.get() as { data_version: number };
      return row.data_version;
    } catch {
      // The disk is gone for now: whoever waits looks for itself, and is told by its own read.
      return Number.NaN;
    }
  });

  async function write<T>(
    work: (sql: Sql, now: string) => Promise<T>,
    { rings = () => false, waits }: WriteOptions<T> = {},
  ): Promise<T> {
    return writes.run(async () => {
      if (read_only) await reopen();
      try {
        writer.waitForDisk(waits === undefined || isLogNew(path));
        await begin(writer.database);
        stillThere();
        const result = await work(writer, new Date().toISOString());
        writer.database.exec('COMMIT');
        if (waits?.(result) === true) flushLog(path);
        if (rings()) doorbell.ring();
        return result;
      } catch (error) {
        writer.end('ROLLBACK');
        read_only = isReadOnly(error);
        throw translateSqliteError(error, path);
      }
    });
  }

  /**
   * A connection that was opened read-only stays so, and makes those beside it in its process read-only too:
   * all are opened anew, since they may be allowed more by now.
   */
  async function reopen(): Promise<void> {
    await reads.run(async () => {
      reader?.close();
      reader = null;
      dataVersion = null;
    });
    writer.close();
    writes_begun = false;
    writer = connect(path, false);
  }

  /**
   * Over the connection that writes, where that is idle: its cache holds the pages it wrote itself, while another one
   * fetches all it reads anew after each commit (measured: half the time of a small read).
   */
  async function read<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T> {
    if (!writes.idle || read_only) return readBeside(work);
    try {
      return await writes.run(async () => {
        stillThere();
        return snapshot(writer, work);
      });
    } catch (error) {
      // It does not wait, as a writer must not (`begin`); the other one does.
      if (error instanceof HiveError && error.code === 'store_busy') return readBeside(work);
      throw error;
    }
  }

  /** Whatever is being written meanwhile. */
  function readBeside<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T> {
    return reads.run(async () => {
      stillThere();
      return snapshot(openReader(), work);
    });
  }

  function openReader(): Connection {
    reader ??= connect(path, true);
    return reader;
  }

  async function snapshot<T>(
    connection: Connection,
    work: (sql: Sql, now: string) => Promise<T>,
  ): Promise<T> {
    try {
      connection.database.exec('BEGIN');
      return await work(connection, new Date().toISOString());
    } catch (error) {
      throw translateSqliteError(error, path);
    } finally {
      connection.end('COMMIT');
    }
  }

  /** The engine goes on with a file that was removed, and all that it then acknowledges would be lost. */
  function stillThere(): void {
    const now = inodeOf(path);
    if (now === place) return;
    throw new HiveError(
      'store_unavailable',
      now === undefined
        ? `The store ${path} is gone: somebody moved or removed it. Nothing was written; put it back, or start Hive anew for a new store.`
        : `The store ${path} was replaced by another one. Nothing was written; start Hive anew to use that.`,
    );
  }

  async function begin(database: DatabaseSync): Promise<void> {
    // The engine's own waiting starves writers; ours below does not.
    if (!writes_begun)
      database.exec(`PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    writes_begun = true;
    let started: number | null = null;
    for (;;) {
      try {
        database.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error)) throw error;
        // Asked for only now: the first look at `performance` loads a millisecond of Node.
        started ??= performance.now();
        const waited = performance.now() - started;
        if (waited > busy_ms) {
          throw new HiveError(
            'store_busy',
            `The store ${path} was locked by another process for ${busy_ms / 1000} s. Nothing was written; try again.`,
          );
        }
        if (waited < SYNC_RETRY_MS) pause(0.1 + Math.random() * 0.4);
        else await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 9));
      }
    }
  }

  return {
    write,
    read,
    inspect: (work) => writes.run(() => snapshot(writer, work)),
    watch: (listener) => doorbell.watch(listener),
    close,
    leave: async () => (isLogLong(path) ? close() : undefined),
  };

  async function close(): Promise<void> {
    doorbell.close();
    await writes.drained();
    await reads.drained();
    reader?.close();
    writer.close();
  }
}

/** Undefined where there is no such file. */
function inodeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino;
  } catch (error) {
    throw translateSqliteError(error, path);
  }
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Sleeps without giving up the thread: shorter than any timer can. */
function pause(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}
