-- Data of the store as a whole: its identity, and numbers that only grow.
--
-- All files here share one subset of SQL that SQLite and PostgreSQL understand: TEXT, INTEGER and BIGINT, and no functions
-- of one engine. Times are ISO-8601 text in UTC with milliseconds, booleans are 0 or 1, JSON is text.

-- `store_id` names the store, so that one store is not mistaken for another.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- A number taken from here is never used again, even when its row is pruned. `pruned_event` is the highest event
-- number that was removed: the next event continues from there.
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('pruned_event', 0);
INSERT INTO counters (name, value) VALUES ('message', 0);
INSERT INTO counters (name, value) VALUES ('outreach', 0);
