-- Tokens for access to this hive over HTTP. Only a digest of a token is kept; the token itself is shown once.
-- `projects`: the projects of this machine that the token takes part in, as JSON.
CREATE TABLE tokens (
  name       TEXT PRIMARY KEY,
  digest     TEXT NOT NULL,
  agent      TEXT NOT NULL,
  role       TEXT NOT NULL,
  projects   TEXT NOT NULL DEFAULT '[]',
  created_at TEXT NOT NULL,
  revoked_at TEXT
);
CREATE UNIQUE INDEX tokens_by_digest ON tokens (digest);
