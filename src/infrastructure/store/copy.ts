/**
 * Copies what one store holds into another, whatever their engines: batch by batch in the order of the keys,
 * comparing first and writing only what differs. So a copy that was cut off goes on where it was, and one that
 * finds everything in place has verified it. The caller holds the source's write lock all the while.
 */
import { HiveError } from '../../domain/errors.ts';
import { MIGRATIONS } from './migrations.ts';
import { type Driver, type Row, type Sql, type SqlValue, statement } from './sql.ts';

export interface CopiedTable {
  table: string;
  rows: number;
  /** Of these, what an earlier, interrupted copy had brought already. */
  there_before: number;
}

interface Shape {
  table: string;
  key: readonly string[];
}

/** Small enough for a statement's parameters on both engines, and for a writer's patience. */
const BATCH = 100;

const TABLE = /CREATE TABLE (\w+) \(([\s\S]*?)\n\)/g;
/** A table that is made anew takes the place of the one before, under its name. */
const REPLACED = /ALTER TABLE (\w+) RENAME TO (\w+)/g;

/** Every table with its primary key, as the migrations make them. */
export function tablesOfStore(): Shape[] {
  const keys = new Map<string, readonly string[]>();
  for (const { text } of MIGRATIONS) {
    for (const [, table = '', body = ''] of text.matchAll(TABLE)) keys.set(table, keyIn(body));
    for (const [, made = '', table = ''] of text.matchAll(REPLACED)) {
      keys.set(table, keys.get(made) ?? []);
      keys.delete(made);
    }
  }
  return [...keys].map(([table, key]) => ({ table, key }));
}

function keyIn(body: string): readonly string[] {
  const several = /PRIMARY KEY \(([^)]+)\)/.exec(body)?.[1]?.split(',');
  const single = /^\s*"?(\w+)"?\s+\w+ PRIMARY KEY/m.exec(body)?.[1];
  return several?.map((column) => column.trim()) ?? [single ?? ''];
}

/**
 * Makes `to` hold exactly what `from` does, and reads both once more to be sure.
 * @throws HiveError `internal` when they differ nevertheless.
 */
export async function copyTables(from: Sql, to: Driver): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = [];
  for (const shape of tablesOfStore()) copied.push(await copyTable(from, to, shape));
  for (const { table, rows } of copied) {
    const shape = tablesOfStore().find((one) => one.table === table);
    const verified = shape === undefined ? -1 : await verifyTable(from, to, shape);
    if (verified !== rows) {
      throw new HiveError('internal', `The copy of the table ${table} differs from its source. Copy again.`);
    }
  }
  return copied;
}

async function copyTable(from: Sql, to: Driver, shape: Shape): Promise<CopiedTable> {
  let rows = 0;
  let there_before = 0;
  let after: SqlValue[] | null = null;
  for (;;) {
    const batch: Row[] = await page(from, shape, after);
    const last = batch.at(-1);
    // The last range is open: what is there beyond the source's end has no business there.
    const until = batch.length < BATCH || last === undefined ? null : keyOf(shape, last);
    const start = after;
    const same = await to.read((sql) => holds(sql, shape, start, until, batch));
    if (same) there_before += batch.length;
    else await to.write((sql) => replace(sql, shape, start, until, batch));
    rows += batch.length;
    if (until === null) return { table: shape.table, rows, there_before };
    after = until;
  }
}

/** How many rows both have, all of them equal; -1 when one differs. */
async function verifyTable(from: Sql, to: Driver, shape: Shape): Promise<number> {
  let rows = 0;
  let after: SqlValue[] | null = null;
  for (;;) {
    const batch: Row[] = await page(from, shape, after);
    const start = after;
    const other = await to.read((sql) => page(sql, shape, start));
    if (!equal(batch, other)) return -1;
    rows += batch.length;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) return rows;
    after = keyOf(shape, last);
  }
}

function page(sql: Sql, shape: Shape, after: SqlValue[] | null): Promise<Row[]> {
  const { where, params } = range(shape, after, null);
  return sql.all(
    statement(`SELECT * FROM ${shape.table} ${where} ORDER BY ${shape.key.join(', ')} LIMIT ${BATCH}`),
    params,
  );
}

async function holds(
  sql: Sql,
  shape: Shape,
  after: SqlValue[] | null,
  until: SqlValue[] | null,
  batch: readonly Row[],
): Promise<boolean> {
  const { where, params } = range(shape, after, until);
  const found = await sql.all(
    statement(
      `SELECT * FROM ${shape.table} ${where} ORDER BY ${shape.key.join(', ')} LIMIT ${batch.length + 1}`,
    ),
    params,
  );
  return equal(batch, found);
}

async function replace(
  sql: Sql,
  shape: Shape,
  after: SqlValue[] | null,
  until: SqlValue[] | null,
  batch: readonly Row[],
): Promise<void> {
  const { where, params } = range(shape, after, until);
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

/** The rows behind one key, up to and with another. */
function range(
  { key }: Shape,
  after: SqlValue[] | null,
  until: SqlValue[] | null,
): { where: string; params: SqlValue[] } {
  const params = [...(after ?? []), ...(until ?? [])];
  const placeholders = (from: number): string => key.map((_, index) => `$${from + index + 1}`).join(', ');
  const bounds = [
    after === null ? [] : [`(${key.join(', ')}) > (${placeholders(0)})`],
    until === null ? [] : [`(${key.join(', ')}) <= (${placeholders(after?.length ?? 0)})`],
  ].flat();
  return { where: bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`, params };
}

function keyOf({ key }: Shape, row: Row): SqlValue[] {
  return key.map((column) => row[column] ?? null);
}

function equal(one: readonly Row[], other: readonly Row[]): boolean {
  return one.length === other.length && one.every((row, index) => sameRow(row, other[index] ?? {}));
}

function sameRow(one: Row, other: Row): boolean {
  const columns = Object.keys(one);
  return (
    columns.length === Object.keys(other).length && columns.every((column) => one[column] === other[column])
  );
}
