-- A storm is one popup a seat, whichever of its processes claim the prompts. `storm` is the time of the oldest claim that
-- the one popup stands for, on every claim made in a storm; the newest of these says who holds it.
ALTER TABLE popups ADD COLUMN storm TEXT;
CREATE INDEX popups_recent ON popups (seat, claimed_at);
CREATE INDEX popups_storms ON popups (seat, claimed_at) WHERE storm IS NOT NULL;
