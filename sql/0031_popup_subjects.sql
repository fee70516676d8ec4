-- A popup is about a prompt, a ping or card, or a mention of the human: `kind` says which, `subject` is its id. Whoever
-- inserts the row holds the lease of that popup at the seat.
ALTER TABLE popups RENAME COLUMN ask_id TO subject;
ALTER TABLE popups RENAME COLUMN claimed_by TO held_by;
ALTER TABLE popups RENAME COLUMN claimed_at TO leased_at;
ALTER TABLE popups ADD COLUMN kind TEXT NOT NULL DEFAULT 'prompt';
UPDATE popups SET kind = 'outreach' WHERE subject IN (SELECT outreach_id FROM outreach);
UPDATE popups SET kind = 'mention' WHERE subject IN (SELECT mention_id FROM mentions);
UPDATE popups SET outcome = 'leased' WHERE outcome = 'claimed';
-- Storms are counted per seat and kind.
DROP INDEX popups_recent;
DROP INDEX popups_storms;
CREATE INDEX popups_recent ON popups (seat, kind, leased_at);
CREATE INDEX popups_storms ON popups (seat, kind, leased_at) WHERE storm IS NOT NULL;
