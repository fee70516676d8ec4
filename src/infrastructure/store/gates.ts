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
  prompts: 'plain',
  prompts_gave_up: 'boolean',
});

const GET = statement(() => `SELECT ${gates.list} FROM gates WHERE session_id = $1`);
const PUT = statement(() => `${gates.insert()} ON CONFLICT (session_id) DO UPDATE SET ${gates.assignments}`);

export function gateStatements(sql: Sql): GateRecords {
  return {
    async get(session_id) {
      const [row] = await sql.all(GET, [session_id]);
      return row === undefined ? undefined : gates.decode(row);
    },
    async put(record) {
      await sql.run(PUT, gates.encode(record));
    },
  };
}
