/** The statements of humans and their teams. */
import type { DeskRecords, HumanRecords } from '../../application/ports.ts';
import type { Desk, Human, Team } from '../../domain/humans.ts';
import { columns, many, parseStored, type Sql, statement, table } from './sql.ts';

const humans = table<Human>('humans', columns({ plain: 'folded name seen_at' }));
const teams = table<Team>(
  'teams',
  columns({
    plain: 'folded name escalate_after_ms',
    json: 'members',
  }),
);

const LIST = statement(() => `${humans.select} ORDER BY seen_at DESC, folded LIMIT $1`);
const TEAMS = statement(() => `${teams.select} ORDER BY folded`);
const REMOVE_TEAM = statement('DELETE FROM teams WHERE folded = $1');

export function humanStatements(sql: Sql): HumanRecords {
  return {
    get: (folded) => humans.get(sql, folded),
    list: (limit) => many(sql, LIST, [limit], humans.decode),
    team: (folded) => teams.get(sql, folded),
    damaged: (after) => teams.damaged(sql, after, 'team '),
    teams: () => many(sql, TEAMS, [], teams.decode),
    put: (human) => humans.put(sql, human),
    putTeam: (team) => teams.put(sql, team),
    removeTeam: async (folded) => (await sql.run(REMOVE_TEAM, [folded])) === 1,
  };
}

// ---- Desks, and the preferences of each seat ----

const desks = table<Desk>(
  'desks',
  columns({
    plain: 'desk_id seat pid client human opened_at lease_until',
    boolean: 'focused',
  }),
);

const ONLINE = statement(() => `${desks.select} WHERE lease_until > $1 ORDER BY opened_at`);
const RENEW = statement('UPDATE desks SET lease_until = $2 WHERE desk_id = $1');
const REMOVE = statement('DELETE FROM desks WHERE desk_id = $1');
const REMOVE_LAPSED = statement('DELETE FROM desks WHERE lease_until <= $1');
const PREFERENCES = statement('SELECT value FROM preferences WHERE seat = $1');
const SET_PREFERENCES = statement(
  'INSERT INTO preferences (seat, value) VALUES ($1, $2) ON CONFLICT (seat) DO UPDATE SET value = $2',
);

export function deskStatements(sql: Sql): DeskRecords {
  return {
    online: (at) => many(sql, ONLINE, [at], desks.decode),
    get: (desk_id) => desks.get(sql, desk_id),
    async preferences(seat) {
      const [row] = await sql.all(PREFERENCES, [seat]);
      return row === undefined ? {} : (parseStored(row['value'] ?? null) as Record<string, unknown>);
    },
    put: (desk) => desks.put(sql, desk),
    renew: (desk_id, lease_until) => sql.change(RENEW, [desk_id, lease_until]),
    remove: (desk_id) => sql.change(REMOVE, [desk_id]),
    removeLapsed: (at) => sql.change(REMOVE_LAPSED, [at]),
    setPreferences: (seat, value) => sql.change(SET_PREFERENCES, [seat, JSON.stringify(value)]),
  };
}
