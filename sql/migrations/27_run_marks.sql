-- What only a process of the run's human can write over a row of a run (src/infrastructure/platform/runs.ts).
ALTER TABLE runs ADD COLUMN mark TEXT;
