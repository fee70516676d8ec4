/**
 * The SQLite driver: `node:sqlite` in WAL mode, with one connection that writes and one that reads, and the doorbell that
 * wakes other processes after a commit.
 * It avoids two pitfalls (measured). The built-in busy timeout starves writers, so it is 0 and we retry ourselves. An
 * asynchronous wrapper around one connection is not a transaction, so writes queue.
 */
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { HiveError } from '../../domain/errors.ts';
import { platform } from '../platform/platform.ts';
import {
  checkedParams,
  createPatience,
  createQueue,
  type Driver,
  monotonic,
  type Row,
  type Sql,
  type SqlValue,
  type Statement,
  type WriteOptions,
} from './sql.ts';
import { createDoorbell } from './sqlite-bell.ts';
import { isBusy, isReadOnly, translateSqliteError } from './sqlite-errors.ts';
import { refuseLogless } from './sqlite-file.ts';
import {
  asideOf,
  createLogMarker,
  flushLog,
  holdOpen,
  isLogLong,
  isLogNew,
  isOtherLogThere,
  type LogFiles,
  logBytes,
  logFiles,
} from './sqlite-log.ts';

/** Retries within this time are synchronous: a writer holds the lock for well under a millisecond. */
const SYNC_RETRY_MS = 8;
/** In ms. After this time the caller gets `store_busy`, unless it has set another limit. */
const BUSY_LIMIT_MS = 5_000;

/**
 * How many pages the log may have before a commit copies them into the file, four times SQLite's default. When eight
 * processes write, each keeps the others from finishing that copy, so it starts again and again (measured: a fifth of
 * their time).
 */
const CHECKPOINT_PAGES = 4_000;

/** Opens an existing, checked store file (see sqlite-file.ts); the first read during a write opens a second connection. */
export function openSqlite(
  path: string,
  {
    busy_ms = BUSY_LIMIT_MS,
    boot = platform.boot(),
  }: {
    busy_ms?: number | undefined;
    /** The current boot of the machine (`Driver.boot`); tests set it. */
    boot?: string;
  } = {},
): Driver {
  const place = statSync(path).ino;
  let writer = connect(path, false);
  let writes_begun = false;
  /** Why the connections must be opened again before they are used; null while they can be used. */
  let stale: 'read_only' | 'logless' | null = null;
  /** The log and its index as they were opened; null before the first transaction. */
  let log: LogFiles | null = null;
  /** The error of the next write after the log was removed. */
  let removed: HiveError | null = null;
  /** Why this process cannot go on: others have begun a log in place of the removed one. */
  let lost: HiveError | null = null;
  const release = holdOpen(place);
  const marker = createLogMarker(path);
  let reader: Connection | null = null;
  let dataVersion: StatementSync | null = null;
  /** The version of the data up to which the log is known to be on disk; null: it is not known. */
  let flushed: number | null = null;
  /** Whether this process has waited until the name of the log is on disk. */
  let named = false;
  const writes = createQueue();
  const patience = createPatience(busy_ms);
  const reads = createQueue();
  const doorbell = createDoorbell(`${path}-bell`, () => {
    // `data_version` changes when any other connection commits, which covers lost wake-ups.
    try {
      if (stale !== 'logless' && !isLogThere()) void writes.run(saveLog).catch(() => undefined);
      // All waiters then read, which opens the connections again.
      if (stale === 'logless') return Number.NaN;
      dataVersion ??= openReader().database.prepare('PRAGMA data_version');
      const row = dataVersion.get() as { data_version: number };
      return row.data_version;
    } catch {
      // The disk is gone for now. Each waiter gets the error from its own read.
      return Number.NaN;
    }
  });

  async function write<T>(
    work: (sql: Sql, now: string) => Promise<T>,
    { rings = () => false, acknowledges, mayLag }: WriteOptions<T> = {},
  ): Promise<T> {
    const queued_at = monotonic();
    return writes.run(async () => {
      if (stale !== null) await reopen();
      refuseOnce();
      let [begun, committed] = [false, false];
      try {
        let lags = acknowledges !== undefined && !isLogNew(path);
        await beginWrite(lags, queued_at);
        if (lags && mayLag !== undefined && !(await mayLag(writer))) {
          lags = false;
          writer.end('ROLLBACK');
          await beginWrite(lags, queued_at);
        }
        begun = true;
        const version = writer.version();
        writer.changed = false;
        const result = await work(writer, new Date().toISOString());
        writer.database.exec('COMMIT');
        committed = true;
        const must = acknowledges === undefined || acknowledges(result);
        try {
          flush({ version, lags, must });
          markLog();
        } catch (error) {
          if (isLogThere(committed)) throw error;
        }
        // A commit into a log that has been removed is acknowledged only if it is in the file.
        if (!isLogThere(committed) && !(await saveLog())) refuseOnce();
        if (rings()) doorbell.ring();
        return result;
      } catch (error) {
        writer.end('ROLLBACK');
        if (isReadOnly(error)) stale = 'read_only';
        throw translateSqliteError(error, path);
      } finally {
        if (begun) patience.moved();
      }
    });
  }

  async function beginWrite(lags: boolean, queued_at: number): Promise<void> {
    writer.waitForDisk(!lags);
    await begin(writer.database, queued_at);
    log ??= logFiles(path);
    if (isLogThere()) return;
    writer.end('ROLLBACK');
    await saveLog();
    refuseOnce();
  }

  /** Does not wait for the disk: nothing depends on a mark before the next commit that waits. */
  function markLog(): void {
    if (!marker.isDue()) return;
    writer.waitForDisk(false);
    marker.mark(writer.database);
  }

  /**
   * After a commit: flushes the log if the commit has not. SQLite flushes only with a commit that wrote something. A commit
   * that changed nothing may depend on one that is not flushed yet: a receipt, or a commit of a process that died first.
   */
  function flush({ version, lags, must }: { version: number; lags: boolean; must: boolean }): void {
    const by_commit = !lags && writer.changed;
    const isFlushed = flushed === version;
    // Stays null until the flush has succeeded: after a failure, the next write that acknowledges something flushes again.
    flushed = null;
    if (by_commit) named = true;
    else if (must && (lags || !isFlushed)) {
      flushLog(path, named);
      named = true;
    }
    // No other process can have committed before ours, because it would have changed the version.
    if (by_commit || must) flushed = version;
  }

  /**
   * A connection that was opened read-only stays so, and makes the others in its process read-only too. They are all
   * opened again, because the file may be writable by now, or because the log was removed.
   */
  async function reopen(): Promise<void> {
    if (lost !== null) throw lost;
    await closeConnections();
    isLogThere();
    await refuseLogless(path);
    writer = connect(path, false);
    stale = null;
  }

  async function closeConnections(): Promise<void> {
    await reads.run(async () => {
      reader?.close();
      reader = null;
      dataVersion = null;
    });
    writer.close();
    marker.close();
    log = null;
    writes_begun = false;
    flushed = null;
  }

  /**
   * Whether the log and its index are the ones that were opened. The engine continues to use removed files, and
   * everything that it then acknowledges would be lost.
   * @throws HiveError `store_unavailable` if the store itself was moved, removed or replaced.
   */
  function isLogThere(committed = false): boolean {
    const now = inodeOf(path);
    if (now !== place) {
      const written = committed ? 'It is not certain that this was written' : 'Nothing was written';
      throw new HiveError(
        'store_unavailable',
        now === undefined
          ? `The store ${path} was moved or removed. ${written}; put it back, or restart Hive to make a new store.`
          : `The store ${path} was replaced by another one. ${written}; restart Hive to use that one.`,
      );
    }
    if (log === null) return true;
    const found = logFiles(path);
    return found.log === log.log && found.index === log.index;
  }

  /**
   * Copies a removed log into the file, while this process still has it open. Every process that shared it does the same, and
   * none opens the store before that (refuseLogless). If others write a log of their own in its place, the records are saved
   * next to the store instead. Returns whether everything is in the file. The connections are then closed.
   */
  async function saveLog(): Promise<boolean> {
    if (stale === 'logless' || log === null || isLogThere()) return true;
    const copy = isOtherLogThere(path, log) ? asideOf(path) : null;
    try {
      await reads.run(async () => reader?.close());
      if (copy === null) writer.database.exec('PRAGMA wal_checkpoint(FULL)');
      else writer.database.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
      await closeConnections();
    } catch (error) {
      throw translateSqliteError(error, path);
    }
    stale = 'logless';
    // If nobody else had the store open, closing has copied the log and removed the one in its place.
    const isSaved = copy === null || logBytes(path) === 0;
    if (copy !== null && isSaved) rmSync(copy);
    if (isSaved) removed = logRemoved(path);
    else lost = logReplaced(path, copy);
    return isSaved;
  }

  async function getSaved(): Promise<void> {
    if (stale !== 'logless' && !isLogThere()) await saveLog();
  }

  /** For a read: opens the connections again after the log was removed. The next write reports the error. */
  async function getReady(): Promise<void> {
    await getSaved();
    if (stale === 'logless') await reopen();
  }

  function refuseOnce(): void {
    const error = lost ?? removed;
    removed = null;
    if (error !== null) throw error;
  }

  /**
   * Uses the connection that writes if it is idle: its cache holds the pages it wrote, while another connection fetches
   * everything again after each commit (measured: half the time of a small read).
   */
  async function read<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T> {
    if (!writes.idle || stale === 'read_only') return readBeside(work);
    try {
      return await readThrough(work);
    } catch (error) {
      // This connection must not wait (`begin`); the other one may.
      if (error instanceof HiveError && error.code === 'store_busy') return readBeside(work);
      throw error;
    }
  }

  /** Reads over the connection that writes. */
  function readThrough<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T> {
    return writes.run(async () => {
      try {
        await getReady();
        return await snapshot(writer, work);
      } finally {
        patience.moved();
      }
    });
  }

  /** Reads even while something is being written. */
  async function readBeside<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T> {
    if (stale === 'logless' || !isLogThere()) return readThrough(work);
    return reads.run(() => snapshot(openReader(), work));
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
      if (log === null) {
        // Only a read opens the log; from then on nobody else removes it.
        connection.database.exec('PRAGMA schema_version');
        log = logFiles(path);
      }
      return await work(connection, new Date().toISOString());
    } catch (error) {
      throw translateSqliteError(error, path);
    } finally {
      connection.end('COMMIT');
    }
  }

  async function begin(database: DatabaseSync, queued_at: number): Promise<void> {
    // The engine's own waiting starves writers; our retry does not.
    if (!writes_begun)
      database.exec(`PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    writes_begun = true;
    let started: number | null = null;
    for (;;) {
      try {
        database.exec('BEGIN IMMEDIATE');
        patience.moved();
        return;
      } catch (error) {
        if (!isBusy(error)) throw error;
        started ??= monotonic();
        if (patience.left(queued_at) < 0) {
          throw new HiveError(
            'store_busy',
            `The store ${path} was locked by another process for ${busy_ms / 1000} s. Nothing was written; try again.`,
          );
        }
        if (monotonic() - started < SYNC_RETRY_MS) pause(0.1 + Math.random() * 0.4);
        else await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 9));
      }
    }
  }

  return {
    boot,
    write,
    read,
    inspect: readThrough,
    watch: (listener) => doorbell.watch(listener),
    close,
    leave: async () => (isLogLong(path) ? close() : undefined),
  };

  async function close(): Promise<void> {
    doorbell.close();
    await writes.drained();
    await reads.drained();
    // The last connection copies its log into the file, unless others have begun another one.
    await getSaved().catch(() => undefined);
    await closeConnections();
    release();
  }
}

const FIND_OUT =
  'Find out what removes these files, such as a cleaner or a program that syncs the folder, and exclude them there.';

function logRemoved(path: string): HiveError {
  return new HiveError(
    'store_unavailable',
    `The log of the store, ${path}-wal or ${path}-shm, was removed or replaced while the store was open. Everything acknowledged before is safe in ${path}. This was not written; try it again. ${FIND_OUT}`,
  );
}

function logReplaced(path: string, copy: string): HiveError {
  return new HiveError(
    'store_unavailable',
    `The log of the store, ${path}-wal or ${path}-shm, was removed, and another program has begun one in its place. All that this process knew is saved in ${copy}. This was not written; end every Hive and the other program, and run: hive store restore '${copy}'. ${FIND_OUT}`,
  );
}

/** Undefined if there is no such file. */
function inodeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino;
  } catch (error) {
    throw translateSqliteError(error, path);
  }
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread, because no timer can be this short. */
function pause(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}

// ---- A connection ----

/** How long opening and reading wait for a lock that no writer holds. */
const OPENING_MS = 2_000;

/** A statement as `node:sqlite` runs it; `places[i]` is the index of the parameter for its i-th `?`. */
interface Prepared {
  readonly text: string;
  readonly arity: number;
  /** Whether a row that it changes always changes a page. */
  readonly certain: boolean;
  readonly statement: StatementSync;
  readonly places: readonly number[];
}

/** An UPDATE that sets the present value leaves its page unchanged, and so does an upsert. */
const CHANGES_FOR_SURE = /^\s*(INSERT\b(?![\s\S]*\bDO UPDATE\b)|DELETE\b)/;

/** With a bare parameter SQLite would use the value in its plan and prepare the statement again for each one. */
const LIMIT = 'LIMIT (? + 0)';

/** One connection with its prepared statements. */
class Connection implements Sql {
  readonly database: DatabaseSync;
  /** Whether a statement has certainly changed a page since this was last set to false. */
  changed = false;
  readonly #prepared = new Map<string, Prepared>();
  #waitsForDisk: boolean | null = null;
  #version: StatementSync | null = null;

  constructor(path: string, readOnly: boolean) {
    // Only recovery, and the last connection when it closes, lock out a reader or an opening. Both are short.
    this.database = new DatabaseSync(path, { readOnly, timeout: OPENING_MS });
  }

  /**
   * Sets whether the next commits end with an fsync; call it before each write. Commits without one are in the log like
   * any other: a process that dies loses none of them, and the next commit with an fsync includes them
   * (sqlite.org/pragma.html#pragma_synchronous).
   */
  waitForDisk(wait: boolean): void {
    if (wait === this.#waitsForDisk) return;
    this.database.exec(`PRAGMA synchronous = ${wait ? 'FULL' : 'NORMAL'}`);
    this.#waitsForDisk = wait;
  }

  /** A number that changes as soon as another connection has committed (sqlite.org/pragma.html#pragma_data_version). */
  version(): number {
    this.#version ??= this.database.prepare('PRAGMA data_version');
    return (this.#version.get() as { data_version: number }).data_version;
  }

  #prepare({ text }: Statement): Prepared {
    let prepared = this.#prepared.get(text);
    if (prepared === undefined) {
      const places: number[] = [];
      const positional = text.replace(/(LIMIT )?\$(\d+)/g, (_, limit: string | undefined, number: string) => {
        places.push(Number(number) - 1);
        return limit === undefined ? '?' : LIMIT;
      });
      const arity = Math.max(-1, ...places) + 1;
      const certain = CHANGES_FOR_SURE.test(text);
      prepared = { text, arity, certain, statement: this.database.prepare(positional), places };
      this.#prepared.set(text, prepared);
    }
    return prepared;
  }

  async all(given: Statement, params: readonly SqlValue[]): Promise<Row[]> {
    const prepared = this.#prepare(given);
    const rows = prepared.statement.all(...bound(params, prepared)) as Row[];
    if (prepared.certain && rows.length > 0) this.changed = true;
    return rows;
  }

  async run(given: Statement, params: readonly SqlValue[]): Promise<number> {
    const prepared = this.#prepare(given);
    const changes = Number(prepared.statement.run(...bound(params, prepared)).changes);
    if (prepared.certain && changes > 0) this.changed = true;
    return changes;
  }

  async change(given: Statement, params: readonly SqlValue[]): Promise<void> {
    await this.run(given, params);
  }

  /** Ends the open transaction. The engine may have ended it already, and on a broken disk it cannot. */
  end(how: 'COMMIT' | 'ROLLBACK'): void {
    try {
      if (this.database.isTransaction) this.database.exec(how);
    } catch {
      // The error that led here is more informative than this one.
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#version = null;
    if (this.database.isOpen) this.database.close();
  }
}

/** Opening reads the file, so a damaged one is found here. */
function connect(path: string, readOnly: boolean): Connection {
  try {
    return new Connection(path, readOnly);
  } catch (error) {
    throw translateSqliteError(error, path);
  }
}

/** Binds by position: `node:sqlite` binds `$1` only by the name "1", which takes six times as long for a row of 52 columns. */
function bound(params: readonly SqlValue[], prepared: Prepared): SqlValue[] {
  const checked = checkedParams(prepared.text, prepared.arity, params);
  return prepared.places.map((place) => checked[place] ?? null);
}
