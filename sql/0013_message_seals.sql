-- As of prompts: what a message says, and who wrote it, steers agents. The rows that are there are sealed by the code of
-- this migration.
ALTER TABLE messages ADD COLUMN seal INTEGER;
