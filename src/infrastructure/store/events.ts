/**
 * The statements of the event log. The number of an event is one more than every earlier one, pruned ones included, so no
 * seq is used twice. Numbers that a power cut may have taken are not used again either (below).
 */
import type { EventRecords } from '../../application/ports.ts';
import type { EventType, HiveEvent } from '../../domain/events.ts';
import {
  DOCTORED,
  type Driver,
  decodeIntact,
  many,
  numberIn,
  pageOfDamaged,
  parseStored,
  type Row,
  type Sql,
  type Statement,
  statement,
} from './sql.ts';

const NUMBERS = `(SELECT MAX(seq) AS seq FROM events
  UNION ALL SELECT value FROM counters WHERE name IN ('pruned_event', 'skipped_event')) AS numbers`;
/** The number of the last event, 0 before the first. */
export const HEAD: Statement = statement(`SELECT MAX(seq) AS n FROM ${NUMBERS}`);
const MARK = statement(`SELECT value AS n FROM counters WHERE name = 'pruned_event'`);
const APPEND = statement(
  `INSERT INTO events (seq, at, type, session_id, subject, data)
   VALUES ((SELECT MAX(seq) + 1 FROM ${NUMBERS}), $1, $2, $3, $4, $5) RETURNING seq`,
);
const AFTER = statement(
  'SELECT seq, at, type, session_id, subject, data FROM events WHERE seq > $1 ORDER BY seq LIMIT $2',
);
const DATA_AFTER = statement('SELECT seq, data FROM events WHERE seq > $1 ORDER BY seq LIMIT $2');
const OF = statement(
  'SELECT seq, at, type, session_id, subject, data FROM events WHERE subject = $1 ORDER BY seq LIMIT $2',
);
// The type is part of the text; otherwise neither engine uses the index of notices.
const NOTICES = statement(
  `SELECT seq, at, type, session_id, subject, data FROM events WHERE type = 'desk/notice' AND seq < $1 ORDER BY seq DESC LIMIT $2`,
);

/**
 * Statements over one transaction; `onAppend` tells the store to ring the bell after the commit. `reserved` is null if
 * no number is visible before it is on disk.
 */
export function eventStatements(
  sql: Sql,
  now: string,
  onAppend: () => void,
  reserved: Reserved | null,
): EventRecords {
  let extended = false;
  return {
    head: () => numberIn(sql, HEAD, []),
    pruned: () => numberIn(sql, MARK, []),
    after: (seq, limit) => many(sql, AFTER, [seq, limit], toEvent),
    of: (subject, limit) => many(sql, OF, [subject, limit], toEvent),
    notices: (limit, before = Number.MAX_SAFE_INTEGER) => many(sql, NOTICES, [before, limit], toEvent),
    async damaged(after) {
      const rows = await sql.all(DATA_AFTER, [Number(after), DOCTORED]);
      const damaged = rows.filter((row) => dataIn(row) === null);
      return pageOfDamaged(rows, damaged, 'seq', 'event ');
    },
    async append({ type, session_id = null, subject = null, data }) {
      onAppend();
      const params = [now, type, session_id, subject, JSON.stringify(data)];
      if (reserved === null) return sql.change(APPEND, params);
      const [row] = await sql.all(APPEND, params);
      const seq = Number(row?.['seq']);
      if (!extended && !isAhead(seq, reserved)) extended = await extendReserved(sql, seq, reserved);
    },
  };
}

// ---- Numbers after a power cut ----
// A receipt may be visible before it is on disk, and its events with it. If the machine then loses power, somebody
// elsewhere has seen numbers that the log no longer has. They must not name other events, because a cursor would skip
// those. So a mark in the store, which is on disk, is always far above the numbers in use. After a restart of the machine,
// numbers continue above the mark.

/** How far the mark is raised at a time. */
const STEP = 10_000;
/** More events than a receipt appends. */
const MARGIN = 1_000;

const RESERVED = statement(`SELECT value AS n FROM counters WHERE name = 'reserved_event'`);
const SET_COUNTER = statement(
  'INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
);
const BOOT = statement(`SELECT value FROM meta WHERE name = 'boot'`);
const SET_BOOT = statement(
  `INSERT INTO meta (name, value) VALUES ('boot', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);

/** A lower bound of the mark, as far as this process knows it. */
export interface Reserved {
  until: number;
}

/**
 * Whether a number may be visible before it is on disk. The last raise of the mark does not count: it may not be on disk
 * itself, if its process was killed in the middle. Only one raise can be like that, because the next one flushes it.
 */
function isAhead(seq: number, { until }: Reserved): boolean {
  return seq + MARGIN <= until - STEP;
}

/** Whether a receipt may be visible before it is on disk: whether its events will have numbers below the mark. */
export async function mayLag(sql: Sql, reserved: Reserved): Promise<boolean> {
  const head = await numberIn(sql, HEAD, []);
  if (!isAhead(head, reserved)) reserved.until = await numberIn(sql, RESERVED, []);
  return isAhead(head, reserved);
}

/** Returns whether it raised the mark. Only later transactions may rely on that, because this one may be undone. */
async function extendReserved(sql: Sql, seq: number, reserved: Reserved): Promise<boolean> {
  reserved.until = await numberIn(sql, RESERVED, []);
  if (isAhead(seq, reserved)) return false;
  await sql.change(SET_COUNTER, ['reserved_event', Math.max(reserved.until, seq + STEP) + STEP]);
  return true;
}

/** For a new store, whose numbers nobody has seen yet. */
export async function beginNumbers(sql: Sql, boot: string): Promise<void> {
  await sql.change(SET_COUNTER, ['reserved_event', 2 * STEP]);
  await sql.change(SET_BOOT, [boot]);
}

/**
 * Before the first write of a process: after a restart of the machine, numbers continue above the mark. There are two steps,
 * so that a process that finds the second one done knows that the first one is on disk: each write flushes what it finds.
 */
export async function continueNumbers(driver: Driver, boot: string): Promise<void> {
  const stored = await driver.inspect(bootIn);
  if (stored === boot) return;
  const begun = `${boot} begun`;
  await driver.write(async (sql) => {
    const found = await bootIn(sql);
    if (found === boot || found === begun) return;
    const head = await numberIn(sql, HEAD, []);
    const first = Math.max(head + STEP, await numberIn(sql, RESERVED, []));
    await sql.change(SET_COUNTER, ['skipped_event', first]);
    await sql.change(SET_COUNTER, ['reserved_event', first + 2 * STEP]);
    await sql.change(SET_BOOT, [begun]);
  });
  await driver.write((sql) => sql.change(SET_BOOT, [boot]));
}

async function bootIn(sql: Sql): Promise<string | null> {
  const [row] = await sql.all(BOOT, []);
  return row === undefined ? null : String(row['value']);
}

/** Null if it is damaged. Such an event is read without its data, so that it stops nobody who follows the log. */
function dataIn(row: Row): Record<string, unknown> | null {
  const [data] = decodeIntact([row], (one) => parseStored(one['data'] ?? null));
  return typeof data === 'object' ? (data as Record<string, unknown> | null) : null;
}

function toEvent(row: Row): HiveEvent {
  return {
    seq: Number(row['seq']),
    at: String(row['at']),
    type: String(row['type']) as EventType,
    session_id: row['session_id'] === null ? null : String(row['session_id']),
    subject: row['subject'] === null ? null : String(row['subject']),
    data: dataIn(row) ?? {},
  };
}
