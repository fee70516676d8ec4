-- One row for each seat and each thing a popup was shown for, which need not be a prompt: whoever inserts the row has
-- claimed the popup. Many popups at once are shown as one: `storm` is then the time of the oldest claim that the one popup
-- stands for, on every claim made in the storm, and the newest of these says who holds it.
CREATE TABLE popups (
  ask_id     TEXT NOT NULL,
  seat       TEXT NOT NULL,
  claimed_by TEXT NOT NULL,
  claimed_at TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  reason     TEXT,
  storm      TEXT,
  PRIMARY KEY (ask_id, seat)
);
CREATE INDEX popups_recent ON popups (seat, claimed_at);
CREATE INDEX popups_storms ON popups (seat, claimed_at) WHERE storm IS NOT NULL;
