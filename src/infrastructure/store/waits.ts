/** The statements of waits: which processes wait for a question in an agent's place, each with its lease. */
import type { WaitRecords } from '../../application/ports.ts';
import { STANDING_LEASE } from '../../domain/waits.ts';
import { type Row, type Sql, statement } from './sql.ts';

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
const NEXT_LAPSE = statement(
  `SELECT MIN(lease_until) AS at FROM waits WHERE lease_until < '${STANDING_LEASE}'`,
);
const REMOVE_LAPSED = statement(
  'DELETE FROM waits WHERE ask_id = $1 AND lease_until <= $2 RETURNING wait_id',
);

const idsIn = (rows: readonly Row[]): string[] => rows.map((row) => String(row['ask_id']));

export function waitStatements(sql: Sql): WaitRecords {
  return {
    isWaited: async (ask_id, now) => (await sql.all(WAITED, [ask_id, now])).length > 0,
    lapsed: async (now, limit) => idsIn(await sql.all(LAPSED, [now, limit])),
    async nextLapse() {
      const [row] = await sql.all(NEXT_LAPSE, []);
      return row === undefined || row['at'] === null ? null : String(row['at']);
    },
    async put({ ask_id, wait_id, lease_until }) {
      await sql.run(PUT, [ask_id, wait_id, lease_until]);
    },
    removeLapsed: async (ask_id, now) =>
      (await sql.all(REMOVE_LAPSED, [ask_id, now])).map((row) => String(row['wait_id'])),
    end: async (wait_id) => idsIn(await sql.all(END, [wait_id])),
    async endOfSession(ask_id) {
      await sql.run(END_OF_SESSION, [ask_id]);
    },
    async remove(ask_id) {
      await sql.run(REMOVE, [ask_id]);
    },
  };
}
