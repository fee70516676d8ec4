-- A checksum of what a prompt asks and how it was settled: SQLite keeps none, and a flipped bit must not become a
-- decision. The rows that are there are sealed by the code of this migration.
ALTER TABLE prompts ADD COLUMN seal INTEGER;
