-- Which questions block their agent, and the order of lists that follows from it.
CREATE TABLE waits (
  ask_id      TEXT NOT NULL,
  wait_id     TEXT NOT NULL,
  lease_until TEXT NOT NULL,
  PRIMARY KEY (ask_id, wait_id)
);
ALTER TABLE prompts ADD COLUMN blocked_since TEXT;
UPDATE prompts SET blocked_since = created_at WHERE status = 'pending' AND dialog = 1 AND orphaned = 0;
INSERT INTO waits (ask_id, wait_id, lease_until)
SELECT ask_id, 'dialog', '9999-12-31T23:59:59.999Z' FROM prompts WHERE blocked_since IS NOT NULL;
ALTER TABLE prompts ADD COLUMN order_key TEXT NOT NULL DEFAULT '';
UPDATE prompts SET order_key = CASE WHEN blocked_since IS NULL THEN '1' ELSE '0' END
  || CAST(urgency_rank AS TEXT) || ' ' || COALESCE(expires_at, '9') || ' ' || created_at || ' ' || ask_id;
DROP INDEX prompts_pending;
CREATE INDEX prompts_pending ON prompts (status, order_key) WHERE status = 'pending';
ALTER TABLE prompts DROP COLUMN urgency_rank;
