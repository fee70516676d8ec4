-- The humans, their teams, the open desks and the preferences of each seat.

-- Everybody who has sat at a desk, under each name that reaches them, folded (lower case, without accents).
CREATE TABLE humans (
  folded  TEXT PRIMARY KEY,
  name    TEXT NOT NULL,
  seen_at TEXT NOT NULL
);

-- `members` is JSON. If nobody answers a question to a team, it is put to everybody after `escalate_after_ms`.
CREATE TABLE teams (
  folded            TEXT PRIMARY KEY,
  name              TEXT NOT NULL,
  members           TEXT NOT NULL,
  escalate_after_ms BIGINT
);

-- An open desk (an Emacs, a terminal) renews its lease; a desk whose lease has expired is gone.
CREATE TABLE desks (
  desk_id     TEXT PRIMARY KEY,
  seat        TEXT NOT NULL,
  pid         BIGINT NOT NULL,
  client      TEXT NOT NULL,
  human       TEXT NOT NULL,
  focused     INTEGER NOT NULL,
  opened_at   TEXT NOT NULL,
  lease_until TEXT NOT NULL
);

-- The preferences of a seat, as JSON.
CREATE TABLE preferences (
  seat  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
