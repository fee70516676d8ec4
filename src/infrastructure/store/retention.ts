/**
 * The statements of retention: what may be removed, and what is removed with it. A removed event raises the number below
 * which a cursor needs a snapshot (invariant 10). `application/retention.ts` decides when and in which order.
 */
import type { Aging, PruneCounts, RetentionRecords } from '../../application/ports.ts';
import { QUOTA_BUCKETS } from '../../domain/quotas.ts';
import { numberIn, type Row, type Sql, type Statement, statement } from './sql.ts';

/** The statements for one kind of record. */
interface Pruning {
  prunable(before: string): Promise<PruneCounts>;
  prune(before: string, limit: number): Promise<PruneCounts>;
}

/** A kind of record, with the tables that refer to it. */
interface Kind {
  table: string;
  key: string;
  /** The condition of rows that may be removed; `$1` is the time before which they must have settled. */
  where: string;
  /** Tables whose column refers to the key, or to a key that `through` finds by it. Their rows go first, in this order. */
  with: readonly Hanging[];
}

type Hanging = readonly [table: string, column: string, through?: (which: string) => string];

const SETTLED = `status IN ('responded', 'expired', 'cancelled') AND settled_at < $1`;

/** An answer that came late has its own time. */
const PROMPTS: Kind = {
  table: 'prompts',
  key: 'ask_id',
  where: `${SETTLED}
    AND NOT EXISTS (SELECT 1 FROM responses WHERE responses.ask_id = prompts.ask_id AND responded_at >= $1)`,
  with: [
    ['responses', 'ask_id'],
    ['deliveries', 'subject'],
    ['popups', 'subject'],
    ['claims', 'ask_id'],
    ['waits', 'ask_id'],
    ['events', 'subject'],
  ],
};

const mentionsIn = (which: string): string => `SELECT mention_id FROM mentions WHERE message_id ${which}`;

/** The deliveries of mentions, and of the news that they expired (domain/mentions.ts). */
const deliveriesOf =
  (column: string) =>
  (which: string): string =>
    ['', ':to', ':from']
      .map((side) => `SELECT mention_id || '${side}' FROM mentions WHERE ${column} ${which}`)
      .join(' UNION ALL ');

/** A message stays while a mention in it is unprocessed. */
const MESSAGES: Kind = {
  table: 'messages',
  key: 'message_id',
  where: `at < $1
    AND NOT EXISTS (SELECT 1 FROM mentions
      WHERE mentions.message_id = messages.message_id AND mentions.status = 'unprocessed')`,
  with: [
    ['deliveries', 'subject', deliveriesOf('message_id')],
    ['popups', 'subject', mentionsIn],
    ['mentions', 'message_id'],
    ['events', 'subject'],
  ],
};

/** Mentions only, processed or not; the messages stay. Only a person starts this. It also removes mentions stored just now. */
const MENTIONS: Kind = {
  table: 'mentions',
  key: 'mention_id',
  where: 'created_at <= $1',
  with: [
    ['deliveries', 'subject', deliveriesOf('mention_id')],
    ['popups', 'subject'],
    ['events', 'subject'],
  ],
};

const OF_PROMPTS = `SELECT session_id FROM prompts WHERE NOT (${SETTLED})`;
/** Every session from which one that stays descends, however many generations are between them. */
const ABOVE = `WITH RECURSIVE above (session_id) AS (
    SELECT parent_session_id FROM sessions
      WHERE state <> 'ended' OR ended_at >= $1 OR session_id IN (${OF_PROMPTS})
    UNION SELECT sessions.parent_session_id FROM sessions JOIN above ON sessions.session_id = above.session_id)
  SELECT session_id FROM above WHERE session_id IS NOT NULL`;

/** Ended sessions that no prompt that stays, and no descendant that stays, refers to. */
const SESSIONS: Kind = {
  table: 'sessions',
  key: 'session_id',
  where: `state = 'ended' AND ended_at < $1
    AND session_id NOT IN (${OF_PROMPTS}) AND session_id NOT IN (${ABOVE})`,
  with: [
    ['tool_callers', 'session_id'],
    ['gates', 'session_id'],
    ['stop_guards', 'session_id'],
    ['hook_outputs', 'session_id'],
    ['wakers', 'session_id'],
    ['budgets', 'name'],
    ['human_signs', 'subject'],
    ['loops', 'first_session_id'],
    ['loops', 'second_session_id'],
    ['events', 'subject'],
  ],
};

/** Connections of a process that died on a machine that never came back; each process clears those of its own machine. */
const CONNECTIONS: Kind = {
  table: 'connections',
  key: 'connection_id',
  where: `opened_at < $1 AND (session_id IS NULL OR session_id NOT IN (SELECT session_id FROM sessions))`,
  with: [],
};

const TOKENS: Kind = { table: 'tokens', key: 'name', where: 'revoked_at < $1', with: [] };

const DEVICES: Kind = { table: 'devices', key: 'device_id', where: 'revoked_at < $1', with: [] };

/** A pairing code, used or not. */
const PAIRINGS: Kind = { table: 'pairings', key: 'code_digest', where: 'expires_at < $1', with: [] };

const RUNS: Kind = { table: 'runs', key: 'run_id', where: `status = 'ended' AND changed_at < $1`, with: [] };

const TURNS: Kind = {
  table: 'turns',
  key: 'turn_id',
  where: `state <> 'in_progress' AND ended_at < $1`,
  with: [
    ['interrupts', 'turn_id'],
    ['deliveries', 'subject'],
    ['events', 'subject'],
  ],
};

/** Shown or delivered outreach; a report that nobody has read yet stays. */
const OUTREACH: Kind = {
  table: 'outreach',
  key: 'outreach_id',
  where: `created_at < $1 AND NOT (kind = 'report' AND status = 'sent') AND status <> 'unseen'`,
  with: [
    ['deliveries', 'subject'],
    ['popups', 'subject'],
    ['events', 'subject'],
  ],
};

/** The bucket of a quota that has not been used for so long is full, like a missing one. */
const QUOTAS: Kind = {
  table: 'budgets',
  key: 'name',
  where: `name LIKE '${QUOTA_BUCKETS}%' AND since < $1`,
  with: [],
};

/** The kinds of records. Desks and events have their own rules. */
const KINDS: Readonly<Record<Exclude<Aging, 'desks' | 'events'>, readonly Kind[]>> = {
  prompts: [PROMPTS],
  messages: [MESSAGES],
  mentions: [MENTIONS],
  outreach: [OUTREACH, QUOTAS],
  turns: [TURNS],
  sessions: [SESSIONS, CONNECTIONS],
  tokens: [TOKENS],
  devices: [DEVICES, PAIRINGS],
  runs: [RUNS],
};

/** Every table from which retention removes something. */
export function agingTables(): ReadonlySet<string> {
  const tables = Object.values(KINDS)
    .flat()
    .flatMap(({ table, with: hanging }) => [table, ...hanging.map(([other]) => other)]);
  return new Set([...tables, 'desks', 'events']);
}

export function retentionStatements(sql: Sql, now: string): RetentionRecords {
  const of = (aging: Aging): Pruning => {
    if (aging === 'desks') return pruneDesks(sql, now);
    return aging === 'events' ? pruneEvents(sql, now) : pruneKinds(sql, KINDS[aging]);
  };
  return {
    prunable: (aging, before) => of(aging).prunable(before),
    prune: (aging, before, limit) => of(aging).prune(before, limit),
  };
}

/** A desk whose lease has expired is gone, however recently. */
function pruneDesks(sql: Sql, now: string): Pruning {
  return {
    prunable: async () => counted('desks', await numberIn(sql, COUNT_LAPSED, [now])),
    prune: async () => counted('desks', await sql.run(DELETE_LAPSED, [now])),
  };
}
const COUNT_LAPSED = statement('SELECT COUNT(*) AS n FROM desks WHERE lease_until <= $1');
const DELETE_LAPSED = statement('DELETE FROM desks WHERE lease_until <= $1');

/** Old events go, unless their subject still exists: then they are its history and go with it. */
const OLD_EVENTS = `seq < $1 AND at < $2
  AND NOT EXISTS (SELECT 1 FROM prompts WHERE ask_id = events.subject)
  AND NOT EXISTS (SELECT 1 FROM messages WHERE message_id = events.subject)
  AND NOT EXISTS (SELECT 1 FROM mentions WHERE mention_id = events.subject)
  AND NOT EXISTS (SELECT 1 FROM sessions WHERE session_id = events.subject)
  AND NOT EXISTS (SELECT 1 FROM turns WHERE turn_id = events.subject)
  AND NOT EXISTS (SELECT 1 FROM outreach WHERE outreach_id = events.subject)
  AND NOT EXISTS (SELECT 1 FROM desks WHERE desk_id = events.subject)`;
/**
 * Events are ordered by time, so the first young one ends the old ones; searching from the front finds it quickly. An event
 * in the future was recorded while the clock was wrong.
 */
const FIRST_YOUNG = statement('SELECT seq FROM events WHERE at >= $1 AND at <= $2 ORDER BY seq LIMIT 1');
const COUNT_EVENTS = statement(() => `SELECT COUNT(*) AS n FROM events WHERE ${OLD_EVENTS}`);
const OLDEST_EVENTS = statement(() => `SELECT seq FROM events WHERE ${OLD_EVENTS} ORDER BY seq LIMIT $3`);
const DELETE_EVENTS = statement(() => `DELETE FROM events WHERE ${OLD_EVENTS} AND seq <= $3`);

function pruneEvents(sql: Sql, now: string): Pruning {
  async function firstYoung(before: string): Promise<number> {
    const [row] = await sql.all(FIRST_YOUNG, [before, now]);
    return row === undefined ? Number.MAX_SAFE_INTEGER : Number(row['seq']);
  }

  return {
    prunable: async (before) =>
      counted('events', await numberIn(sql, COUNT_EVENTS, [await firstYoung(before), before])),
    async prune(before, limit) {
      const end = await firstYoung(before);
      const last = (await sql.all(OLDEST_EVENTS, [end, before, limit])).at(-1);
      if (last === undefined) return {};
      await raiseMark(sql, last);
      return counted('events', await sql.run(DELETE_EVENTS, [end, before, Number(last['seq'])]));
    },
  };
}

function pruneKinds(sql: Sql, kinds: readonly Kind[]): Pruning {
  return {
    async prunable(before) {
      const total: Record<string, number> = {};
      for (const [table, query] of kinds.flatMap((kind) => statementsOf(kind).counts)) {
        const found = await numberIn(sql, query, [before]);
        if (found > 0) total[table] = (total[table] ?? 0) + found;
      }
      return total;
    },
    async prune(before, limit) {
      const total: Record<string, number> = {};
      for (const kind of kinds) {
        const { find, mark, deletions } = statementsOf(kind);
        for (const row of await sql.all(find, [before, limit])) {
          const id = String(row[kind.key]);
          const [last] = await sql.all(mark, [id]);
          await raiseMark(sql, last);
          for (const [table, deletion] of deletions)
            total[table] = (total[table] ?? 0) + (await sql.run(deletion, [id]));
        }
      }
      return total;
    },
  };
}

const prepared = new Map<Kind, ReturnType<typeof makeStatements>>();

function statementsOf(kind: Kind): ReturnType<typeof makeStatements> {
  const made = prepared.get(kind) ?? makeStatements(kind);
  prepared.set(kind, made);
  return made;
}

function makeStatements({ table, key, where, with: hanging }: Kind): {
  find: Statement;
  mark: Statement;
  counts: (readonly [table: string, Statement])[];
  deletions: (readonly [table: string, Statement])[];
} {
  const going = `SELECT ${key} FROM ${table} WHERE ${where}`;
  return {
    find: statement(`${going} LIMIT $2`),
    mark: statement('SELECT MAX(seq) AS seq FROM events WHERE subject = $1'),
    counts: [
      [table, statement(`SELECT COUNT(*) AS n FROM ${table} WHERE ${where}`)],
      ...hanging.map(([other, column, through]) => {
        const keys = through === undefined ? going : through(`IN (${going})`);
        return [other, statement(`SELECT COUNT(*) AS n FROM ${other} WHERE ${column} IN (${keys})`)] as const;
      }),
    ],
    deletions: [...hanging, [table, key] as Hanging].map(([other, column, through]) => {
      const which = through === undefined ? '= $1' : `IN (${through('= $1')})`;
      return [other, statement(`DELETE FROM ${other} WHERE ${column} ${which}`)] as const;
    }),
  };
}

const RAISE_MARK = statement(`UPDATE counters SET value = $1 WHERE name = 'pruned_event' AND value < $1`);

async function raiseMark(sql: Sql, row: Row | undefined): Promise<void> {
  if (row !== undefined && row['seq'] !== null) await sql.run(RAISE_MARK, [Number(row['seq'])]);
}

function counted(table: string, n: number): PruneCounts {
  return n === 0 ? {} : { [table]: n };
}
