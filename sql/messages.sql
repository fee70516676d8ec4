-- The messages of the shared buffer. No message is ever changed.

-- The columns are the fields of `Message` (src/domain/messages.ts). `author` is a human or an agent, `by` the
-- name of the human.
-- `as_stamp` is the time in the heading above a block of text in a buffer, `as_handle` the name there if it was
-- not the author's own. `hops` counts the replies of agents since a human last wrote in this chain. Only the store uses:
--   body_digest  finds a message that is posted again
--   search_text  the text for searches, in lower case
--   checksum     as for a prompt: content and author of a message steer agents
CREATE TABLE messages (
  message_id    TEXT PRIMARY KEY,
  seq           BIGINT NOT NULL,
  at            TEXT NOT NULL,
  session_id    TEXT,
  from_handle   TEXT NOT NULL,
  author        TEXT NOT NULL,
  "by"          TEXT,
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
  search_text   TEXT NOT NULL,
  checksum      INTEGER
);
-- The last page of any view must cost the same however long the history is, so each view has its own index by seq.
CREATE UNIQUE INDEX messages_by_seq ON messages (seq);
CREATE INDEX messages_by_project ON messages (project_dir, seq);
CREATE INDEX messages_for_all ON messages (seq) WHERE scope = 'all';
CREATE INDEX messages_by_thread ON messages (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX messages_by_author ON messages (from_handle, seq);
CREATE INDEX messages_by_body ON messages (body_digest, seq);
-- History is read newest first, with any filter.
CREATE INDEX messages_by_moment ON messages (at, message_id);
