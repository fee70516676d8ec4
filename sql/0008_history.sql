-- History reads by time, newest first, whatever else it asks for.
CREATE INDEX prompts_by_time ON prompts (created_at, ask_id);
CREATE INDEX messages_by_moment ON messages (at, message_id);
