-- Questions to the human, the answers that were given, and who has claimed a question.

-- The columns are the fields of `Prompt` (src/domain/prompts.ts), where each is described; the delivery of its settlement
-- is recorded in `deliveries`. Only the store uses:
--   order_key     the position among pending prompts (src/domain/prompts.ts)
--   search_text   the text for searches, in lower case
--   checksum      over all other columns except a few (src/infrastructure/store/prompts.ts), because SQLite
--                 keeps no checksums and a flipped bit must not become a decision
-- `options`, `notes`, `recipients`, `selected`, `late_response` and `left_by` are JSON.
CREATE TABLE prompts (
  ask_id            TEXT PRIMARY KEY,
  session_id        TEXT NOT NULL,
  agent             TEXT NOT NULL,
  source            TEXT NOT NULL,
  project           TEXT NOT NULL,
  project_dir       TEXT NOT NULL,
  turn_id           TEXT,
  kind              TEXT NOT NULL,
  header            TEXT,
  question          TEXT NOT NULL,
  context           TEXT,
  options           TEXT NOT NULL,
  notes             TEXT NOT NULL,
  multi_select      INTEGER NOT NULL,
  allow_free_text   INTEGER NOT NULL,
  urgency           TEXT NOT NULL,
  label             TEXT,
  group_id          TEXT,
  when_turn_aborted TEXT NOT NULL,
  dialog            INTEGER NOT NULL,
  idempotency_key   TEXT,
  fingerprint       TEXT NOT NULL,
  created_at        TEXT NOT NULL,
  expires_at        TEXT,
  "to"              TEXT,
  recipients        TEXT NOT NULL,
  escalates_at      TEXT,
  escalated_at      TEXT,
  status            TEXT NOT NULL,
  settled_at        TEXT,
  decision          TEXT,
  selected          TEXT NOT NULL,
  comment           TEXT,
  "by"              TEXT,
  via               TEXT,
  attested          INTEGER NOT NULL DEFAULT 0,
  response_id       TEXT,
  cancel_reason     TEXT,
  late_response     TEXT,
  amended           INTEGER NOT NULL,
  orphaned          INTEGER NOT NULL,
  snoozed_until     TEXT,
  claimed_by        TEXT,
  claimed_at        TEXT,
  offered_at        TEXT,
  seen_at           TEXT,
  responded_at      TEXT,
  search_text       TEXT NOT NULL,
  checksum          INTEGER,
  blocked_since     TEXT,
  order_key         TEXT NOT NULL DEFAULT '',
  terminal_since    TEXT,
  warns_at          TEXT,
  left_by           TEXT NOT NULL DEFAULT '[]'
);
-- Not UNIQUE: a subagent's prompts move to its parent, which may have used the same key.
CREATE INDEX prompts_by_key ON prompts (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- Finding what is pending, and what expires next, must cost the same however long the history is. `status` comes first
-- although it is always the same: without it SQLite prefers another index that begins with `status`, and sorts.
CREATE INDEX prompts_pending ON prompts (status, order_key) WHERE status = 'pending';
CREATE INDEX prompts_expiring ON prompts (status, expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX prompts_escalating ON prompts (status, escalates_at)
  WHERE status = 'pending' AND escalates_at IS NOT NULL AND escalated_at IS NULL;
CREATE INDEX prompts_warning ON prompts (status, warns_at) WHERE status = 'pending' AND warns_at IS NOT NULL;
-- Read at the end of a turn.
CREATE INDEX prompts_of_turn ON prompts (turn_id) WHERE status = 'pending' AND turn_id IS NOT NULL;
CREATE INDEX prompts_pending_of_session ON prompts (session_id, status) WHERE status = 'pending';
-- Pending prompts are found by prompts_pending, so only settled ones are indexed here.
CREATE INDEX prompts_settled ON prompts (status, settled_at, ask_id) WHERE settled_at IS NOT NULL;
-- History is read newest first, with any filter.
CREATE INDEX prompts_by_time ON prompts (created_at, ask_id);

-- Every answer that anybody gave, with its outcome: a response_id that is sent twice finds its first outcome here.
CREATE TABLE responses (
  response_id  TEXT PRIMARY KEY,
  ask_id       TEXT NOT NULL,
  decision     TEXT NOT NULL,
  selected     TEXT NOT NULL,
  comment      TEXT,
  "by"         TEXT NOT NULL,
  via          TEXT NOT NULL,
  attested     INTEGER NOT NULL DEFAULT 0,
  responded_at TEXT NOT NULL,
  outcome      TEXT NOT NULL,
  signature    TEXT
);
CREATE INDEX responses_by_prompt ON responses (ask_id);

-- The desk at which a human has claimed a question. The row is removed when the human releases the claim, or answers.
CREATE TABLE claims (
  ask_id  TEXT PRIMARY KEY,
  desk_id TEXT NOT NULL
);
CREATE INDEX claims_by_desk ON claims (desk_id);
