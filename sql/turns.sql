-- The turns of agents.

-- The columns are the fields of `Turn` (src/domain/turns.ts). `continues` is the previous turn of the same chain, which
-- begins with `chain_id`. `cancelled_prompts` (JSON) are the questions that its end cancelled, `open_tools` (JSON) the tools
-- that are running. Whether the session was notified that a turn was aborted is stored in `deliveries`.
CREATE TABLE turns (
  turn_id           TEXT PRIMARY KEY,
  number            BIGINT NOT NULL,
  session_id        TEXT NOT NULL,
  client_turn_id    TEXT,
  continues         TEXT,
  chain_id          TEXT NOT NULL,
  state             TEXT NOT NULL,
  abort_reason      TEXT,
  "by"              TEXT,
  via               TEXT,
  note              TEXT,
  started_at        TEXT NOT NULL,
  ended_at          TEXT,
  cancelled_prompts TEXT NOT NULL,
  transcript_path   TEXT,
  steps             BIGINT NOT NULL,
  batches           BIGINT NOT NULL,
  last_tool         TEXT,
  last_tool_at      TEXT,
  open_tools        TEXT NOT NULL,
  stopped_at        TEXT,
  stops             BIGINT NOT NULL,
  batch_at          TEXT,
  batch_closed_at   TEXT
);
-- A session has one turn at a time: the transaction that begins a second one has to end the first.
CREATE UNIQUE INDEX turns_running ON turns (session_id) WHERE state = 'in_progress';
CREATE INDEX turns_of_session ON turns (session_id, number);
CREATE INDEX turns_by_client ON turns (session_id, client_turn_id, number) WHERE client_turn_id IS NOT NULL;
CREATE INDEX turns_ended ON turns (ended_at) WHERE state <> 'in_progress';
