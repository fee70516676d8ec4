-- Prompts that stand for a dialog of an agent's own client, and the process that may wake an idle session.
ALTER TABLE prompts ADD COLUMN dialog INTEGER NOT NULL DEFAULT 0;

-- One waiter a session: who is not named here any more goes without a word. Nobody is told of an answer twice.
CREATE TABLE wakers (
  session_id TEXT PRIMARY KEY,
  waker_id   TEXT,
  until      TEXT,
  told       TEXT NOT NULL
);
