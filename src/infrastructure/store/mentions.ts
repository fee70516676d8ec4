/** The statements of mentions. One partial index serves the query of the gate before each tool call. */
import type { GateRecords, LoopRecords, MentionRecords } from '../../application/ports.ts';
import type { Loop } from '../../domain/loops.ts';
import type { GateRecord } from '../../domain/mention-gate.ts';
import type { Mention, MentionInFull, MentionStatus } from '../../domain/mentions.ts';
import { MESSAGE_COLUMNS, readMentioned } from './messages.ts';
import {
  type Codec,
  columns,
  conditions,
  decodeCursor,
  firstTime,
  ids,
  many,
  numberIn,
  one,
  pageOf,
  type Row,
  type Sql,
  statement,
  table,
} from './sql.ts';

/** Its delivery records its state. */
type Stored = Omit<Mention, 'delivered_at' | 'carrier'>;

const STORED: Record<keyof Stored, Codec> = columns({
  plain: `mention_id message_id seq session_id handle from_session_id priority denials status created_at
    expires_at processed_at processed_by processed_via note`,
  boolean: 'by_name gates',
});
const stored = table<Stored>('mentions', STORED);
const mentions = table<Mention>('mentions', { ...STORED, delivered_at: 'plain', carrier: 'plain' });
const DELIVERED = 'deliveries.handed_at AS delivered_at, deliveries.carrier';

/** The alias of a column of the mention's message, because both tables use some names. */
const ofMessage = (column: string): string => `message.${column}`;

function readInFull(row: Row): MentionInFull {
  const read = MESSAGE_COLUMNS.map((column) => [column, row[ofMessage(column)] ?? null]);
  const message = readMentioned(Object.fromEntries(read) as Row);
  const { at, from_handle, author, by, as_handle, project, project_dir } = message;
  const { thread, reply_to, expects_reply, body } = message;
  return {
    ...mentions.decode(row),
    ...{ at, from_handle, author, by, as_handle, project, project_dir },
    ...{ thread, reply_to, expects_reply, body },
  };
}

const COLUMNS = [
  ...stored.columns.map((column) => `m."${column}"`),
  DELIVERED,
  ...MESSAGE_COLUMNS.map((column) => `msg."${column}" AS "${ofMessage(column)}"`),
].join(', ');
const FROM = `FROM mentions m JOIN messages msg ON msg.message_id = m.message_id
  LEFT JOIN deliveries ON deliveries.subject = m.mention_id`;
const SELECT = `SELECT ${COLUMNS} ${FROM}`;

/** An expired mention does not count, whether or not that has been recorded yet. */
const OPEN = `m.session_id = $1 AND m.status = 'unprocessed' AND (m.expires_at IS NULL OR m.expires_at > $2)`;

const GET = statement(() => `${SELECT} WHERE m.mention_id = $1`);
const OF = statement(() => `${SELECT} WHERE m.message_id = $1 AND m.session_id = $2`);
const UNPROCESSED = statement(() => `${SELECT} WHERE ${OPEN} ORDER BY m.priority DESC, m.seq LIMIT $3`);
const UNDELIVERED = statement(
  () => `SELECT ${stored.columns.map((column) => `m."${column}"`).join(', ')}, ${DELIVERED} FROM mentions m
   LEFT JOIN deliveries ON deliveries.subject = m.mention_id
   WHERE ${OPEN} AND m.gates = 1 AND deliveries.handed_at IS NULL ORDER BY m.priority DESC, m.seq LIMIT $3`,
);
const FRESH = statement(
  () => `${SELECT} WHERE ${OPEN} AND deliveries.handed_at IS NULL ORDER BY m.priority DESC, m.seq LIMIT $3`,
);
const COUNT_FRESH = statement(
  () => `SELECT COUNT(*) AS n FROM mentions m LEFT JOIN deliveries ON deliveries.subject = m.mention_id
   WHERE ${OPEN} AND deliveries.handed_at IS NULL`,
);
const COUNT_UNPROCESSED = statement(
  () => `SELECT COUNT(*) AS n, COALESCE(SUM(m.gates), 0) AS gating,
     COALESCE(SUM(CASE WHEN m.priority = 'urgent' THEN m.gates ELSE 0 END), 0) AS urgent
   FROM mentions m WHERE ${OPEN}`,
);
const SUMMARY = statement(
  `SELECT status, COUNT(*) AS n, SUM(denials) AS denials, SUM(gates) AS gating
   FROM mentions WHERE session_id = $1 GROUP BY status`,
);
const BY_SESSION = statement(
  `SELECT session_id, COUNT(*) AS n FROM mentions WHERE status = 'unprocessed' GROUP BY session_id`,
);
const BETWEEN = statement(
  `SELECT (SELECT COUNT(*) FROM mentions WHERE from_session_id = $1 AND session_id = $2 AND created_at > $3 AND seq > $4)
        + (SELECT COUNT(*) FROM mentions WHERE from_session_id = $2 AND session_id = $1 AND created_at > $3 AND seq > $4) AS n`,
);
const DUE = statement(
  () => `SELECT ${stored.list}, ${DELIVERED} FROM mentions
   LEFT JOIN deliveries ON deliveries.subject = mention_id
   WHERE status = 'unprocessed' AND expires_at IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2`,
);
const NEXT_EXPIRY = statement(
  `SELECT MIN(expires_at) AS at FROM mentions WHERE status = 'unprocessed' AND expires_at IS NOT NULL`,
);
const DENY = statement(() => `UPDATE mentions AS m SET denials = denials + 1 WHERE ${OPEN}`);
const MOVE = statement(
  `UPDATE mentions SET session_id = $2, handle = $3 WHERE session_id = $1 AND status = 'unprocessed'
   AND message_id NOT IN (SELECT message_id FROM mentions WHERE session_id = $2) RETURNING mention_id`,
);

/** More than anybody processes at once. */
const MOST_OPEN = 500;

export function mentionStatements(sql: Sql, now: string): MentionRecords {
  return {
    get: (mention_id) => one(sql, GET, [mention_id], readInFull),
    ofMessage: (message_id, session_id) => one(sql, OF, [message_id, session_id], readInFull),

    unprocessedOf: (session_id, limit = MOST_OPEN) =>
      many(sql, UNPROCESSED, [session_id, now, limit], readInFull),

    undelivered: (session_id, limit) => many(sql, UNDELIVERED, [session_id, now, limit], mentions.decode),

    freshOf: (session_id, limit) => many(sql, FRESH, [session_id, now, limit], readInFull),

    countFresh: (session_id) => numberIn(sql, COUNT_FRESH, [session_id, now]),

    async countUnprocessed(session_id) {
      const [row] = await sql.all(COUNT_UNPROCESSED, [session_id, now]);
      return {
        count: Number(row?.['n'] ?? 0),
        gating: Number(row?.['gating'] ?? 0),
        urgent: Number(row?.['urgent'] ?? 0),
      };
    },

    async list({ session_id, status, limit, cursor }) {
      const where = conditions('1 = 1')
        .and('m.session_id = ?', session_id)
        .and('m.status = ?', status)
        .after(['m.seq', 'm.mention_id'], 'DESC', decodeCursor(cursor, ['number', 'string']));
      const query = statement(
        `${SELECT} WHERE ${where.text} ORDER BY m.seq DESC, m.mention_id DESC LIMIT ${where.next}`,
      );
      const found = await many(sql, query, [...where.params, limit + 1], readInFull);
      return pageOf(found, limit, ({ seq, mention_id }) => [seq, mention_id]);
    },

    async summary(session_id) {
      const counts: Record<MentionStatus, number> = { unprocessed: 0, processed: 0, expired: 0 };
      let denials = 0;
      let gating = 0;
      for (const row of await sql.all(SUMMARY, [session_id])) {
        const status = String(row['status']) as MentionStatus;
        counts[status] = Number(row['n']);
        denials += Number(row['denials']);
        if (status === 'unprocessed') gating = Number(row['gating']);
      }
      const total = counts.unprocessed + counts.processed + counts.expired;
      return { total, ...counts, gating, denials };
    },

    async unprocessedBySession() {
      const rows = await sql.all(BY_SESSION, []);
      return new Map(rows.map((row) => [String(row['session_id']), Number(row['n'])]));
    },

    countBetween: ({ first_session_id, second_session_id }, since, after) =>
      numberIn(sql, BETWEEN, [first_session_id, second_session_id, since, after]),

    expiries: {
      due: (until, limit) => many(sql, DUE, [until, limit], mentions.decode),
      next: () => firstTime(sql, NEXT_EXPIRY),
    },

    insert: (mention) => stored.add(sql, mention),

    update: (mention) => stored.update(sql, mention),

    deny: (session_id) => sql.change(DENY, [session_id, now]),

    move: (from, { session_id, handle }) => ids(sql, MOVE, [from, session_id, handle], 'mention_id'),
  };
}

// ---- The records of the mention gate ----

const gates = table<GateRecord>(
  'gates',
  columns({
    plain: 'session_id steps step_until denials held_since prompts',
    boolean: 'gave_up held prompts_gave_up',
    json: 'held_notified',
  }),
);

const HELD = statement(
  () => `${gates.select} WHERE held_since IS NOT NULL ORDER BY held_since LIMIT ${MOST_HELD}`,
);

/** More than anybody needs to be notified of at once. */
const MOST_HELD = 200;

export function gateStatements(sql: Sql): GateRecords {
  return {
    get: (session_id) => gates.get(sql, session_id),
    damaged: (after) => gates.damaged(sql, after, 'gate of '),
    held: () => many(sql, HELD, [], gates.decode),
    put: (record) => gates.put(sql, record),
  };
}

// ---- The records of the loop guard ----
// When a human last posted, and which pairs of agents are stopped.

const loops = table<Loop>(
  'loops',
  columns({ plain: 'first_session_id second_session_id state at seq reason' }),
);

const GET_LOOP = statement(() => `${loops.select} WHERE first_session_id = $1 AND second_session_id = $2`);
const LIST = statement(() => `${loops.select} ORDER BY at DESC`);
const PUT_LOOP = statement(
  () =>
    `${loops.insert()} ON CONFLICT (first_session_id, second_session_id) DO UPDATE SET state = $3, at = $4, seq = $5, reason = $6`,
);
const REMOVE = statement('DELETE FROM loops WHERE first_session_id = $1 AND second_session_id = $2');
const SIGN = statement('SELECT seq FROM human_signs WHERE subject = $1');
const LAST_MESSAGE = statement(`SELECT value FROM counters WHERE name = 'message'`);
const SPOKE = statement(
  'INSERT INTO human_signs (subject, seq) VALUES ($1, $2) ON CONFLICT (subject) DO UPDATE SET seq = $2',
);

export function loopStatements(sql: Sql): LoopRecords {
  const newestSeq = async (): Promise<number> => Number((await sql.all(LAST_MESSAGE, []))[0]?.['value'] ?? 0);
  return {
    newestSeq,
    async humanSpokeAt(subjects) {
      let latest = 0;
      for (const subject of subjects) {
        const [row] = await sql.all(SIGN, [subject]);
        latest = Math.max(latest, Number(row?.['seq'] ?? 0));
      }
      return latest;
    },
    get: ({ first_session_id, second_session_id }) =>
      one(sql, GET_LOOP, [first_session_id, second_session_id], loops.decode),
    list: () => many(sql, LIST, [], loops.decode),
    humanSpoke: async (subject) => sql.change(SPOKE, [subject, await newestSeq()]),
    put: (loop) => sql.change(PUT_LOOP, loops.encode(loop)),
    remove: ({ first_session_id, second_session_id }) =>
      sql.change(REMOVE, [first_session_id, second_session_id]),
  };
}
