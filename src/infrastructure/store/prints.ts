/** The statements of hooks that are about to print what they have handed over. */
import type { Print, PrintRecords } from '../../application/ports.ts';
import { type Sql, statement, table } from './sql.ts';

const prints = table<Print>('prints', { print_id: 'plain', session_id: 'plain', at: 'plain' });

const OF = statement(() => `SELECT ${prints.list} FROM prints WHERE session_id = $1`);
const INSERT = statement(() => prints.insert());
const REMOVE = statement('DELETE FROM prints WHERE print_id = $1');

export function printStatements(sql: Sql): PrintRecords {
  return {
    of: async (session_id) => (await sql.all(OF, [session_id])).map(prints.decode),
    async insert(print) {
      await sql.run(INSERT, prints.encode(print));
    },
    async remove(print_id) {
      await sql.run(REMOVE, [print_id]);
    },
  };
}
