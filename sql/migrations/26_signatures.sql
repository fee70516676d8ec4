-- The signature of a seat under an answer that may allow something (src/domain/seats.ts).
ALTER TABLE responses ADD COLUMN signature TEXT;
