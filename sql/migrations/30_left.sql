-- Coordinators that leave a question to the human.
ALTER TABLE prompts ADD COLUMN left_by TEXT NOT NULL DEFAULT '[]';
