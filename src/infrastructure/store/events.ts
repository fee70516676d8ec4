/**
 * The statements of the event log. The number of an event is one more than every earlier one, pruned ones included, so no
 * seq is used twice.
 */
import type { EventRecords } from '../../application/ports.ts';
import type { EventType, HiveEvent } from '../../domain/events.ts';
import { pruneEvents } from './prune.ts';
import { parseStored, type Row, type Sql, type Statement, statement } from './sql.ts';

const PRUNED = `SELECT value FROM counters WHERE name = 'pruned_event'`;
const NUMBERS = `(SELECT MAX(seq) AS seq FROM events UNION ALL ${PRUNED}) AS numbers`;
/** The number of the last event, 0 before the first. */
export const HEAD: Statement = statement(`SELECT MAX(seq) AS value FROM ${NUMBERS}`);
const MARK = statement(PRUNED);
const APPEND = statement(
  `INSERT INTO events (seq, at, type, session_id, subject, data)
   VALUES ((SELECT MAX(seq) + 1 FROM ${NUMBERS}), $1, $2, $3, $4, $5) RETURNING seq`,
);
const AFTER = statement(
  'SELECT seq, at, type, session_id, subject, data FROM events WHERE seq > $1 ORDER BY seq LIMIT $2',
);
const OF = statement(
  'SELECT seq, at, type, session_id, subject, data FROM events WHERE subject = $1 ORDER BY seq LIMIT $2',
);
// The type is part of the text; otherwise neither engine uses the index of notices.
const NOTICES = statement(
  `SELECT seq, at, type, session_id, subject, data FROM events WHERE type = 'desk/notice' AND seq < $1 ORDER BY seq DESC LIMIT $2`,
);

/** Statements over one transaction; `onAppend` tells the store to ring the bell after the commit. */
export function eventStatements(sql: Sql, now: string, onAppend: () => void): EventRecords {
  return {
    head: () => numberOf(sql, HEAD),
    pruned: () => numberOf(sql, MARK),
    after: async (seq, limit) => (await sql.all(AFTER, [seq, limit])).map(toEvent),
    of: async (subject, limit) => (await sql.all(OF, [subject, limit])).map(toEvent),
    notices: async (limit, before = Number.MAX_SAFE_INTEGER) =>
      (await sql.all(NOTICES, [before, limit])).map(toEvent),
    async append({ type, session_id, subject, data }) {
      onAppend();
      const [row] = await sql.all(APPEND, [now, type, session_id, subject, JSON.stringify(data)]);
      return Number(row?.['seq']);
    },
    ...pruneEvents(sql),
  };
}

async function numberOf(sql: Sql, query: Statement): Promise<number> {
  const [row] = await sql.all(query, []);
  return Number(row?.['value'] ?? 0);
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
