/** The statements of the mention gate's memory. */
import type { GateRecords } from '../../application/ports.ts';
import type { GateRecord } from '../../domain/gate.ts';
import { type Sql, statement, table } from './sql.ts';

const gates = table<GateRecord>('gates', {
  session_id: 'plain',
  steps: 'plain',
  step_until: 'plain',
  denials: 'plain',
  gave_up: 'boolean',
  held: 'boolean',
  held_since: 'plain',
  held_told: 'json',
  prompts: 'plain',
  prompts_gave_up: 'boolean',
});

const GET = statement(() => `SELECT ${gates.list} FROM gates WHERE session_id = $1`);
const HELD = statement(
  () => `SELECT ${gates.list} FROM gates WHERE held_since IS NOT NULL ORDER BY held_since LIMIT ${MOST_HELD}`,
);
const PUT = statement(() => `${gates.insert()} ON CONFLICT (session_id) DO UPDATE SET ${gates.assignments}`);

/** More than anybody wants to hear of at once. */
const MOST_HELD = 200;

export function gateStatements(sql: Sql): GateRecords {
  return {
    async get(session_id) {
      const [row] = await sql.all(GET, [session_id]);
      return row === undefined ? undefined : gates.decode(row);
    },
    held: async () => (await sql.all(HELD, [])).map(gates.decode),
    async put(record) {
      await sql.run(PUT, gates.encode(record));
    },
  };
}
