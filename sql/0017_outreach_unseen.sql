-- What nobody could be shown is kept as unseen until the human is back. Until now it had failed.

UPDATE outreach SET status = 'unseen' WHERE status = 'failed' AND kind <> 'report';
CREATE INDEX outreach_unseen ON outreach (number) WHERE status = 'unseen';
