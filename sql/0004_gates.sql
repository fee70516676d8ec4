-- The mention gate's memory of a session: how often it has held it, and whether it gave up.
CREATE TABLE gates (
  session_id  TEXT PRIMARY KEY,
  steps       INTEGER NOT NULL,
  step_until  TEXT,
  denials     INTEGER NOT NULL,
  gave_up     INTEGER NOT NULL,
  held        INTEGER NOT NULL
);
