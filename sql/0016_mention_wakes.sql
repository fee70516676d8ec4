-- The mention gate counts the prompts of the human that it refuses, as it counts the calls that it holds.
ALTER TABLE gates ADD COLUMN prompts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gates ADD COLUMN prompts_gave_up INTEGER NOT NULL DEFAULT 0;
