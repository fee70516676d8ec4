-- Agents that do nothing until a question is settled: one row for each process that waits on behalf of an agent, which renews
-- `lease_until`, and one row with an endless lease for a dialog of the client (`dialog`) and for a sleeping run (its id).
-- People see it as `blocked_since` of the prompt.
CREATE TABLE waits (
  ask_id      TEXT NOT NULL,
  wait_id     TEXT NOT NULL,
  lease_until TEXT NOT NULL,
  PRIMARY KEY (ask_id, wait_id)
);
