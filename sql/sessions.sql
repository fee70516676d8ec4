-- The sessions of agents, their processes, and how an idle one is woken.

-- `continues` is the session that this one took over from (after /clear, say). `source_fixed`: a human set the source, so
-- hooks leave it alone. `outreach` holds the outreach settings in which this session differs from the general ones.
-- `shared`: it takes part in the shared buffer. `shell_pid`: the shell in whose terminal a session without a client process was
-- used last, or the Codex that ran its last hook; the session ends with that process. `title` is derived from `name`,
-- `client_title`, `project` and `first_words`. `room` is the setting; `room_read`: the newest message of the room that it has
-- read, null while it takes no part; `room_news`: its next hook mentions that there are newer ones. `conversation`: the digest of
-- an editor's name for its agent's conversation, for `hive acp` that loads it again.
CREATE TABLE sessions (
  session_id        TEXT PRIMARY KEY,
  handle            TEXT NOT NULL,
  title             TEXT NOT NULL,
  name              TEXT,
  client_title      TEXT,
  first_words       TEXT,
  client            TEXT NOT NULL,
  source            TEXT NOT NULL,
  source_fixed      INTEGER NOT NULL,
  project           TEXT NOT NULL,
  project_dir       TEXT NOT NULL,
  branch            TEXT,
  parent_session_id TEXT,
  continues         TEXT,
  machine           TEXT NOT NULL,
  pid               BIGINT,
  shell_pid         BIGINT,
  shared            INTEGER NOT NULL,
  roles             TEXT NOT NULL,
  gate              TEXT,
  room              TEXT,
  room_read         BIGINT,
  room_news         INTEGER NOT NULL,
  outreach          TEXT NOT NULL,
  state             TEXT NOT NULL,
  started_at        TEXT NOT NULL,
  last_seen_at      TEXT NOT NULL,
  ended_at          TEXT,
  hooks_seen_at     TEXT,
  conversation      TEXT
);
CREATE UNIQUE INDEX sessions_by_handle ON sessions (handle);
CREATE INDEX sessions_by_process ON sessions (machine, pid);
CREATE INDEX sessions_alive ON sessions (last_seen_at) WHERE state <> 'ended';

-- The session that made the tool call with this tool_use_id: the PreToolUse hook of one of our tools records it, and
-- `hive mcp` looks it up.
CREATE TABLE tool_callers (
  tool_use_id TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL,
  at          TEXT NOT NULL
);
CREATE INDEX tool_callers_by_time ON tool_callers (at);

-- The `hive mcp` processes that are running. A session without one cannot call our tools, so the mention gate does not
-- hold it.
CREATE TABLE connections (
  connection_id TEXT PRIMARY KEY,
  machine       TEXT NOT NULL,
  pid           BIGINT NOT NULL,
  parent_pid    BIGINT,
  session_id    TEXT,
  opened_at     TEXT NOT NULL
);

-- The one process that may wake an idle session; a waiter that is no longer named here ends silently. `woken_for`
-- lists the subjects for which the session was woken, so that it is not woken twice for the same one. `wakes` counts the wakes by
-- mentions of other agents since the human last wrote, `human_seq` is the number of the last message at that time.
CREATE TABLE wakers (
  session_id TEXT PRIMARY KEY,
  waker_id   TEXT,
  until      TEXT,
  woken_for  TEXT NOT NULL,
  wakes      INTEGER NOT NULL,
  human_seq  BIGINT NOT NULL
);
