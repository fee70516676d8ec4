/** The statements of sessions. */
import type { Connection, SessionRecords, WakerRecords } from '../../application/ports.ts';
import type { Session } from '../../domain/sessions.ts';
import { timeAfter } from '../../domain/times.ts';
import type { Waker } from '../../domain/wakes.ts';
import {
  columns,
  decodeIntact,
  ids,
  many,
  one,
  type Row,
  type Sql,
  type SqlValue,
  type Statement,
  statement,
  table,
} from './sql.ts';

const sessions = table<Session>(
  'sessions',
  columns({
    plain: `session_id handle title name client_title first_words client source project project_dir branch
      parent_session_id continues machine pid shell_pid gate room room_read state started_at
      last_seen_at ended_at hooks_seen_at`,
    boolean: 'source_fixed shared room_news',
    json: 'roles outreach',
  }),
);

/** Reads a session. One with damaged settings gets the defaults: without it, the descent of other sessions would be unknown. */
function readSession(row: Row): Session {
  return decodeIntact([row], sessions.decode)[0] ?? sessions.decode({ ...row, roles: '[]', outreach: '{}' });
}

const GET = statement(() => `${sessions.select} WHERE session_id = $1`);
const BY_HANDLE = statement(() => `${sessions.select} WHERE handle = $1`);
const HANDLES = statement(
  'SELECT session_id, handle, title, state FROM sessions ORDER BY last_seen_at DESC, session_id',
);
const TITLES = statement("SELECT session_id, handle, title, name FROM sessions WHERE state <> 'ended'");
const OF_PROCESS = `${sessions.select} WHERE machine = $1 AND pid = $2`;
const BY_PROCESS = statement(() => `${OF_PROCESS} AND state <> 'ended' ORDER BY last_seen_at DESC LIMIT 1`);
const HOOKED_BY_PROCESS = statement(
  () =>
    `${OF_PROCESS} AND state <> 'ended' AND hooks_seen_at IS NOT NULL ORDER BY hooks_seen_at DESC LIMIT 1`,
);
const LAST_HOOKED_OF_PROCESS = statement(
  () => `${OF_PROCESS} AND hooks_seen_at IS NOT NULL ORDER BY hooks_seen_at DESC LIMIT 1`,
);
const ALIVE = statement(
  () => `${sessions.select} WHERE state <> 'ended' ORDER BY last_seen_at DESC LIMIT $1`,
);
const ENDED = statement(() => `${sessions.select} WHERE state = 'ended' ORDER BY ended_at DESC LIMIT $1`);
const ALL = statement(() => `${sessions.select} ORDER BY last_seen_at DESC LIMIT $1`);
/** Columns that only the statements of the room change: writing back a session that was read earlier would undo their changes. */
const OF_THE_ROOM = ['room_read', 'room_news'] as const;
const UPSERT = statement(() => sessions.upsert(OF_THE_ROOM));
const ADDRESSED = 'SELECT session_id FROM mentions WHERE message_id = $1';
const JOIN_ROOM = statement(
  `UPDATE sessions SET room_read = $2 WHERE room_read IS NULL AND (session_id = $3 OR session_id IN (${ADDRESSED}))`,
);
const BEGIN_ROOM = statement(
  `UPDATE sessions SET room_read = (SELECT value FROM counters WHERE name = 'message')
   WHERE session_id = $1 AND room_read IS NULL`,
);
/** Sessions that the mark reaches: the living ones that take part, except the author and those it mentions. */
const MARK_ROOM = statement(
  `UPDATE sessions SET room_news = 1
   WHERE state <> 'ended' AND room_news = 0 AND room_read IS NOT NULL AND shared = 1 AND COALESCE(room, 'count') <> 'off'
   AND ($4 = 'all' OR project_dir = $2) AND session_id <> $3 AND session_id NOT IN (${ADDRESSED})`,
);
const FLAG_ROOM = statement('UPDATE sessions SET room_news = 1 WHERE session_id = $1');
const NOTICE_ROOM = statement('UPDATE sessions SET room_news = 0 WHERE session_id = $1');
/** The mark stays if anything was posted after what was read. */
const READ_ROOM = statement(
  `UPDATE sessions SET room_read = $2, room_news =
     CASE WHEN (SELECT value FROM counters WHERE name = 'message') > $2 THEN room_news ELSE 0 END
   WHERE session_id = $1 AND room_read < $2`,
);
const CHILDREN = statement(() => `${sessions.select} WHERE parent_session_id = $1 AND state <> 'ended'`);
/** Ordered by the last work: a session that has only just started has none. Subagents are not conversations of their own. */
const LAST_MAIN = statement(
  () =>
    `${sessions.select}
     WHERE project_dir = $1 AND state <> 'ended' AND source = 'main' AND session_id <> $2 AND hooks_seen_at IS NOT NULL
     AND (parent_session_id IS NULL
       OR SUBSTR(session_id, 1, LENGTH(parent_session_id) + 1) <> parent_session_id || ':')
     ORDER BY COALESCE((SELECT MAX(turns.started_at) FROM turns WHERE turns.session_id = sessions.session_id), '') DESC,
       last_seen_at DESC LIMIT 1`,
);
const TOUCH_BY_HOOK = statement(
  'UPDATE sessions SET last_seen_at = $2, hooks_seen_at = $2 WHERE session_id = $1',
);
const TOUCH = statement(`UPDATE sessions SET last_seen_at = $2 WHERE session_id = $1`);

/** A column of these two statements alone: no other reader or writer of a session needs it. */
const NAME_CONVERSATION = statement('UPDATE sessions SET conversation = $2 WHERE session_id = $1');
const OF_CONVERSATION = statement(
  () => `${sessions.select} WHERE machine = $1 AND conversation = $2 ORDER BY started_at`,
);

const CALLER = statement('SELECT session_id FROM tool_callers WHERE tool_use_id = $1');
const RECORD_CALLER = statement(
  `INSERT INTO tool_callers (tool_use_id, session_id, at) VALUES ($1, $2, $3)
   ON CONFLICT (tool_use_id) DO UPDATE SET session_id = $2, at = $3`,
);
/** How long a call may follow its hook; after that, it never comes. */
const FORGET_CALLERS = statement('DELETE FROM tool_callers WHERE at < $1');
const CALLER_MEMORY_MS = 60 * 60 * 1000;

const connections = table<Connection>(
  'connections',
  columns({ plain: 'connection_id machine pid parent_pid session_id opened_at' }),
);
const CONNECTIONS = statement(() => `${connections.select} WHERE machine = $1 ORDER BY opened_at`);
const NAME_CONNECTION = statement('UPDATE connections SET session_id = $2 WHERE connection_id = $1');
const CLOSE_CONNECTION = statement('DELETE FROM connections WHERE connection_id = $1');

export function sessionStatements(sql: Sql, now: string): SessionRecords {
  const found = (query: Statement, params: SqlValue[]): Promise<Session | undefined> =>
    one(sql, query, params, readSession);

  return {
    get: (session_id) => found(GET, [session_id]),
    byHandle: (handle) => found(BY_HANDLE, [handle]),
    handles: async () =>
      (await sql.all(HANDLES, [])).map((row) => ({
        session_id: String(row['session_id']),
        handle: String(row['handle']),
        title: String(row['title']),
        alive: row['state'] !== 'ended',
      })),
    titles: async () =>
      (await sql.all(TITLES, [])).map((row) => ({
        session_id: String(row['session_id']),
        handle: String(row['handle']),
        title: String(row['title']),
        name: row['name'] == null ? null : String(row['name']),
      })),
    lastMainOf: (project_dir, except) => found(LAST_MAIN, [project_dir, except]),
    byProcess: (machine, pid) => found(BY_PROCESS, [machine, pid]),
    hookedByProcess: (machine, pid) => found(HOOKED_BY_PROCESS, [machine, pid]),
    lastHookedOfProcess: (machine, pid) => found(LAST_HOOKED_OF_PROCESS, [machine, pid]),
    async list({ state, limit }) {
      const query = state === 'alive' ? ALIVE : state === 'ended' ? ENDED : ALL;
      return many(sql, query, [limit], readSession);
    },
    upsert: (session) => sql.change(UPSERT, sessions.encode(session)),
    touch: (session_id, at) => sql.change(TOUCH, [session_id, at]),
    touchByHook: (session_id, at) => sql.change(TOUCH_BY_HOOK, [session_id, at]),
    joinRoom: ({ message_id, seq, session_id }) => sql.change(JOIN_ROOM, [message_id, seq, session_id ?? '']),
    beginRoom: (session_id) => sql.change(BEGIN_ROOM, [session_id]),
    markRoom: ({ message_id, project_dir, session_id, scope }) =>
      sql.change(MARK_ROOM, [message_id, project_dir ?? '', session_id ?? '', scope]),
    flagRoom: (session_id) => sql.change(FLAG_ROOM, [session_id]),
    noticeRoom: (session_id) => sql.change(NOTICE_ROOM, [session_id]),
    readRoom: (session_id, seq) => sql.change(READ_ROOM, [session_id, seq]),
    childrenOf: (session_id) => many(sql, CHILDREN, [session_id], readSession),
    ofConversation: (machine, conversation) =>
      many(sql, OF_CONVERSATION, [machine, conversation], readSession),
    nameConversation: (session_id, conversation) => sql.change(NAME_CONVERSATION, [session_id, conversation]),
    callerOf: async (tool_use_id) => (await ids(sql, CALLER, [tool_use_id], 'session_id'))[0],
    async recordCaller(tool_use_id, session_id) {
      await sql.change(RECORD_CALLER, [tool_use_id, session_id, now]);
      await sql.change(FORGET_CALLERS, [timeAfter(now, -CALLER_MEMORY_MS)]);
    },
    connections: (machine) => many(sql, CONNECTIONS, [machine], connections.decode),
    connection: (connection_id) => connections.get(sql, connection_id),
    openConnection: (connection) => connections.add(sql, connection),
    nameConnection: (connection_id, session_id) => sql.change(NAME_CONNECTION, [connection_id, session_id]),
    closeConnection: (connection_id) => sql.change(CLOSE_CONNECTION, [connection_id]),
    damaged: (after) => sessions.damaged(sql, after),
  };
}

// ---- Wakers ----

const wakers = table<Waker>(
  'wakers',
  columns({
    plain: 'session_id waker_id until wakes human_seq',
    json: 'woken_for',
  }),
);

export function wakerStatements(sql: Sql): WakerRecords {
  return {
    get: (session_id) => wakers.get(sql, session_id),
    put: (waker) => wakers.put(sql, waker),
  };
}
