-- Requests to interrupt a turn: one row for each request, even if several wait for the same turn. The end of the turn settles all
-- of them in its own transaction. `unconfirmed_at`: the time when the requester stopped waiting while the turn still ran.
-- `pushed_at`: when the client itself was stopped, through its socket or by a signal, or a subagent of the turn by a hook.
CREATE TABLE interrupts (
  interrupt_id   TEXT PRIMARY KEY,
  session_id     TEXT NOT NULL,
  turn_id        TEXT NOT NULL,
  "by"           TEXT NOT NULL,
  via            TEXT NOT NULL,
  note           TEXT,
  asked_at       TEXT NOT NULL,
  state          TEXT NOT NULL,
  outcome        TEXT,
  settled_at     TEXT,
  withdrawn_by   TEXT,
  unconfirmed_at TEXT,
  pushed_at      TEXT
);
CREATE INDEX interrupts_of_turn ON interrupts (turn_id, asked_at);
CREATE INDEX interrupts_pending ON interrupts (turn_id, asked_at) WHERE state = 'pending';
