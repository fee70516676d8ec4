-- Pings, cards and reports, which agents send without being asked, and the budget that pays for them.

-- `charged` names the budget that paid; `ask_id` is the question that a card's actions ask. A ping or card that could be shown
-- to nobody has the status 'unseen' until the human is back. `reported_at` and `let_go_at` belong to the Stop guard: a report
-- mentions the output, or the guard no longer asks for one. `to_session_id` is the recipient of a report, whose delivery
-- is recorded in `deliveries`.
CREATE TABLE outreach (
  outreach_id   TEXT PRIMARY KEY,
  number        BIGINT NOT NULL,
  kind          TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  agent         TEXT NOT NULL,
  source        TEXT NOT NULL,
  project       TEXT NOT NULL,
  project_dir   TEXT NOT NULL,
  turn_id       TEXT,
  message       TEXT,
  title         TEXT,
  description   TEXT,
  color         TEXT,
  fields        TEXT NOT NULL,
  actions       TEXT NOT NULL,
  ask_id        TEXT,
  critical      INTEGER NOT NULL,
  status        TEXT NOT NULL,
  reason        TEXT,
  charged       TEXT,
  created_at    TEXT NOT NULL,
  shown_at      TEXT,
  shown_via     TEXT,
  reported_at   TEXT,
  let_go_at     TEXT,
  to_session_id TEXT
);
CREATE UNIQUE INDEX outreach_by_number ON outreach (number);
CREATE INDEX outreach_by_session ON outreach (session_id, number);
CREATE INDEX outreach_by_prompt ON outreach (ask_id) WHERE ask_id IS NOT NULL;
-- Hooks look for reports at every event that accepts context: these indexes contain only waiting ones.
CREATE INDEX outreach_to_session ON outreach (to_session_id, number) WHERE kind = 'report' AND status = 'sent';
CREATE INDEX outreach_to_project ON outreach (project_dir, number) WHERE kind = 'report' AND status = 'sent';
CREATE INDEX outreach_unshown ON outreach (created_at) WHERE kind <> 'report' AND status = 'sent';
CREATE INDEX outreach_unseen ON outreach (number) WHERE status = 'unseen';
CREATE INDEX outreach_by_time ON outreach (created_at);

-- One budget for all sessions ('*'), and one for each session with limits of its own. `since`: the time since which the next
-- of its `credits` is being regained.
CREATE TABLE budgets (
  name    TEXT PRIMARY KEY,
  credits INTEGER NOT NULL,
  since   TEXT NOT NULL
);
