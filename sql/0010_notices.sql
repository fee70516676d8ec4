-- What desks were told is read again by a desk that opens later.
CREATE INDEX events_notices ON events (seq) WHERE type = 'desk/notice';
