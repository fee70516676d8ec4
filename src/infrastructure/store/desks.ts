/** The statements of desks and of the preferences kept per seat. */
import type { DeskRecords } from '../../application/ports.ts';
import type { Desk } from '../../domain/desks.ts';
import { pruneDesks } from './prune.ts';
import { type Sql, statement, table } from './sql.ts';

const desks = table<Desk>('desks', {
  desk_id: 'plain',
  seat: 'plain',
  pid: 'plain',
  client: 'plain',
  human: 'plain',
  focused: 'boolean',
  opened_at: 'plain',
  lease_until: 'plain',
});

const ONLINE = statement(() => `SELECT ${desks.list} FROM desks WHERE lease_until > $1 ORDER BY opened_at`);
const GET = statement(() => `SELECT ${desks.list} FROM desks WHERE desk_id = $1`);
const PUT = statement(() => `${desks.insert()} ON CONFLICT (desk_id) DO UPDATE SET ${desks.assignments}`);
const RENEW = statement('UPDATE desks SET lease_until = $2 WHERE desk_id = $1');
const REMOVE = statement('DELETE FROM desks WHERE desk_id = $1');
const REMOVE_LAPSED = statement('DELETE FROM desks WHERE lease_until <= $1');
const PREFERENCES = statement('SELECT value FROM preferences WHERE seat = $1');
const SET_PREFERENCES = statement(
  'INSERT INTO preferences (seat, value, updated_at) VALUES ($1, $2, $3) ON CONFLICT (seat) DO UPDATE SET value = $2, updated_at = $3',
);

export function deskStatements(sql: Sql, now: string): DeskRecords {
  return {
    online: async (at) => (await sql.all(ONLINE, [at])).map(desks.decode),
    async get(desk_id) {
      const [row] = await sql.all(GET, [desk_id]);
      return row === undefined ? undefined : desks.decode(row);
    },
    async preferences(seat) {
      const [row] = await sql.all(PREFERENCES, [seat]);
      return row === undefined ? {} : (JSON.parse(String(row['value'])) as Record<string, unknown>);
    },
    async put(desk) {
      await sql.run(PUT, desks.encode(desk));
    },
    async renew(desk_id, lease_until) {
      await sql.run(RENEW, [desk_id, lease_until]);
    },
    async remove(desk_id) {
      await sql.run(REMOVE, [desk_id]);
    },
    async removeLapsed(at) {
      await sql.run(REMOVE_LAPSED, [at]);
    },
    async setPreferences(seat, value, at) {
      await sql.run(SET_PREFERENCES, [seat, JSON.stringify(value), at]);
    },
    ...pruneDesks(sql, now),
  };
}
