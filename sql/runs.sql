-- Headless agents that end while their human thinks (hive run). The command is not here but in a file of the human's own;
-- `digest` is the digest of that file. `calls` is JSON: the calls that need the human. `keeper` and `agent` are JSON: processes.
-- `mark` covers all the other columns: a row that somebody else has changed starts nothing.
CREATE TABLE runs (
  run_id      TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL,
  status      TEXT NOT NULL,
  seat        TEXT NOT NULL,
  machine     TEXT NOT NULL,
  digest      TEXT NOT NULL,
  patience_ms INTEGER NOT NULL,
  start       INTEGER NOT NULL,
  heard       INTEGER NOT NULL,
  crashes     INTEGER NOT NULL,
  keeper      TEXT,
  agent       TEXT,
  calls       TEXT NOT NULL,
  exit_code   INTEGER,
  problem     TEXT,
  created_at  TEXT NOT NULL,
  changed_at  TEXT NOT NULL,
  mark        TEXT
);
CREATE INDEX runs_open ON runs (seat, status);
