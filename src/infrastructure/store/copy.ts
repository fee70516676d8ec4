/**
 * Copies one store into another, between any engines: batch by batch in the order of the keys, comparing first and
 * writing only what differs. A copy that was interrupted therefore continues where it was, and a copy that finds nothing
 * to write has verified everything. The caller holds the source's write lock the whole time.
 */
import { existsSync, linkSync } from 'node:fs';
import { dirname } from 'node:path';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { isRemote } from '../../domain/sessions.ts';
import { syncPath } from '../platform/files.ts';
import { storeName } from '../platform/paths.ts';
import { processes } from '../platform/processes.ts';
import { migrate, SCHEMA } from './migrations.ts';
import { checkSchema, SCHEMA_VERSION } from './schema.ts';
import { type Driver, type Row, type Sql, type SqlValue, statement } from './sql.ts';
import { logBytes, logOf, removeDraft } from './sqlite-log.ts';
import { identify } from './store.ts';

export interface CopiedTable {
  table: string;
  rows: number;
  /** How many of these an earlier, interrupted copy had already written. */
  there_before: number;
}

interface Shape {
  table: string;
  key: readonly string[];
}

/** Small enough for a statement's parameters on both engines, and to keep no other writer waiting. */
const BATCH = 100;

const TABLE = /CREATE TABLE (\w+) \(([\s\S]*?)\n\)/g;

/** Every table of a new store, with its primary key. */
export function tablesOfStore(): Shape[] {
  return SCHEMA.flatMap((text) =>
    [...text.matchAll(TABLE)].map(([, table = '', body = '']) => ({ table, key: keyIn(body) })),
  );
}

function keyIn(body: string): readonly string[] {
  const several = /PRIMARY KEY \(([^)]+)\)/.exec(body)?.[1]?.split(',');
  const single = /^\s*"?(\w+)"?\s+\w+ PRIMARY KEY/m.exec(body)?.[1];
  return several?.map((column) => column.trim()) ?? [single ?? ''];
}

/**
 * Makes `to` contain exactly what `from` contains, and reads both again to verify it.
 * @throws HiveError `internal` if they still differ.
 */
export async function copyTables(from: Sql, to: Driver): Promise<CopiedTable[]> {
  const shapes = tablesOfStore();
  const copied: CopiedTable[] = [];
  for (const shape of shapes) {
    const { rows, equal } = await compareTable(from, to, shape, (range, batch) =>
      to.write((sql) => replace(sql, shape, range, batch)),
    );
    copied.push({ table: shape.table, rows, there_before: equal });
  }
  for (const shape of shapes)
    await compareTable(from, to, shape, () => {
      throw new HiveError(
        'internal',
        `The copy of the table ${shape.table} differs from its source. Copy again.`,
      );
    });
  return copied;
}

/** The rows after one key, up to and including another; null for no bound. */
interface Range {
  after: SqlValue[] | null;
  until: SqlValue[] | null;
}

/** Compares a table batch by batch, and calls `mend` where the copy differs. Returns how many rows there are, and how many were equal. */
async function compareTable(
  from: Sql,
  to: Driver,
  shape: Shape,
  mend: (range: Range, batch: readonly Row[]) => Promise<void>,
): Promise<{ rows: number; equal: number }> {
  let rows = 0;
  let equal = 0;
  for (let after: SqlValue[] | null = null; ; ) {
    const batch: Row[] = await rowsIn(from, shape, { after, until: null }, BATCH);
    const last = batch.at(-1);
    // The last range is open-ended: rows beyond the source's last one are removed.
    const until = batch.length < BATCH || last === undefined ? null : keyOf(shape, last);
    const range: Range = { after, until };
    const found = await to.read((sql) => rowsIn(sql, shape, range, batch.length + 1));
    if (areEqual(batch, found)) equal += batch.length;
    else await mend(range, batch);
    rows += batch.length;
    if (until === null) return { rows, equal };
    after = until;
  }
}

function rowsIn(sql: Sql, shape: Shape, range: Range, limit: number): Promise<Row[]> {
  const { where, params } = within(shape, range);
  const order = shape.key.join(', ');
  return sql.all(statement(`SELECT * FROM ${shape.table} ${where} ORDER BY ${order} LIMIT ${limit}`), params);
}

async function replace(sql: Sql, shape: Shape, range: Range, batch: readonly Row[]): Promise<void> {
  const { where, params } = within(shape, range);
  await sql.run(statement(`DELETE FROM ${shape.table} ${where}`), params);
  const [first] = batch;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const tuple = (row: number): string =>
    `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`;
  await sql.run(
    statement(
      `INSERT INTO ${shape.table} (${columns.map((column) => `"${column}"`).join(', ')}) VALUES ${batch.map((_, row) => tuple(row)).join(', ')}`,
    ),
    batch.flatMap((row) => columns.map((column) => row[column] ?? null)),
  );
}

function within({ key }: Shape, { after, until }: Range): { where: string; params: SqlValue[] } {
  const placeholders = (from: number): string => key.map((_, index) => `$${from + index + 1}`).join(', ');
  const bounds = [
    ...(after === null ? [] : [`(${key.join(', ')}) > (${placeholders(0)})`]),
    ...(until === null ? [] : [`(${key.join(', ')}) <= (${placeholders(after?.length ?? 0)})`]),
  ];
  const where = bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`;
  return { where, params: [...(after ?? []), ...(until ?? [])] };
}

function keyOf({ key }: Shape, row: Row): SqlValue[] {
  return key.map((column) => row[column] ?? null);
}

function areEqual(one: readonly Row[], other: readonly Row[]): boolean {
  return one.length === other.length && one.every((row, index) => sameRow(row, other[index] ?? {}));
}

function sameRow(one: Row, other: Row): boolean {
  const columns = Object.keys(one);
  return (
    columns.length === Object.keys(other).length && columns.every((column) => one[column] === other[column])
  );
}

// ---- Before copying ----
// The store must exist, have this schema and not be in use.

const DESKS = statement('SELECT seat, client FROM desks WHERE lease_until > $1');
const CONNECTIONS = statement('SELECT machine, pid FROM connections');

/** @throws HiveError `store_foreign`, `store_too_new`, `invalid_input`. */
export async function checkVersion(sql: Sql, address: string): Promise<void> {
  const { version: found } = await identify(sql);
  const where = storeName(address);
  checkSchema(where, found);
  if (found === 0) throw new HiveError('store_foreign', `There is no Hive store at ${where} to copy.`);
  if (found < SCHEMA_VERSION)
    throw new HiveError(
      'invalid_input',
      `The store ${where} was last used by an older Hive. Open it once with this one, for example: hive status`,
    );
}

/** @throws HiveError `store_busy`, which names who is using the store. */
export async function refuseInUse(sql: Sql, now: string, machine: string): Promise<void> {
  const desks = await sql.all(DESKS, [now]);
  const connections = (await sql.all(CONNECTIONS, [])).filter(
    // A connection of `hive serve` has the machine of its agent and the process of the server.
    (connection) =>
      (connection['machine'] !== machine && !isRemote(String(connection['machine']))) ||
      processes.alive(Number(connection['pid'])),
  );
  const users = [
    ...desks.map(({ seat, client }) => `${client} of ${seat}`),
    ...connections.map((connection) => `process ${connection['pid']} on ${connection['machine']}`),
  ];
  if (users.length === 0) return;
  throw new HiveError(
    'store_busy',
    `The store is in use: ${users.slice(0, 5).join(', ')}${users.length > 5 ? ' and others' : ''}. End them first, or pass --in-use if they are gone for good. Nothing was copied.`,
  );
}

// ---- The target of a copy ----
// The copy is built under a name that nobody opens. When it is complete it is moved into place in one step, and only if
// nothing is at that place yet.

interface CopyTarget {
  driver: Driver;
  /** Moves the complete copy into place. @throws HiveError `invalid_input` if there is already a store. */
  publish(): Promise<void>;
  /** Closes it; the rows copied so far are kept for the next attempt. */
  close(): Promise<void>;
}

type OpenDriver = (address: string) => Promise<Driver>;

/** @throws HiveError `invalid_input` if there is already a store. */
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
  if (logBytes(path) > 0)
    throw new HiveError(
      'invalid_input',
      `There is the log of an earlier store at ${logOf(path)}, which would be applied to the copy. Nothing was copied; move it away, or copy to a new place.`,
    );
  const aside = `${path}.copying`;
  const driver = await open(aside);
  return {
    driver,
    async publish() {
      // The last connection to close moves the log into the file, and flushes it.
      await driver.close();
      syncPath(aside);
      try {
        linkSync(aside, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw occupied(path);
        throw error;
      }
      // Before the other name is removed: the copy is then reported as done, and a power cut must not undo it.
      syncPath(dirname(path));
      removeDraft(aside);
    },
    close: () => driver.close(),
  };
}

/** The longest name of a target: a schema has at most 51 characters, and its copy a longer name until it is complete. */
const LONGEST_TARGET = 51 - '_copying'.length;

/** A new store has its lock even before the first write (extensions/postgres/driver.ts). */
const TABLES_OF = statement(
  "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'write_lock'",
);

async function schemaTarget(address: string, open: OpenDriver): Promise<CopyTarget> {
  const url = new URL(address);
  const schema = url.searchParams.get('schema') ?? 'hive';
  if (schema.length > LONGEST_TARGET)
    throw invalidInput(
      `The name of the schema "${schema}" is too long to copy a store to. Use at most ${LONGEST_TARGET} characters. Nothing was copied.`,
    );
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
          await sql.run(statement(`DROP TABLE "${schema}_copying".write_lock`), []);
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
    `There is already something at ${storeName(address)}, which was not changed. Copy to a new place.`,
  );
}
