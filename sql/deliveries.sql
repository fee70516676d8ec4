-- Deliveries to an agent, made or due: the settlement of a prompt, a mention, a report, the news that a turn was
-- aborted or that a mention has expired. A row is inserted when something is due or first handed over.

-- `subject` is the id of what is delivered, `recipient` the session that it is for. `carrier` is the channel that carried it (one
-- MCP connection, the hooks of a session): only the same carrier can prove that it was read, at `collected_at`. `repeated`:
-- it was handed over before, and nothing proved that it was read.
CREATE TABLE deliveries (
  subject      TEXT PRIMARY KEY,
  kind         TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  handed_at    TEXT,
  collected_at TEXT,
  carrier      TEXT,
  repeated     INTEGER NOT NULL
);
-- Deliveries that a session has yet to read, and those that a carrier may prove read: only those in progress are indexed.
CREATE INDEX deliveries_open ON deliveries (recipient, kind) WHERE collected_at IS NULL;
CREATE INDEX deliveries_carried ON deliveries (carrier) WHERE carrier IS NOT NULL AND collected_at IS NULL;
