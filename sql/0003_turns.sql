-- Turns, and the interrupts that were asked for them.

CREATE TABLE turns (
  turn_id            TEXT PRIMARY KEY,
  number             BIGINT NOT NULL,
  session_id         TEXT NOT NULL,
  client_turn_id     TEXT,
  continues          TEXT,
  chain_id           TEXT NOT NULL,
  state              TEXT NOT NULL,
  abort_reason       TEXT,
  "by"               TEXT,
  via                TEXT,
  note               TEXT,
  started_at         TEXT NOT NULL,
  ended_at           TEXT,
  cancelled_prompts  TEXT NOT NULL,
  transcript_path    TEXT,
  client_pid         BIGINT,
  client_started_at  TEXT,
  steps              BIGINT NOT NULL,
  batches            BIGINT NOT NULL,
  last_tool          TEXT,
  last_tool_at       TEXT,
  open_tools         TEXT NOT NULL,
  stopped_at         TEXT,
  stops              BIGINT NOT NULL,
  batch_at           TEXT,
  batch_closed_at    TEXT,
  told_handed_at     TEXT,
  told_collected_at  TEXT
);
-- A session has one turn at a time: who would begin a second has to end the first, in the same transaction.
CREATE UNIQUE INDEX turns_running ON turns (session_id) WHERE state = 'in_progress';
CREATE INDEX turns_of_session ON turns (session_id, number);
CREATE INDEX turns_by_client ON turns (session_id, client_turn_id, number) WHERE client_turn_id IS NOT NULL;
CREATE INDEX turns_untold ON turns (session_id, number) WHERE state = 'aborted' AND told_collected_at IS NULL;
CREATE INDEX turns_ended ON turns (ended_at) WHERE state <> 'in_progress';

-- One row a request, whoever waits for it: the turn's end answers all of them in its own transaction.
CREATE TABLE interrupts (
  interrupt_id  TEXT PRIMARY KEY,
  session_id    TEXT NOT NULL,
  turn_id       TEXT NOT NULL,
  "by"          TEXT NOT NULL,
  via           TEXT NOT NULL,
  note          TEXT,
  timeout_ms    BIGINT NOT NULL,
  asked_at      TEXT NOT NULL,
  state         TEXT NOT NULL,
  outcome       TEXT,
  settled_at    TEXT,
  withdrawn_by  TEXT,
  unconfirmed_at TEXT,
  pushed_at  TEXT
);
CREATE INDEX interrupts_of_turn ON interrupts (turn_id, asked_at);
CREATE INDEX interrupts_pending ON interrupts (turn_id, asked_at) WHERE state = 'pending';

-- What a turn's end has to look at.
CREATE INDEX prompts_of_turn ON prompts (turn_id) WHERE status = 'pending' AND turn_id IS NOT NULL;
