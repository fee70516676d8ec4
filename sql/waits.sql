-- Who does nothing until a question is settled: one row for each process that waits in an agent's place, which renews
-- `lease_until`, and one whose lease never ends for a dialog of the client (`dialog`) and for a sleeping run (its id). What a
-- person sees of it is `blocked_since` of the prompt.
CREATE TABLE waits (
  ask_id      TEXT NOT NULL,
  wait_id     TEXT NOT NULL,
  lease_until TEXT NOT NULL,
  PRIMARY KEY (ask_id, wait_id)
);
