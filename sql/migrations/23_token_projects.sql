-- A token lists the projects of this machine that it takes part in.
ALTER TABLE tokens ADD COLUMN projects TEXT NOT NULL DEFAULT '[]';
