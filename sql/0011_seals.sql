-- A checksum of what a prompt asks and how it was settled: SQLite keeps none, and a flipped bit must not become a
-- decision. Null in a row that an older Hive wrote last.
ALTER TABLE prompts ADD COLUMN seal INTEGER;
