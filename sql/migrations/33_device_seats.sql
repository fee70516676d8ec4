-- The seat whose preferences a phone has, where it has none of its own.
ALTER TABLE devices ADD COLUMN seat TEXT;
ALTER TABLE pairings ADD COLUMN seat TEXT;
