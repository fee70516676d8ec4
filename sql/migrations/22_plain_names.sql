-- Columns and an event whose names did not say what they hold.
ALTER TABLE gates RENAME COLUMN held_told TO held_notified;
ALTER TABLE wakers RENAME COLUMN told TO woken_for;
ALTER TABLE budgets RENAME COLUMN tokens TO credits;
UPDATE events SET type = 'turn/abort_handed' WHERE type = 'turn/told';
