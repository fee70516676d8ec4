-- What is owed to an agent, or was carried into it: the settlement of a prompt, a mention, a report, the word that a turn
-- was aborted. A row comes when something is owed or first handed; its receipts say how far it has come.
CREATE TABLE deliveries (
  subject      TEXT PRIMARY KEY,
  kind         TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  handed_at    TEXT,
  collected_at TEXT,
  carrier      TEXT,
  repeated     INTEGER NOT NULL
);

INSERT INTO deliveries (subject, kind, recipient, handed_at, collected_at, carrier, repeated)
  SELECT ask_id, 'prompt', session_id, handed_at, collected_at, carrier, 0 FROM prompts
  WHERE status <> 'pending'
    AND (dialog = 0 OR status = 'responded' OR (late_response IS NOT NULL AND kind = 'question'));
INSERT INTO deliveries (subject, kind, recipient, handed_at, collected_at, carrier, repeated)
  SELECT mention_id, 'mention', session_id, delivered_at, delivered_at, carrier, 0 FROM mentions
  WHERE delivered_at IS NOT NULL;
INSERT INTO deliveries (subject, kind, recipient, handed_at, collected_at, carrier, repeated)
  SELECT outreach_id, 'report', COALESCE(to_session_id, SUBSTR(carrier, 6), ''), handed_at, delivered_at, carrier, 0
  FROM outreach WHERE kind = 'report' AND handed_at IS NOT NULL;
INSERT INTO deliveries (subject, kind, recipient, handed_at, collected_at, carrier, repeated)
  SELECT turn_id, 'interrupt', session_id, told_handed_at, told_collected_at,
    CASE WHEN told_handed_at IS NULL THEN NULL ELSE 'hook:' || session_id END, 0
  FROM turns WHERE state = 'aborted';

-- What a session has yet to read, and what a carrier may prove read: these hold only what is under way.
CREATE INDEX deliveries_open ON deliveries (recipient, kind) WHERE collected_at IS NULL;
CREATE INDEX deliveries_carried ON deliveries (carrier) WHERE carrier IS NOT NULL AND collected_at IS NULL;

DROP INDEX IF EXISTS prompts_uncollected;
DROP INDEX IF EXISTS prompts_by_carrier;
ALTER TABLE prompts DROP COLUMN handed_at;
ALTER TABLE prompts DROP COLUMN collected_at;
ALTER TABLE prompts DROP COLUMN carrier;
-- `status` stands in it for the reason that prompts_pending gives.
CREATE INDEX prompts_pending_of_session ON prompts (session_id, status) WHERE status = 'pending';

ALTER TABLE mentions DROP COLUMN delivered_at;
ALTER TABLE mentions DROP COLUMN carrier;

DROP INDEX IF EXISTS outreach_by_carrier;
ALTER TABLE outreach DROP COLUMN handed_at;
ALTER TABLE outreach DROP COLUMN delivered_at;
ALTER TABLE outreach DROP COLUMN carrier;

DROP INDEX IF EXISTS turns_untold;
ALTER TABLE turns DROP COLUMN told_handed_at;
ALTER TABLE turns DROP COLUMN told_collected_at;

-- A hook that is about to print what it has handed over: one that was killed before has handed nothing.
CREATE TABLE hook_outputs (
  output_id  TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  at         TEXT NOT NULL
);
INSERT INTO hook_outputs (output_id, session_id, at) SELECT print_id, session_id, at FROM prints;
DROP TABLE prints;
CREATE INDEX hook_outputs_of_session ON hook_outputs (session_id);
