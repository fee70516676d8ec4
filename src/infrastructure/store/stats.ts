/** The statement of the statistics: every prompt of a period, with only the columns that are counted. */
import type { AskedPage, StatsReads } from '../../application/ports.ts';
import type { CountedPrompt } from '../../domain/stats.ts';
import { columns, decodeIntact, type Row, type Sql, statement, table } from './sql.ts';

const prompts = table<CountedPrompt>(
  'prompts',
  columns({
    plain: `ask_id created_at agent project kind question status settled_at by via cancel_reason
      blocked_since`,
    json: 'late_response',
  }),
);

const COUNTED = statement(
  () => `${prompts.select}
   WHERE (created_at, ask_id) > ($1, $2) AND created_at <= $3 ORDER BY created_at, ask_id LIMIT $4`,
);

export function statsStatements(sql: Sql): StatsReads {
  return {
    async counted({ at, ask_id }, until, limit) {
      return askedPage(await sql.all(COUNTED, [at, ask_id, until, limit]), limit, prompts.decode);
    },
  };
}

/** The page of these rows; one with fewer than `limit` is the last. */
export function askedPage<T>(rows: readonly Row[], limit: number, decode: (row: Row) => T): AskedPage<T> {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    items: decodeIntact(rows, decode),
    next: last === undefined ? null : { at: String(last['created_at']), ask_id: String(last['ask_id']) },
  };
}
