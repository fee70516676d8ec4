/** The statements of humans and their teams. */
import type { HumanRecords } from '../../application/ports.ts';
import type { Human, Team } from '../../domain/humans.ts';
import { type Sql, statement, table } from './sql.ts';

const humans = table<Human>('humans', { folded: 'plain', name: 'plain', seen_at: 'plain' });
const teams = table<Team>('teams', {
  folded: 'plain',
  name: 'plain',
  members: 'json',
  escalate_after_ms: 'plain',
  updated_at: 'plain',
});

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
    teams: async () => (await sql.all(TEAMS, [])).map(teams.decode),
    async put(human) {
      await sql.run(PUT, humans.encode(human));
    },
    async putTeam(team) {
      await sql.run(PUT_TEAM, teams.encode(team));
    },
    removeTeam: async (folded) => (await sql.run(REMOVE_TEAM, [folded])) === 1,
  };
}
