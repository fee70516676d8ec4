/**
 * The WHERE of a list whose filters may each be missing, and the cursors that page through it. Every
 * value is a parameter; what is spliced into the text is ours alone.
 */
import { invalidInput } from '../../domain/errors.ts';
import { searchText } from '../../domain/text.ts';
import type { SqlValue } from './sql.ts';

export interface Conditions {
  readonly text: string;
  readonly params: readonly SqlValue[];
  /** The placeholder that follows the last one used, `$4`. */
  readonly next: string;
  /** Adds a condition with one `?`, unless its value is undefined. */
  and(condition: string, value: SqlValue | undefined): Conditions;
  /** Continues behind a cursor's row, in the given order; null begins at the first. */
  after(
    columns: readonly string[],
    direction: 'ASC' | 'DESC',
    cursor: readonly SqlValue[] | null,
  ): Conditions;
}

export function conditions(text: string, params: readonly SqlValue[] = []): Conditions {
  return {
    text,
    params,
    next: `$${params.length + 1}`,
    and(condition, value) {
      if (value === undefined) return this;
      return conditions(`${text} AND ${condition.replace('?', `$${params.length + 1}`)}`, [...params, value]);
    },
    after(columns, direction, cursor) {
      if (cursor === null) return this;
      const placeholders = cursor.map((_, index) => `$${params.length + index + 1}`).join(', ');
      const sign = direction === 'ASC' ? '>' : '<';
      return conditions(`${text} AND (${columns.join(', ')}) ${sign} (${placeholders})`, [
        ...params,
        ...cursor,
      ]);
    },
  };
}

/** A cursor is opaque to callers: the sort key of the last row they saw. */
export function encodeCursor(key: readonly SqlValue[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** @throws HiveError `invalid_input` for a cursor that no list of ours has given out. */
export function decodeCursor(cursor: string | null | undefined, length: number): SqlValue[] | null {
  if (cursor === null || cursor === undefined || cursor === '') return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (
      Array.isArray(key) &&
      key.length === length &&
      key.every((part) => typeof part === 'string' || typeof part === 'number')
    ) {
      return key as SqlValue[];
    }
  } catch {
    // Falls through to the one refusal below.
  }
  throw invalidInput('The cursor is none of this list: begin again without a cursor.', { field: 'cursor' });
}

/** A LIKE pattern (ESCAPE '\') that finds the words of a query as they stand in `search_text`. */
export function likePattern(query: string): string {
  return `%${escapeLike(searchText(query))}%`;
}

/** A text as a LIKE pattern (ESCAPE '\') that means itself. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
