-- Less to write with each event. Its number follows from those that are there and from the highest that was pruned, so it
-- needs no counter. In SQLite only an INTEGER PRIMARY KEY is the row's own number; another type has an index beside the
-- table. And events stand in the order of their time, so the old ones are found from the front.
DELETE FROM counters WHERE name = 'event';
CREATE TABLE events_in_order (
  seq        INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  type       TEXT NOT NULL,
  session_id TEXT,
  subject    TEXT,
  data       TEXT NOT NULL
);
INSERT INTO events_in_order (seq, at, type, session_id, subject, data)
  SELECT seq, at, type, session_id, subject, data FROM events;
DROP TABLE events;
ALTER TABLE events_in_order RENAME TO events;
CREATE INDEX events_by_subject ON events (subject, seq);
CREATE INDEX events_notices ON events (seq) WHERE type = 'desk/notice';
