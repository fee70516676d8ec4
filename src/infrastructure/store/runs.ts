/**
 * The statements of runs. Each row has a mark over all its columns, made with the key of the person whose run it is, so that
 * nothing that somebody else writes into the store can start a program.
 */
import type { RunRecords } from '../../application/ports.ts';
import type { Run } from '../../domain/runs.ts';
import { columns, many, type Row, type Sql, type SqlValue, statement, table } from './sql.ts';

/** The mark of a row, over its encoded columns; null if this process has no key. */
export type MarkRun = (columns: string) => Promise<string | null>;

const runs = table<Run>('runs', {
  ...columns({
    plain: 'run_id session_id status seat machine digest patience_ms start heard crashes',
    json: 'keeper agent calls',
  }),
  ...columns({ plain: 'exit_code problem created_at changed_at' }),
});

const OPEN = statement(
  () => `${runs.select} WHERE seat = $1 AND status <> 'ended' ORDER BY created_at, run_id`,
);
const LIST = statement(() => `${runs.select} WHERE seat = $1 ORDER BY created_at, run_id`);
const PUT = statement(
  () =>
    `${runs.insert(['mark'])} ON CONFLICT (run_id) DO UPDATE SET ${runs.assignments()}, mark = EXCLUDED.mark`,
);
const MARKED = statement(() => `SELECT ${runs.list}, runs.mark FROM runs WHERE run_id = $1`);

export function runStatements(sql: Sql, markOf: MarkRun): RunRecords {
  /** The columns as they will be read back, whatever the engine does to them. */
  const mark = (encoded: readonly SqlValue[]): Promise<string | null> => markOf(JSON.stringify(encoded));

  async function isIn(row: Row): Promise<boolean> {
    const given = row['mark'] ?? null;
    return given !== null && given === (await mark(runs.encode(runs.decode(row))));
  }

  return {
    get: (run_id) => runs.get(sql, run_id),
    damaged: (after) => runs.damaged(sql, after),
    open: (seat) => many(sql, OPEN, [seat], runs.decode),
    list: (seat) => many(sql, LIST, [seat], runs.decode),
    async isMarked(run_id) {
      const [row] = await sql.all(MARKED, [run_id]);
      return row !== undefined && isIn(row);
    },
    async put(run) {
      const [before] = await sql.all(MARKED, [run.run_id]);
      const encoded = runs.encode(run);
      // A row without its mark never gets one again, because that would turn a forged row into ours.
      const ours = before === undefined || (await isIn(before));
      await sql.change(PUT, [...encoded, ours ? await mark(encoded) : null]);
    },
  };
}
