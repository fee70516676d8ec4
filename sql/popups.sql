-- One row for each seat and each subject of a popup: `kind` says what the subject is (prompt, outreach, mention) and
-- `subject` is its id. The process that inserts the row holds the lease of that popup. Many popups of a kind at once are shown
-- as one: `storm` is then the time of the oldest lease that the one popup represents, on every lease of the storm, and
-- the newest of these says which process shows it.
CREATE TABLE popups (
  subject   TEXT NOT NULL,
  kind      TEXT NOT NULL,
  seat      TEXT NOT NULL,
  held_by   TEXT NOT NULL,
  leased_at TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  reason    TEXT,
  storm     TEXT,
  PRIMARY KEY (subject, seat)
);
CREATE INDEX popups_recent ON popups (seat, kind, leased_at);
CREATE INDEX popups_storms ON popups (seat, kind, leased_at) WHERE storm IS NOT NULL;
