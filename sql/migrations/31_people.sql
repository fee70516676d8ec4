-- The name of the person who posted a message, and the shell in whose terminal a session without a client began.
ALTER TABLE messages ADD COLUMN "by" TEXT;
ALTER TABLE sessions ADD COLUMN shell_pid BIGINT;
