-- The record of the Stop guard about a session: how often it has kept the agent from stopping in the present chain of turns
-- (`blocks`), when it gave up, when it last asked for a report, and when the agent sent one.
CREATE TABLE stop_guards (
  session_id  TEXT PRIMARY KEY,
  chain       TEXT,
  blocks      INTEGER NOT NULL,
  let_go_at   TEXT,
  reported_at TEXT,
  reminded_at TEXT
);
