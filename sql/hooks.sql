-- A hook that has handed something over and is about to print it. A row that remains belongs to a hook that was
-- killed before it printed, and its deliveries are handed over again.
CREATE TABLE hook_outputs (
  output_id  TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  at         TEXT NOT NULL
);
CREATE INDEX hook_outputs_of_session ON hook_outputs (session_id);
