-- Dialogs that only their terminal can answer any more, and when the human is warned that a question expires.
ALTER TABLE prompts ADD COLUMN terminal_since TEXT;
ALTER TABLE prompts ADD COLUMN warns_at TEXT;
CREATE INDEX prompts_warning ON prompts (status, warns_at) WHERE status = 'pending' AND warns_at IS NOT NULL;
