-- Several humans: whom a prompt is for, which of them has taken it up, who they are, and their teams.
ALTER TABLE prompts ADD COLUMN "to" TEXT;
-- The names, folded, whose desks it concerns until it is escalated.
ALTER TABLE prompts ADD COLUMN recipients TEXT NOT NULL DEFAULT '[]';
ALTER TABLE prompts ADD COLUMN escalates_at TEXT;
ALTER TABLE prompts ADD COLUMN escalated_at TEXT;
-- `status` leads for the reason that prompts_pending gives.
CREATE INDEX prompts_escalating ON prompts (status, escalates_at)
  WHERE status = 'pending' AND escalates_at IS NOT NULL AND escalated_at IS NULL;

-- Which desk holds a prompt that a human has taken up; a row goes with the claim, or with the answer.
CREATE TABLE claims (
  ask_id  TEXT PRIMARY KEY,
  desk_id TEXT NOT NULL
);
CREATE INDEX claims_by_desk ON claims (desk_id);

ALTER TABLE desks ADD COLUMN human TEXT NOT NULL DEFAULT '';

-- Everybody who has sat at a desk, by each folded name that reaches them.
CREATE TABLE humans (
  folded  TEXT PRIMARY KEY,
  name    TEXT NOT NULL,
  seen_at TEXT NOT NULL
);

CREATE TABLE teams (
  folded            TEXT PRIMARY KEY,
  name              TEXT NOT NULL,
  members           TEXT NOT NULL,
  escalate_after_ms BIGINT,
  updated_at        TEXT NOT NULL
);
