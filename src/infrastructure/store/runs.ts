/** The statements of runs. */
import type { RunRecords } from '../../application/ports.ts';
import type { Run } from '../../domain/runs.ts';
import { pruneRuns } from './prune.ts';
import { type Sql, statement, table } from './sql.ts';

const runs = table<Run>('runs', {
  run_id: 'plain',
  session_id: 'plain',
  status: 'plain',
  seat: 'plain',
  machine: 'plain',
  digest: 'plain',
  patience_ms: 'plain',
  start: 'plain',
  heard: 'plain',
  crashes: 'plain',
  keeper: 'json',
  agent: 'json',
  calls: 'json',
  exit_code: 'plain',
  problem: 'plain',
  created_at: 'plain',
  changed_at: 'plain',
});

const GET = statement(() => `SELECT ${runs.list} FROM runs WHERE run_id = $1`);
const OPEN = statement(
  () => `SELECT ${runs.list} FROM runs WHERE seat = $1 AND status <> 'ended' ORDER BY created_at, run_id`,
);
const LIST = statement(() => `SELECT ${runs.list} FROM runs WHERE seat = $1 ORDER BY created_at, run_id`);
const PUT = statement(() => `${runs.insert()} ON CONFLICT (run_id) DO UPDATE SET ${runs.assignments}`);

export function runStatements(sql: Sql): RunRecords {
  return {
    async get(run_id) {
      const [row] = await sql.all(GET, [run_id]);
      return row === undefined ? undefined : runs.decode(row);
    },
    open: async (seat) => (await sql.all(OPEN, [seat])).map(runs.decode),
    list: async (seat) => (await sql.all(LIST, [seat])).map(runs.decode),
    async put(run) {
      await sql.run(PUT, runs.encode(run));
    },
    ...pruneRuns(sql),
  };
}
