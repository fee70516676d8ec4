-- The mention gate counts the prompts of the human that it refuses, as it counts the calls that it holds.
ALTER TABLE gates ADD COLUMN prompts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gates ADD COLUMN prompts_gave_up INTEGER NOT NULL DEFAULT 0;

-- A mention wakes an idle session where it names it; so many times until a human writes, counted in its waker.
ALTER TABLE mentions ADD COLUMN by_name INTEGER NOT NULL DEFAULT 0;
ALTER TABLE wakers ADD COLUMN wakes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE wakers ADD COLUMN human_seq BIGINT NOT NULL DEFAULT 0;

-- Since when a session is held, and which seats have notified their human of that.
ALTER TABLE gates ADD COLUMN held_since TEXT;
ALTER TABLE gates ADD COLUMN held_told TEXT NOT NULL DEFAULT '[]';
CREATE INDEX gates_held ON gates (held_since) WHERE held_since IS NOT NULL;
