-- What agents send unasked, what it costs, and what the Stop guard remembers.

INSERT INTO counters (name, value) VALUES ('outreach', 0);

CREATE TABLE outreach (
  outreach_id    TEXT PRIMARY KEY,
  number         BIGINT NOT NULL,
  kind           TEXT NOT NULL,
  session_id     TEXT NOT NULL,
  agent          TEXT NOT NULL,
  source         TEXT NOT NULL,
  project        TEXT NOT NULL,
  project_dir    TEXT NOT NULL,
  turn_id        TEXT,
  message        TEXT,
  title          TEXT,
  description    TEXT,
  color          TEXT,
  fields         TEXT NOT NULL,
  actions        TEXT NOT NULL,
  ask_id         TEXT,
  critical       INTEGER NOT NULL,
  status         TEXT NOT NULL,
  reason         TEXT,
  charged        TEXT,
  created_at     TEXT NOT NULL,
  shown_at       TEXT,
  shown_via      TEXT,
  reported_at    TEXT,
  let_go_at      TEXT,
  to_session_id  TEXT,
  handed_at      TEXT,
  delivered_at   TEXT,
  carrier        TEXT
);
CREATE UNIQUE INDEX outreach_by_number ON outreach (number);
CREATE INDEX outreach_by_session ON outreach (session_id, number);
CREATE INDEX outreach_by_prompt ON outreach (ask_id) WHERE ask_id IS NOT NULL;
-- Hooks look for reports with every event that takes context: these hold only what waits.
CREATE INDEX outreach_to_session ON outreach (to_session_id, number) WHERE kind = 'report' AND status = 'sent';
CREATE INDEX outreach_to_project ON outreach (project_dir, number) WHERE kind = 'report' AND status = 'sent';
CREATE INDEX outreach_by_carrier ON outreach (carrier) WHERE kind = 'report' AND status = 'sent';
CREATE INDEX outreach_unshown ON outreach (created_at) WHERE kind <> 'report' AND status = 'sent';
CREATE INDEX outreach_by_time ON outreach (created_at);

-- One bucket for all sessions ('*'), and one for each that has figures of its own.
CREATE TABLE budgets (
  name     TEXT PRIMARY KEY,
  tokens   INTEGER NOT NULL,
  since    TEXT NOT NULL,
  critical INTEGER NOT NULL
);

CREATE TABLE stop_guards (
  session_id       TEXT PRIMARY KEY,
  chain            TEXT,
  blocks           INTEGER NOT NULL,
  blocks_total     INTEGER NOT NULL,
  let_go_at        TEXT,
  reported_at      TEXT,
  reminded_at      TEXT,
  stop_hook_active INTEGER NOT NULL
);

-- A hook that is about to print what it has handed over: one that was killed before has handed nothing.
CREATE TABLE prints (
  print_id   TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  at         TEXT NOT NULL
);
CREATE INDEX prints_of_session ON prints (session_id);

-- What the human set for one session: its source, and what of the outreach settings differs from everywhere.
ALTER TABLE sessions ADD COLUMN source_fixed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN outreach TEXT NOT NULL DEFAULT '{}';
