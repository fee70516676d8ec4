-- What people see a session by, and what that is decided from. A session that is known already gets its title with its next event.
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN name TEXT;
ALTER TABLE sessions ADD COLUMN client_title TEXT;
ALTER TABLE sessions ADD COLUMN first_words TEXT;
UPDATE sessions SET title = handle;
