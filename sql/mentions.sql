-- Mentions, and the records of the mention gate and of the loop guard.

-- One row for each addressee of a message; `session_id` is 'human' for @Human. `by_name`: the message names the session
-- itself, not a role or everybody, so it may wake it. `gates`: the gate holds the addressee's tools until it has dealt
-- with this mention; `denials` counts the tool calls that were denied for it.
CREATE TABLE mentions (
  mention_id      TEXT PRIMARY KEY,
  message_id      TEXT NOT NULL,
  seq             BIGINT NOT NULL,
  session_id      TEXT NOT NULL,
  handle          TEXT NOT NULL,
  from_session_id TEXT,
  priority        TEXT NOT NULL,
  by_name         INTEGER NOT NULL,
  gates           INTEGER NOT NULL,
  denials         INTEGER NOT NULL,
  status          TEXT NOT NULL,
  created_at      TEXT NOT NULL,
  expires_at      TEXT,
  processed_at    TEXT,
  processed_by    TEXT,
  processed_via   TEXT,
  note            TEXT
);
CREATE UNIQUE INDEX mentions_by_message ON mentions (message_id, session_id);
-- Read by the gate before each tool call.
CREATE INDEX mentions_unprocessed ON mentions (session_id, priority DESC, seq) WHERE status = 'unprocessed';
CREATE INDEX mentions_expiring ON mentions (expires_at) WHERE status = 'unprocessed' AND expires_at IS NOT NULL;
CREATE INDEX mentions_by_session ON mentions (session_id, seq, mention_id);
CREATE INDEX mentions_by_pair ON mentions (from_session_id, session_id, created_at);

-- How often the gate has held a session (`steps`, `denials`) or refused a prompt of the human (`prompts`), and whether it
-- gave up. `held_since`: the time since which the session is held; `held_notified`: the seats whose human was notified of that.
CREATE TABLE gates (
  session_id      TEXT PRIMARY KEY,
  steps           INTEGER NOT NULL,
  step_until      TEXT,
  denials         INTEGER NOT NULL,
  gave_up         INTEGER NOT NULL,
  held            INTEGER NOT NULL,
  held_since      TEXT,
  held_notified   TEXT NOT NULL,
  prompts         INTEGER NOT NULL,
  prompts_gave_up INTEGER NOT NULL
);
CREATE INDEX gates_held ON gates (held_since) WHERE held_since IS NOT NULL;

-- When a human last wrote in a project, to a session (its id), or to everyone ('*'): the number of the last message at that
-- time. It is not a time, so that two messages of the same millisecond have an order, too.
CREATE TABLE human_signs (
  subject TEXT PRIMARY KEY,
  seq     BIGINT NOT NULL
);

-- Pairs of agents whose mentions no longer hold each other's tools, because the loop guard stopped them or the human
-- muted them.
CREATE TABLE loops (
  first_session_id  TEXT NOT NULL,
  second_session_id TEXT NOT NULL,
  state             TEXT NOT NULL,
  at                TEXT NOT NULL,
  seq               BIGINT NOT NULL,
  reason            TEXT NOT NULL,
  PRIMARY KEY (first_session_id, second_session_id)
);
