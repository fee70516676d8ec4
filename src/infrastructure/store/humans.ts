/** The statements of humans and their teams. */
import type { DeskRecords, HumanRecords } from '../../application/ports.ts';
import type { Desk, Human, Team } from '../../domain/humans.ts';
import { damagedRows } from './checksums.ts';
import { pruneDesks } from './prune.ts';
import { decodeIntact, parseStored, type Sql, statement, table } from './sql.ts';

const humans = table<Human>('humans', { folded: 'plain', name: 'plain', seen_at: 'plain' });
const teams = table<Team>('teams', {
  folded: 'plain',
  name: 'plain',
  members: 'json',
  escalate_after_ms: 'plain',
});
const damagedIn = damagedRows(teams, 'teams', 'team ');

const GET = statement(() => `SELECT ${humans.list} FROM humans WHERE folded = $1`);
const LIST = statement(() => `SELECT ${humans.list} FROM humans ORDER BY seen_at DESC, folded LIMIT $1`);
const PUT = statement(() => `${humans.insert()} ON CONFLICT (folded) DO UPDATE SET ${humans.assignments}`);
const TEAM = statement(() => `SELECT ${teams.list} FROM teams WHERE folded = $1`);
const TEAMS = statement(() => `SELECT ${teams.list} FROM teams ORDER BY folded`);
const PUT_TEAM = statement(() => `${teams.insert()} ON CONFLICT (folded) DO UPDATE SET ${teams.assignments}`);
const REMOVE_TEAM = statement('DELETE FROM teams WHERE folded = $1');

export function humanStatements(sql: Sql): HumanRecords {
  return {
    async get(folded) {
      const [row] = await sql.all(GET, [folded]);
      return row === undefined ? undefined : humans.decode(row);
    },
    list: async (limit) => (await sql.all(LIST, [limit])).map(humans.decode),
    async team(folded) {
      const [row] = await sql.all(TEAM, [folded]);
      return row === undefined ? undefined : teams.decode(row);
    },
    damaged: (after) => damagedIn(sql, after),
    teams: async () => decodeIntact(await sql.all(TEAMS, []), teams.decode),
    async put(human) {
      await sql.run(PUT, humans.encode(human));
    },
    async putTeam(team) {
      await sql.run(PUT_TEAM, teams.encode(team));
    },
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

const ONLINE = statement(() => `SELECT ${desks.list} FROM desks WHERE lease_until > $1 ORDER BY opened_at`);
const GET_DESK = statement(() => `SELECT ${desks.list} FROM desks WHERE desk_id = $1`);
const PUT_DESK = statement(
  () => `${desks.insert()} ON CONFLICT (desk_id) DO UPDATE SET ${desks.assignments}`,
);
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
    async get(desk_id) {
      const [row] = await sql.all(GET_DESK, [desk_id]);
      return row === undefined ? undefined : desks.decode(row);
    },
    async preferences(seat) {
      const [row] = await sql.all(PREFERENCES, [seat]);
      return row === undefined ? {} : (parseStored(row['value'] ?? null) as Record<string, unknown>);
    },
    async put(desk) {
      await sql.run(PUT_DESK, desks.encode(desk));
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
    async setPreferences(seat, value) {
      await sql.run(SET_PREFERENCES, [seat, JSON.stringify(value)]);
    },
    ...pruneDesks(sql, now),
  };
}
