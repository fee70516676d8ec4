-- The shared buffer: messages, the mentions in them, and what the loop guard remembers.

INSERT INTO counters (name, value) VALUES ('message', 0);

CREATE TABLE messages (
  message_id    TEXT PRIMARY KEY,
  seq           BIGINT NOT NULL,
  at            TEXT NOT NULL,
  session_id    TEXT,
  from_handle   TEXT NOT NULL,
  author        TEXT NOT NULL,
  as_handle     TEXT,
  as_stamp      TEXT,
  project       TEXT,
  project_dir   TEXT,
  thread        TEXT,
  reply_to      TEXT,
  priority      TEXT NOT NULL,
  expects_reply INTEGER NOT NULL,
  scope         TEXT NOT NULL,
  body          TEXT NOT NULL,
  hops          INTEGER NOT NULL,
  via           TEXT NOT NULL,
  body_digest   TEXT NOT NULL,
  search_text   TEXT NOT NULL
);
-- The last page of any view must cost the same whatever the history behind it: each view has its index by seq.
CREATE UNIQUE INDEX messages_by_seq ON messages (seq);
CREATE INDEX messages_by_project ON messages (project_dir, seq);
CREATE INDEX messages_for_all ON messages (seq) WHERE scope = 'all';
CREATE INDEX messages_by_thread ON messages (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX messages_by_author ON messages (from_handle, seq);
CREATE INDEX messages_by_body ON messages (body_digest, seq);
CREATE INDEX messages_by_time ON messages (at);

-- One row an addressee of a message; `session_id` is 'human' for @Human.
CREATE TABLE mentions (
  mention_id      TEXT PRIMARY KEY,
  message_id      TEXT NOT NULL,
  seq             BIGINT NOT NULL,
  session_id      TEXT NOT NULL,
  handle          TEXT NOT NULL,
  from_session_id TEXT,
  priority        TEXT NOT NULL,
  gates           INTEGER NOT NULL,
  denials         INTEGER NOT NULL,
  status          TEXT NOT NULL,
  created_at      TEXT NOT NULL,
  expires_at      TEXT,
  delivered_at    TEXT,
  carrier         TEXT,
  processed_at    TEXT,
  processed_by    TEXT,
  processed_via   TEXT,
  note            TEXT
);
CREATE UNIQUE INDEX mentions_by_message ON mentions (message_id, session_id);
-- What the gate reads before each tool call.
CREATE INDEX mentions_unprocessed ON mentions (session_id, priority DESC, seq) WHERE status = 'unprocessed';
CREATE INDEX mentions_expiring ON mentions (expires_at) WHERE status = 'unprocessed' AND expires_at IS NOT NULL;
CREATE INDEX mentions_by_session ON mentions (session_id, seq, mention_id);
CREATE INDEX mentions_by_pair ON mentions (from_session_id, session_id, created_at);

-- When a human last had a say, in a project, to a session (its id), or to everyone ('*'): which message was the
-- last one then. Not a time: two messages of one millisecond have an order, too.
CREATE TABLE human_signs (
  subject TEXT PRIMARY KEY,
  seq     BIGINT NOT NULL
);

-- Pairs of agents whose mentions the loop guard has stopped from gating, or that the human has muted.
CREATE TABLE loops (
  first_session_id  TEXT NOT NULL,
  second_session_id TEXT NOT NULL,
  state             TEXT NOT NULL,
  at                TEXT NOT NULL,
  seq               BIGINT NOT NULL,
  reason            TEXT NOT NULL,
  PRIMARY KEY (first_session_id, second_session_id)
);
