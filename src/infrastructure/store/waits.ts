/** The statements of waits: the processes that wait for a question on behalf of an agent, each with its lease. */
import type { WaitRecords } from '../../application/ports.ts';
import { STANDING_LEASE } from '../../domain/waits.ts';
import { firstTime, ids, type Sql, statement } from './sql.ts';

const PUT = statement(
  `INSERT INTO waits (ask_id, wait_id, lease_until) VALUES ($1, $2, $3)
   ON CONFLICT (ask_id, wait_id) DO UPDATE SET lease_until = $3`,
);
const END = statement('DELETE FROM waits WHERE wait_id = $1 RETURNING ask_id');
const END_OF_SESSION = statement(`DELETE FROM waits WHERE ask_id = $1 AND wait_id NOT LIKE 'run-%'`);
const REMOVE = statement('DELETE FROM waits WHERE ask_id = $1');
const WAITED = statement('SELECT ask_id FROM waits WHERE ask_id = $1 AND lease_until > $2 LIMIT 1');
const LAPSED = statement(
  'SELECT DISTINCT ask_id FROM waits WHERE lease_until <= $1 ORDER BY ask_id LIMIT $2',
);
const OF_HOOKS = statement(`SELECT ask_id, wait_id FROM waits WHERE wait_id LIKE 'hook-%'`);
const NEXT_LAPSE = statement(
  `SELECT MIN(lease_until) AS at FROM waits WHERE lease_until < '${STANDING_LEASE}'`,
);
const REMOVE_LAPSED = statement(
  'DELETE FROM waits WHERE ask_id = $1 AND lease_until <= $2 RETURNING wait_id',
);

export function waitStatements(sql: Sql): WaitRecords {
  return {
    isWaited: async (ask_id, now) => (await sql.all(WAITED, [ask_id, now])).length > 0,
    lapses: {
      due: (now, limit) => ids(sql, LAPSED, [now, limit], 'ask_id'),
      next: () => firstTime(sql, NEXT_LAPSE),
    },
    async ofHooks() {
      const rows = await sql.all(OF_HOOKS, []);
      return rows.map((row) => ({ ask_id: String(row['ask_id']), wait_id: String(row['wait_id']) }));
    },
    put: ({ ask_id, wait_id, lease_until }) => sql.change(PUT, [ask_id, wait_id, lease_until]),
    removeLapsed: (ask_id, now) => ids(sql, REMOVE_LAPSED, [ask_id, now], 'wait_id'),
    end: (wait_id) => ids(sql, END, [wait_id], 'ask_id'),
    endOfSession: (ask_id) => sql.change(END_OF_SESSION, [ask_id]),
    remove: (ask_id) => sql.change(REMOVE, [ask_id]),
  };
}
