/** The statements of the event log. Its numbers come from a counter, so that a pruned seq is never used again. */
import type { EventRecords } from '../../application/ports.ts';
import type { EventType, HiveEvent } from '../../domain/events.ts';
import { pruneEvents } from './prune.ts';
import { parseStored, type Row, type Sql, statement } from './sql.ts';

const NEXT_SEQ = statement(`UPDATE counters SET value = value + 1 WHERE name = 'event' RETURNING value`);
const INSERT = statement(
  'INSERT INTO events (seq, at, type, session_id, subject, data) VALUES ($1, $2, $3, $4, $5, $6)',
);
const COUNTER = statement('SELECT value FROM counters WHERE name = $1');
const AFTER = statement(
  'SELECT seq, at, type, session_id, subject, data FROM events WHERE seq > $1 ORDER BY seq LIMIT $2',
);
const OF = statement(
  'SELECT seq, at, type, session_id, subject, data FROM events WHERE subject = $1 ORDER BY seq LIMIT $2',
);
// The type stands in the text, else neither engine takes the index of notices alone.
const NOTICES = statement(
  `SELECT seq, at, type, session_id, subject, data FROM events WHERE type = 'desk/notice' AND seq < $1 ORDER BY seq DESC LIMIT $2`,
);

/** Statements over one transaction; `onAppend` tells the store that there is something to ring for. */
export function eventStatements(sql: Sql, now: string, onAppend: () => void): EventRecords {
  async function counter(name: string): Promise<number> {
    const [row] = await sql.all(COUNTER, [name]);
    return Number(row?.['value'] ?? 0);
  }

  return {
    head: () => counter('event'),
    pruned: () => counter('pruned_event'),
    after: async (seq, limit) => (await sql.all(AFTER, [seq, limit])).map(toEvent),
    of: async (subject, limit) => (await sql.all(OF, [subject, limit])).map(toEvent),
    notices: async (limit, before = Number.MAX_SAFE_INTEGER) =>
      (await sql.all(NOTICES, [before, limit])).map(toEvent),
    async append({ type, session_id, subject, data }) {
      onAppend();
      const [row] = await sql.all(NEXT_SEQ, []);
      const seq = Number(row?.['value']);
      await sql.run(INSERT, [seq, now, type, session_id, subject, JSON.stringify(data)]);
      return seq;
    },
    ...pruneEvents(sql),
  };
}

function toEvent(row: Row): HiveEvent {
  return {
    seq: Number(row['seq']),
    at: String(row['at']),
    type: String(row['type']) as EventType,
    session_id: row['session_id'] === null ? null : String(row['session_id']),
    subject: row['subject'] === null ? null : String(row['subject']),
    data: parseStored(row['data'] ?? null) as Record<string, unknown>,
  };
}
