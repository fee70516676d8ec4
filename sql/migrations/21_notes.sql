-- What an asker adds to its question while it is pending: JSON, a list of {text, at}.
ALTER TABLE prompts ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';
