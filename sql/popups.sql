-- One row for each seat and each subject of a popup: `kind` is the kind of the subject (prompt, outreach, mention) and
-- `subject` its id. The process that inserts the row holds the lease of that popup. Many popups of a kind at once are shown
-- as one: on every lease of such a storm, `storm` is the time of the oldest lease that the one popup represents, and
-- the newest lease shows which process displays it.
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
