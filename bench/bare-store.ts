/** The floor of a durable write: a row and an event row in one transaction of `node:sqlite`, committed as the store does. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface BareStore {
  /** One durable transaction; returns how long it took, in milliseconds. */
  commit(): number;
  close(): void;
}

export function openBareStore(folder: string): BareStore {
  const database = new DatabaseSync(join(folder, 'bare.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE prompts (id INTEGER PRIMARY KEY, question TEXT NOT NULL, status TEXT NOT NULL);
    CREATE TABLE events (seq INTEGER PRIMARY KEY, type TEXT NOT NULL, data TEXT NOT NULL)`);
  const ask = database.prepare('INSERT INTO prompts (question, status) VALUES (?, ?)');
  const event = database.prepare('INSERT INTO events (type, data) VALUES (?, ?)');
  return {
    commit() {
      const started = performance.now();
      database.exec('BEGIN IMMEDIATE');
      ask.run('Drop the old sessions table?', 'pending');
      event.run('prompt/created', '{"status":"pending"}');
      database.exec('COMMIT');
      return performance.now() - started;
    },
    close: () => database.close(),
  };
}
