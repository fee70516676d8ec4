/** The statements of sessions. */
import type { SessionRecords } from '../../application/ports.ts';
import type { Session } from '../../domain/sessions.ts';
import { type Sql, statement, table } from './sql.ts';

const sessions = table<Session>('sessions', {
  session_id: 'plain',
  handle: 'plain',
  client: 'plain',
  source: 'plain',
  project: 'plain',
  project_dir: 'plain',
  branch: 'plain',
  parent_session_id: 'plain',
  continues: 'plain',
  machine: 'plain',
  pid: 'plain',
  state: 'plain',
  started_at: 'plain',
  last_seen_at: 'plain',
  ended_at: 'plain',
});

const GET = statement(`SELECT ${sessions.list} FROM sessions WHERE session_id = $1`);
const BY_HANDLE = statement(`SELECT ${sessions.list} FROM sessions WHERE handle = $1`);
const BY_PROCESS = statement(
  `SELECT ${sessions.list} FROM sessions WHERE machine = $1 AND pid = $2 ORDER BY started_at DESC LIMIT 1`,
);
const ALIVE = statement(
  `SELECT ${sessions.list} FROM sessions WHERE state <> 'ended' ORDER BY last_seen_at DESC LIMIT $1`,
);
const ENDED = statement(
  `SELECT ${sessions.list} FROM sessions WHERE state = 'ended' ORDER BY ended_at DESC LIMIT $1`,
);
const ALL = statement(`SELECT ${sessions.list} FROM sessions ORDER BY last_seen_at DESC LIMIT $1`);
const UPSERT = statement(
  `${sessions.insert()} ON CONFLICT (session_id) DO UPDATE SET ${sessions.assignments}`,
);
const TOUCH = statement(`UPDATE sessions SET last_seen_at = $2 WHERE session_id = $1`);

export function sessionStatements(sql: Sql): SessionRecords {
  async function one(query: typeof GET, params: (string | number)[]): Promise<Session | undefined> {
    const [row] = await sql.all(query, params);
    return row === undefined ? undefined : sessions.decode(row);
  }

  return {
    get: (session_id) => one(GET, [session_id]),
    byHandle: (handle) => one(BY_HANDLE, [handle]),
    byProcess: (machine, pid) => one(BY_PROCESS, [machine, pid]),
    async list({ state, limit }) {
      const query = state === 'alive' ? ALIVE : state === 'ended' ? ENDED : ALL;
      return (await sql.all(query, [limit])).map(sessions.decode);
    },
    async upsert(session) {
      await sql.run(UPSERT, sessions.encode(session));
    },
    async touch(session_id, now) {
      await sql.run(TOUCH, [session_id, now]);
    },
  };
}
