-- The checksum of a row has its plain name, and one column says what an aborted turn does to a question. Columns that
-- nobody read are gone.
ALTER TABLE prompts RENAME COLUMN seal TO checksum;
ALTER TABLE messages RENAME COLUMN seal TO checksum;

ALTER TABLE prompts ADD COLUMN when_turn_aborted TEXT NOT NULL DEFAULT 'cancelled_if_interrupted';
UPDATE prompts SET when_turn_aborted = CASE WHEN survives_turn = 1 THEN 'stays' ELSE 'cancelled' END
  WHERE survives_turn = 1 OR bind = 'turn';
ALTER TABLE prompts DROP COLUMN survives_turn;
ALTER TABLE prompts DROP COLUMN bind;

ALTER TABLE preferences DROP COLUMN updated_at;
ALTER TABLE teams DROP COLUMN updated_at;
ALTER TABLE stop_guards DROP COLUMN blocks_total;
