-- Phones and browsers that show the inbox. Their permissions are not here, but among the seats in the human's trust.json.
-- `push`: the subscription to Web Push, as JSON. `seat`: the seat whose preferences apply if the device has none of its own.
CREATE TABLE devices (
  device_id    TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  human        TEXT NOT NULL,
  key          TEXT NOT NULL,
  paired_at    TEXT NOT NULL,
  confirmed_at TEXT,
  revoked_at   TEXT,
  seen_at      TEXT,
  push         TEXT,
  push_failed  TEXT,
  seat         TEXT
);
CREATE UNIQUE INDEX devices_by_key ON devices (key);
-- Invitations. Only a digest of a code is kept; the code itself is shown once.
CREATE TABLE pairings (
  code_digest TEXT PRIMARY KEY,
  human       TEXT NOT NULL,
  expires_at  TEXT NOT NULL,
  device_id   TEXT,
  seat        TEXT
);
