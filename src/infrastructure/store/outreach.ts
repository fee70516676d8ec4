/** The statements of outreach, of the budget that pays for it, and of the Stop guard's memory. */
import type { OutreachFilter, OutreachRecords } from '../../application/ports.ts';
import type { Outreach } from '../../domain/outreach.ts';
import type { Bucket } from '../../domain/rates.ts';
import type { StopGuardRecord } from '../../domain/stop-guard.ts';
import {
  type Codec,
  type Conditions,
  columns,
  conditions,
  decodeCursor,
  decodeIntact,
  many,
  numberIn,
  one,
  pageOf,
  type Sql,
  type SqlValue,
  type Statement,
  statement,
  table,
  titleOfSession,
} from './sql.ts';

/** Its delivery records whether a report was handed over and read, and its session has a title. */
type Joined = 'handed_at' | 'delivered_at' | 'carrier' | 'agent_title';

const STORED: Record<Exclude<keyof Outreach, Joined>, Codec> = columns({
  plain: `outreach_id number kind session_id agent source project project_dir turn_id message title
    description color ask_id status reason charged created_at shown_at shown_via reported_at
    let_go_at to_session_id`,
  boolean: 'critical',
  json: 'fields actions',
});
const stored = table<Omit<Outreach, Joined>>('outreach', STORED);
const outreach = table<Outreach>('outreach', {
  ...STORED,
  ...columns({ plain: 'handed_at delivered_at carrier agent_title' }),
});
const SELECT = (): string =>
  `SELECT ${stored.list}, deliveries.handed_at, deliveries.collected_at AS delivered_at, deliveries.carrier, ${titleOfSession('outreach')}`;
const FROM = 'FROM outreach LEFT JOIN deliveries ON deliveries.subject = outreach_id';

const NEXT = statement(`UPDATE counters SET value = value + 1 WHERE name = 'outreach' RETURNING value AS n`);
const GET = statement(() => `${SELECT()} ${FROM} WHERE outreach_id = $1`);
const BY_PROMPT = statement(() => `${SELECT()} ${FROM} WHERE ask_id = $1`);

/** Visible output: neither suppressed nor unseen at first. An agent knows what was not shown at once, and need not report it. */
const VISIBLE = `outreach.kind <> 'report' AND status IN ('sent', 'shown') AND reason IS NULL`;
const UNREPORTED = statement(
  () => `${SELECT()} ${FROM} WHERE session_id = $1 AND ${VISIBLE}
   AND reported_at IS NULL AND let_go_at IS NULL ORDER BY number`,
);
const OWE_AGAIN = statement('UPDATE outreach SET let_go_at = NULL WHERE session_id = $1 AND let_go_at = $2');
const UNSEEN = statement(() => `${SELECT()} ${FROM} WHERE status = 'unseen' ORDER BY number LIMIT $1`);
const COUNT_UNSEEN = statement(
  `SELECT COUNT(*) AS n FROM outreach WHERE status = 'unseen' AND source = 'bg' AND critical = 0`,
);
const UNSHOWN = statement(
  () =>
    `${SELECT()} ${FROM} WHERE outreach.kind <> 'report' AND status = 'sent' AND created_at < $1 ORDER BY created_at`,
);

/** The condition that a session is alive, for a column or an expression. */
const lives = (session_id: string): string =>
  `EXISTS (SELECT 1 FROM sessions WHERE session_id = ${session_id} AND state <> 'ended')`;
/**
 * The reports for this reader: those addressed to it, and those of its project whose reader is gone, if it accepts such
 * reports ($3). A report that another living session may still prove read is left to that session.
 */
const FOR_READER = `${FROM} WHERE outreach.kind = 'report' AND status = 'sent' AND session_id <> $1
  AND (to_session_id = $1
    OR ($3 = 1 AND project_dir = $2 AND (to_session_id IS NULL OR NOT ${lives('outreach.to_session_id')})))
  AND (deliveries.carrier IS NULL
    OR (deliveries.carrier <> $4 AND NOT ${lives('SUBSTR(deliveries.carrier, 6)')}))`;
const REPORTS_FOR = statement(() => `${SELECT()} ${FOR_READER} ORDER BY number LIMIT $5`);
const COUNT_FOR = statement(() => `SELECT COUNT(*) AS n ${FOR_READER}`);
const MOVE_READER = statement(
  `UPDATE outreach SET to_session_id = $2 WHERE kind = 'report' AND status = 'sent' AND to_session_id = $1`,
);

const buckets = table<Bucket>('budgets', columns({ plain: 'name credits since' }));

const guards = table<StopGuardRecord>(
  'stop_guards',
  columns({ plain: 'session_id chain blocks let_go_at reported_at reminded_at' }),
);

function filtered({ kind, session_id, project_dir }: OutreachFilter): Conditions {
  return conditions('1 = 1')
    .and('outreach.kind = ?', kind)
    .and('session_id = ?', session_id)
    .and('project_dir = ?', project_dir);
}

export function outreachStatements(sql: Sql): OutreachRecords {
  const found = (query: Statement, params: SqlValue[]): Promise<Outreach[]> =>
    many(sql, query, params, outreach.decode);

  return {
    get: (outreach_id) => one(sql, GET, [outreach_id], outreach.decode),
    byPrompt: (ask_id) => one(sql, BY_PROMPT, [ask_id], outreach.decode),
    async list({ limit, cursor, ...filter }) {
      const where = filtered({ ...filter, limit }).after(
        ['number'],
        'DESC',
        decodeCursor(cursor, ['number']),
      );
      const query = `${SELECT()} ${FROM} WHERE ${where.text} ORDER BY number DESC LIMIT ${where.next}`;
      const rows = await sql.all(statement(query), [...where.params, limit + 1]);
      const { items, next_cursor } = pageOf(rows, limit, ({ number = null }) => [number]);
      return { items: decodeIntact(items, outreach.decode), next_cursor };
    },
    damaged: (after) => stored.damaged(sql, after),
    unreported: (session_id) => found(UNREPORTED, [session_id]),
    oweAgain: (session_id, let_go_at) => sql.change(OWE_AGAIN, [session_id, let_go_at]),
    unseen: (limit) => found(UNSEEN, [limit]),
    countUnseen: () => numberIn(sql, COUNT_UNSEEN, []),
    unshown: (before) => found(UNSHOWN, [before]),
    async reportsFor({ session_id, project_dir, heir, carrier }, limit) {
      const reader = [session_id, project_dir, heir ? 1 : 0, carrier];
      const items = await found(REPORTS_FOR, [...reader, limit]);
      return { items, total: items.length < limit ? items.length : await numberIn(sql, COUNT_FOR, reader) };
    },
    bucket: (name) => buckets.get(sql, name),
    guard: (session_id) => guards.get(sql, session_id),

    nextNumber: () => numberIn(sql, NEXT, []),
    insert: (item) => stored.add(sql, item),
    update: (item) => stored.update(sql, item),
    moveReader: (from, to) => sql.change(MOVE_READER, [from, to]),
    putBucket: (bucket) => buckets.put(sql, bucket),
    putGuard: (record) => guards.put(sql, record),
  };
}
