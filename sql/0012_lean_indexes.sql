-- Each index is one more page of every commit. Two columns said the same as two others, ever since history came.
DROP INDEX IF EXISTS prompts_by_age;
DROP INDEX IF EXISTS messages_by_time;

-- What waits is found by prompts_pending, so only what is settled needs a place here.
DROP INDEX IF EXISTS prompts_by_status;
CREATE INDEX prompts_settled ON prompts (status, settled_at, ask_id) WHERE settled_at IS NOT NULL;
