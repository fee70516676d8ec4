-- A popup is about a prompt, a ping or card, or a mention of the human: `kind` says which, `subject` is its id. Whoever
-- inserts the row holds the lease of that popup at the seat. The table is made anew, since its key has another name.
CREATE TABLE popups_anew (
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
INSERT INTO popups_anew (subject, kind, seat, held_by, leased_at, outcome, reason, storm)
SELECT ask_id,
  CASE WHEN ask_id IN (SELECT outreach_id FROM outreach) THEN 'outreach'
    WHEN ask_id IN (SELECT mention_id FROM mentions) THEN 'mention'
    ELSE 'prompt' END,
  seat, claimed_by, claimed_at,
  CASE outcome WHEN 'claimed' THEN 'leased' ELSE outcome END,
  reason, storm
FROM popups;
DROP TABLE popups;
ALTER TABLE popups_anew RENAME TO popups;
-- Storms are counted per seat and kind.
CREATE INDEX popups_recent ON popups (seat, kind, leased_at);
CREATE INDEX popups_storms ON popups (seat, kind, leased_at) WHERE storm IS NOT NULL;
