/** The statements of humans and their teams. */
import type { DeskRecords, HumanRecords } from '../../application/ports.ts';
import type { Desk, Human, Team } from '../../domain/humans.ts';
import { damagedRows } from './checksums.ts';
import { pruneDesks } from './prune.ts';
import { change, decodeIntact, one, parseStored, type Sql, statement, table } from './sql.ts';

const humans = table<Human>('humans', { folded: 'plain', name: 'plain', seen_at: 'plain' });
const teams = table<Team>('teams', {
  folded: 'plain',
  name: 'plain',
  members: 'json',
  escalate_after_ms: 'plain',
});
const damagedIn = damagedRows(teams, 'teams', 'team ');

const GET = statement(() => `${humans.select} WHERE folded = $1`);
const LIST = statement(() => `${humans.select} ORDER BY seen_at DESC, folded LIMIT $1`);
const PUT = statement(() => humans.upsert());
const TEAM = statement(() => `${teams.select} WHERE folded = $1`);
const TEAMS = statement(() => `${teams.select} ORDER BY folded`);
const PUT_TEAM = statement(() => teams.upsert());
const REMOVE_TEAM = statement('DELETE FROM teams WHERE folded = $1');

export function humanStatements(sql: Sql): HumanRecords {
  return {
    get: (folded) => one(sql, GET, [folded], humans.decode),
    list: async (limit) => (await sql.all(LIST, [limit])).map(humans.decode),
    team: (folded) => one(sql, TEAM, [folded], teams.decode),
    damaged: (after) => damagedIn(sql, after),
    teams: async () => decodeIntact(await sql.all(TEAMS, []), teams.decode),
    put: (human) => change(sql, PUT, humans.encode(human)),
    putTeam: (team) => change(sql, PUT_TEAM, teams.encode(team)),
    removeTeam: async (folded) => (await sql.run(REMOVE_TEAM, [folded])) === 1,
  };
}

// ---- Desks, and the preferences of each seat ----

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

const ONLINE = statement(() => `${desks.select} WHERE lease_until > $1 ORDER BY opened_at`);
const GET_DESK = statement(() => `${desks.select} WHERE desk_id = $1`);
const PUT_DESK = statement(() => desks.upsert());
const RENEW = statement('UPDATE desks SET lease_until = $2 WHERE desk_id = $1');
const REMOVE = statement('DELETE FROM desks WHERE desk_id = $1');
const REMOVE_LAPSED = statement('DELETE FROM desks WHERE lease_until <= $1');
const PREFERENCES = statement('SELECT value FROM preferences WHERE seat = $1');
const SET_PREFERENCES = statement(
  'INSERT INTO preferences (seat, value) VALUES ($1, $2) ON CONFLICT (seat) DO UPDATE SET value = $2',
);

export function deskStatements(sql: Sql, now: string): DeskRecords {
  return {
    online: async (at) => (await sql.all(ONLINE, [at])).map(desks.decode),
    get: (desk_id) => one(sql, GET_DESK, [desk_id], desks.decode),
    async preferences(seat) {
      const [row] = await sql.all(PREFERENCES, [seat]);
      return row === undefined ? {} : (parseStored(row['value'] ?? null) as Record<string, unknown>);
    },
    put: (desk) => change(sql, PUT_DESK, desks.encode(desk)),
    renew: (desk_id, lease_until) => change(sql, RENEW, [desk_id, lease_until]),
    remove: (desk_id) => change(sql, REMOVE, [desk_id]),
    removeLapsed: (at) => change(sql, REMOVE_LAPSED, [at]),
    setPreferences: (seat, value) => change(sql, SET_PREFERENCES, [seat, JSON.stringify(value)]),
    ...pruneDesks(sql, now),
  };
}
