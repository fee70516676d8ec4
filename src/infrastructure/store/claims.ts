/** The statements of claims: which desk holds a prompt. Who holds it, its row in `prompts` says. */
import type { ClaimRecords } from '../../application/ports.ts';
import { type Sql, type SqlValue, type Statement, statement } from './sql.ts';

const LIVING = `EXISTS (SELECT 1 FROM desks WHERE desks.desk_id = claims.desk_id AND desks.lease_until > $1)`;
const HOLDER = statement(() => `SELECT desk_id FROM claims WHERE ${LIVING} AND ask_id = $2`);
const OF_DESK = statement('SELECT ask_id FROM claims WHERE desk_id = $1');
const LAPSED = statement(() => `SELECT ask_id FROM claims WHERE NOT ${LIVING} ORDER BY ask_id LIMIT $2`);
// A desk whose lease another has swept away has none: it ended at the beginning of time.
const NEXT_LAPSE = statement(
  `SELECT MIN(COALESCE(desks.lease_until, '')) AS at FROM claims LEFT JOIN desks ON desks.desk_id = claims.desk_id`,
);
const PUT = statement(
  'INSERT INTO claims (ask_id, desk_id) VALUES ($1, $2) ON CONFLICT (ask_id) DO UPDATE SET desk_id = $2',
);
const REMOVE = statement('DELETE FROM claims WHERE ask_id = $1');

export function claimStatements(sql: Sql): ClaimRecords {
  const idsOf = async (query: Statement, params: SqlValue[]): Promise<string[]> =>
    (await sql.all(query, params)).map((row) => String(row['ask_id']));
  return {
    async holder(ask_id, now) {
      const [row] = await sql.all(HOLDER, [now, ask_id]);
      return row === undefined ? null : String(row['desk_id']);
    },
    ofDesk: (desk_id) => idsOf(OF_DESK, [desk_id]),
    lapsed: (now, limit) => idsOf(LAPSED, [now, limit]),
    async nextLapse() {
      const [row] = await sql.all(NEXT_LAPSE, []);
      if (row === undefined || row['at'] === null) return null;
      return row['at'] === '' ? BEGINNING : String(row['at']);
    },
    async put(ask_id, desk_id) {
      await sql.run(PUT, [ask_id, desk_id]);
    },
    async remove(ask_id) {
      await sql.run(REMOVE, [ask_id]);
    },
  };
}

const BEGINNING = new Date(0).toISOString();
