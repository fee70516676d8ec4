-- The log of everything that happened. Readers follow it by number, so a number is never used twice.

-- `subject` is the id that the event is about. In SQLite only an INTEGER PRIMARY KEY is the row's own number; any other
-- type costs a second index.
CREATE TABLE events (
  seq        INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  type       TEXT NOT NULL,
  session_id TEXT,
  subject    TEXT,
  data       TEXT NOT NULL
);
CREATE INDEX events_by_subject ON events (subject, seq);
-- A desk that opens later reads earlier notices again.
CREATE INDEX events_notices ON events (seq) WHERE type = 'desk/notice';
