-- What is owed to an agent, or was carried into it: the settlement of a prompt, a mention, a report, the word that a turn was
-- aborted or that a mention has expired. A row comes when something is owed or first handed over.

-- `subject` is the id of what is delivered, `recipient` the session that it is for. `carrier` is what carried it in (one MCP
-- connection, the hooks of a session): only that can prove that it was read, which `collected_at` says. `repeated`: it was
-- handed over before, and nothing proved that it was read.
CREATE TABLE deliveries (
  subject      TEXT PRIMARY KEY,
  kind         TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  handed_at    TEXT,
  collected_at TEXT,
  carrier      TEXT,
  repeated     INTEGER NOT NULL
);
-- What a session has yet to read, and what a carrier may prove read: these contain only what is under way.
CREATE INDEX deliveries_open ON deliveries (recipient, kind) WHERE collected_at IS NULL;
CREATE INDEX deliveries_carried ON deliveries (carrier) WHERE carrier IS NOT NULL AND collected_at IS NULL;
