-- The ground: identity and counters of the store, the event log, sessions, prompts, desks.
-- The subset that SQLite and PostgreSQL share: TEXT, INTEGER/BIGINT, no engine's own functions.
-- Times are ISO-8601 UTC text with milliseconds, booleans 0/1, JSON is text (docs/architecture.md).

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- Numbers that only grow. An id taken from here is never used again, not even after a prune.
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('event', 0);
INSERT INTO counters (name, value) VALUES ('pruned_event', 0);

CREATE TABLE events (
  seq        BIGINT PRIMARY KEY,
  at         TEXT NOT NULL,
  type       TEXT NOT NULL,
  session_id TEXT,
  subject    TEXT,
  data       TEXT NOT NULL
);
CREATE INDEX events_by_subject ON events (subject, seq);
CREATE INDEX events_by_time ON events (at);

CREATE TABLE sessions (
  session_id        TEXT PRIMARY KEY,
  handle            TEXT NOT NULL,
  client            TEXT NOT NULL,
  source            TEXT NOT NULL,
  project           TEXT NOT NULL,
  project_dir       TEXT NOT NULL,
  branch            TEXT,
  parent_session_id TEXT,
  continues         TEXT,
  machine           TEXT NOT NULL,
  pid               BIGINT,
  shared            INTEGER NOT NULL,
  roles             TEXT NOT NULL,
  gate              TEXT,
  state             TEXT NOT NULL,
  started_at        TEXT NOT NULL,
  last_seen_at      TEXT NOT NULL,
  ended_at          TEXT,
  hooks_seen_at     TEXT
);
CREATE UNIQUE INDEX sessions_by_handle ON sessions (handle);
CREATE INDEX sessions_by_process ON sessions (machine, pid);
CREATE INDEX sessions_alive ON sessions (last_seen_at) WHERE state <> 'ended';

-- Whose call a tool_use_id is: the PreToolUse hook of a tool of ours tells, `hive mcp` asks.
CREATE TABLE tool_callers (
  tool_use_id TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL,
  at          TEXT NOT NULL
);
CREATE INDEX tool_callers_by_time ON tool_callers (at);

-- The `hive mcp` processes that live: a session without one cannot call our tools and is not gated for it.
CREATE TABLE connections (
  connection_id TEXT PRIMARY KEY,
  machine       TEXT NOT NULL,
  pid           BIGINT NOT NULL,
  parent_pid    BIGINT,
  session_id    TEXT,
  opened_at     TEXT NOT NULL
);

CREATE TABLE prompts (
  ask_id          TEXT PRIMARY KEY,
  session_id      TEXT NOT NULL,
  agent           TEXT NOT NULL,
  source          TEXT NOT NULL,
  project         TEXT NOT NULL,
  project_dir     TEXT NOT NULL,
  turn_id         TEXT,
  kind            TEXT NOT NULL,
  header          TEXT,
  question        TEXT NOT NULL,
  context         TEXT,
  options         TEXT NOT NULL,
  multi_select    INTEGER NOT NULL,
  allow_free_text INTEGER NOT NULL,
  urgency         TEXT NOT NULL,
  urgency_rank    INTEGER NOT NULL,
  label           TEXT,
  group_id        TEXT,
  bind            TEXT,
  survives_turn   INTEGER NOT NULL,
  idempotency_key TEXT,
  fingerprint     TEXT NOT NULL,
  created_at      TEXT NOT NULL,
  expires_at      TEXT,
  status          TEXT NOT NULL,
  settled_at      TEXT,
  decision        TEXT,
  selected        TEXT NOT NULL,
  comment         TEXT,
  "by"            TEXT,
  via             TEXT,
  response_id     TEXT,
  cancel_reason   TEXT,
  late_response   TEXT,
  amended         INTEGER NOT NULL,
  orphaned        INTEGER NOT NULL,
  snoozed_until   TEXT,
  claimed_by      TEXT,
  claimed_at      TEXT,
  offered_at      TEXT,
  seen_at         TEXT,
  responded_at    TEXT,
  handed_at       TEXT,
  collected_at    TEXT,
  carrier         TEXT,
  search_text     TEXT NOT NULL
);
CREATE UNIQUE INDEX prompts_by_key ON prompts (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- What waits, and when the next of it expires, must cost the same whatever the history behind it.
-- `status` leads although it is always the same: without it SQLite prefers prompts_by_status, and sorts.
CREATE INDEX prompts_pending ON prompts (status, urgency_rank, created_at, ask_id) WHERE status = 'pending';
CREATE INDEX prompts_expiring ON prompts (status, expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX prompts_uncollected ON prompts (session_id) WHERE collected_at IS NULL;
CREATE INDEX prompts_by_carrier ON prompts (carrier) WHERE carrier IS NOT NULL AND collected_at IS NULL;
CREATE INDEX prompts_by_status ON prompts (status, settled_at, ask_id);
CREATE INDEX prompts_by_age ON prompts (created_at, ask_id);

-- Every answer anybody gave, whatever became of it: a response_id sent twice finds its first outcome here.
CREATE TABLE responses (
  response_id  TEXT PRIMARY KEY,
  ask_id       TEXT NOT NULL,
  decision     TEXT NOT NULL,
  selected     TEXT NOT NULL,
  comment      TEXT,
  "by"         TEXT NOT NULL,
  via          TEXT NOT NULL,
  responded_at TEXT NOT NULL,
  outcome      TEXT NOT NULL
);
CREATE INDEX responses_by_prompt ON responses (ask_id);

CREATE TABLE desks (
  desk_id     TEXT PRIMARY KEY,
  seat        TEXT NOT NULL,
  pid         BIGINT NOT NULL,
  client      TEXT NOT NULL,
  focused     INTEGER NOT NULL,
  opened_at   TEXT NOT NULL,
  lease_until TEXT NOT NULL
);

CREATE TABLE preferences (
  seat       TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

-- One row a prompt and seat: whoever inserts it has claimed the popup.
CREATE TABLE popups (
  ask_id     TEXT NOT NULL,
  seat       TEXT NOT NULL,
  claimed_by TEXT NOT NULL,
  claimed_at TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  reason     TEXT,
  PRIMARY KEY (ask_id, seat)
);
