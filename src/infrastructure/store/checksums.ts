/**
 * The checksum of a row, stored in the row. SQLite keeps no checksums of its pages, and a bit that flips on a disk must not
 * become a decision. It protects against accidents, not against somebody who edits the file.
 */

import type { PageAfter } from '../../application/ports.ts';
import { HiveError } from '../../domain/errors.ts';
import { DOCTORED, pageOfDamaged, type Row, type Sql, type SqlValue, statement } from './sql.ts';

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * FNV-1a over UTF-16 code units, as a signed 32-bit integer. Every step is reversible, so a change of one character always
 * changes the sum. Any other change goes unnoticed once in four thousand million.
 */
export function checksumOf(values: readonly SqlValue[]): number {
  let sum = BASIS;
  for (const value of values) {
    // The kind of a value, so that null is not "null" and 1 is not "1".
    const text = value === null ? '-' : typeof value === 'number' ? `n${value}` : `s${value}`;
    for (let index = 0; index < text.length; index += 1) sum = Math.imul(sum ^ text.charCodeAt(index), PRIME);
    sum = Math.imul(sum ^ 0xffff, PRIME);
  }
  return sum | 0;
}

/**
 * The columns that a checksum covers: all except the listed ones, so a new column is covered by default. They are sorted,
 * so that a checksum does not depend on the order in our code.
 */
export function coveredColumns<Column extends string>(
  columns: readonly Column[],
  exceptions: Readonly<Partial<Record<Column, string>>>,
): readonly Column[] {
  return columns.filter((column) => exceptions[column] === undefined).sort();
}

/**
 * Refuses a row whose checksum is wrong or missing: a damaged row may have lost its last columns.
 * @throws HiveError `store_foreign`.
 */
export function verifyChecksum(found: SqlValue | undefined, values: readonly SqlValue[], what: string): void {
  if (found === checksumOf(values)) return;
  throw new HiveError(
    'store_foreign',
    `The store is damaged: ${what} does not read as it was written. Stop every Hive and restore a backup; hive doctor checks the rest.`,
  );
}

/** The checksums of one table. The first column is the key; `what` is a row in words for a person. */
export function checksums<Column extends string>(
  name: string,
  columns: readonly Column[],
  exceptions: Readonly<Partial<Record<Column, string>>>,
  what: string,
) {
  const [key = ''] = columns;
  const covered = coveredColumns(columns, exceptions);
  const coveredAt = covered.map((column) => columns.indexOf(column));
  const list = covered.map((column) => `"${column}"`).join(', ');
  const all = statement(() => `SELECT ${list} FROM ${name}`);
  const fromKey = statement(
    () => `SELECT ${list}, checksum FROM ${name} WHERE ${key} > $1 ORDER BY ${key} LIMIT $2`,
  );
  const set = statement(`UPDATE ${name} SET checksum = $2 WHERE ${key} = $1`);
  const valuesIn = (row: Row): SqlValue[] => covered.map((column) => row[column] ?? null);
  const ofRow = (row: Row): number => checksumOf(valuesIn(row));
  const isIntact = (row: Row): boolean => row['checksum'] === ofRow(row);
  return {
    /** The columns that they cover. */
    covered,
    /** The checksum of what is about to be written: the values of all columns, in their order. */
    ofEncoded: (encoded: readonly SqlValue[]): number =>
      checksumOf(coveredAt.map((index) => encoded[index] ?? null)),
    /** The checksum that a row should have. */
    ofRow,
    isIntact,
    /** @throws HiveError `store_foreign` if the row is damaged. */
    verify: (row: Row): void => verifyChecksum(row['checksum'], valuesIn(row), `the ${what} ${row[key]}`),
    /** Reads a page for the doctor. */
    async damaged(sql: Sql, after: string): Promise<PageAfter<string, string>> {
      const rows = await sql.all(fromKey, [after, DOCTORED]);
      const damaged = rows.filter((row) => !isIntact(row));
      return pageOfDamaged(rows, damaged, key);
    },
    /** Computes the checksum of every row again, after a migration has changed its columns. */
    async renew(sql: Sql): Promise<void> {
      for (const row of await sql.all(all, [])) await sql.run(set, [row[key] ?? null, ofRow(row)]);
    },
  };
}
