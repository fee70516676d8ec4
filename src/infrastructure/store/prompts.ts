/**
 * The statements of prompts. `SETTLE` is the compare-and-set that gives each prompt one winner (invariant 2): the
 * second answer changes no row.
 */
import type {
  ClaimRecords,
  Deadlines,
  PromptFilter,
  PromptReads,
  PromptRecords,
  StoredResponse,
} from '../../application/ports.ts';
import type { Receipts } from '../../domain/delivery.ts';
import { foldName } from '../../domain/humans.ts';
import { orderKey, type Prompt, type Urgency } from '../../domain/prompts.ts';
import { searchText } from '../../domain/text.ts';
import { checksums } from './checksums.ts';
import { openOf } from './deliveries.ts';
import {
  type Codec,
  type Conditions,
  columns,
  conditions,
  decodeCursor,
  escapeLike,
  firstTime,
  ids,
  likePattern,
  numberIn,
  one,
  pageOf,
  type Row,
  type Sql,
  type SqlValue,
  type Statement,
  statement,
  table,
  titleIn,
  titleOfSession,
} from './sql.ts';

// ---- A prompt as a row ----
// Its columns, those that may change, and its checksum.

/** The fields of an answer that are stored, in a prompt and on its own. */
const ANSWER = columns({
  plain: 'decision comment by via',
  boolean: 'attested',
  json: 'selected',
});

/** The columns that may change after a prompt is asked, besides its status. */
const MUTABLE = {
  ...ANSWER,
  ...columns({
    plain: 'response_id cancel_reason snoozed_until claimed_by claimed_at offered_at seen_at responded_at',
    boolean: 'amended orphaned',
    json: 'notes late_response left_by',
  }),
} satisfies Partial<Record<keyof Prompt, Codec>>;

/** Its delivery records whether the settlement was handed over and read, and its session has a title. */
type Joined = Receipts & Pick<Prompt, 'agent_title'>;
type Stored = Omit<Prompt, keyof Joined>;

const prompts = table<Stored>('prompts', {
  ...columns({
    plain: `ask_id session_id agent source project project_dir turn_id kind header question context
      urgency label group_id when_turn_aborted idempotency_key fingerprint created_at expires_at
      blocked_since terminal_since warns_at to escalates_at escalated_at status settled_at`,
    boolean: 'multi_select allow_free_text dialog',
    json: 'options recipients',
  }),
  ...MUTABLE,
});

const receipts = table<Receipts>('deliveries', columns({ plain: 'handed_at collected_at carrier' }));

/** An UPDATE names only these columns: SQLite rewrites every index that contains a named column, changed or not. */
const mutable = table<Pick<Prompt, 'ask_id' | keyof typeof MUTABLE>>('prompts', {
  ask_id: 'plain',
  ...MUTABLE,
});

/** The columns that the checksum of a prompt does not cover, and why. */
export const UNCOVERED_OF_PROMPT = {
  session_id: 'One statement moves all prompts of a session to the one that continues it.',
  agent: 'It is changed along with session_id.',
  orphaned: 'One statement sets it for all prompts of a session.',
  blocked_since: 'It says who waits, which decides nothing; waits set it without the rest of the row.',
  terminal_since: 'It only refuses answers; waits set it without the rest of the row.',
  warns_at: 'It decides nothing; the warning clears it without the rest of the row.',
  order_key: 'It repeats other columns, for the order of lists.',
  search_text: 'No prompt is read from it: it repeats other columns, and only a search looks at it.',
} as const;

export const promptChecksums = checksums(
  'prompts',
  [...prompts.columns, 'order_key', 'search_text'],
  UNCOVERED_OF_PROMPT,
  'prompt',
);

/** Reads a prompt from a row. @throws HiveError `store_foreign` if the row is damaged. */
function readPrompt(row: Row): Prompt {
  promptChecksums.verify(row);
  return { ...prompts.decode(row), ...receipts.decode(row), agent_title: titleIn(row) };
}

/** The prompts in rows. A damaged one is left out: it must not hide the others (`damagedPending` finds it). */
function readIntact(rows: readonly Row[]): Prompt[] {
  return rows.filter(promptChecksums.isIntact).map(readPrompt);
}

/** At most this many damaged rows are skipped to find those that are due or open. */
const SPARE = 100;

/** The columns that `readPrompt` reads. */
const LIST: string = `${prompts.list}, order_key, checksum, ${receipts.list}, ${titleOfSession('prompts')}`;
const FROM = 'FROM prompts LEFT JOIN deliveries ON deliveries.subject = prompts.ask_id';
/** A SELECT of prompts, up to its WHERE. */
const SELECT: string = `SELECT ${LIST} ${FROM}`;

const width = mutable.columns.length;
const INSERT = statement(() => prompts.insert(['order_key', 'search_text', 'checksum']));
const CHANGED = `${mutable.assignments()}, search_text = $${width + 1}, checksum = $${width + 2}`;
const UPDATE = statement(() => `UPDATE prompts SET ${CHANGED} WHERE ask_id = $1`);
/** An answer also needs a prompt whose time is not up. $1 to $n are the columns, then follow status, `settled_at` and now. */
const SETTLE = statement(
  () => `UPDATE prompts SET ${CHANGED}, status = $${width + 3}, settled_at = $${width + 4}
   WHERE ask_id = $1 AND prompts.status = 'pending'
   AND (CAST($${width + 3} AS TEXT) <> 'responded' OR prompts.expires_at IS NULL OR prompts.expires_at > $${width + 5})`,
);
const SET_BLOCKED = statement(
  `UPDATE prompts SET blocked_since = $2, order_key = $3 WHERE ask_id = $1 AND status = 'pending'`,
);
const SET_TERMINAL = statement(
  `UPDATE prompts SET terminal_since = $2 WHERE ask_id = $1 AND status = 'pending'`,
);
const WARNED = statement('UPDATE prompts SET warns_at = NULL WHERE ask_id = $1 AND warns_at IS NOT NULL');
const GET = statement(() => `${SELECT} WHERE ask_id = $1`);
const BY_KEY = statement(
  () =>
    `${SELECT} WHERE session_id = $1 AND idempotency_key = $2 ORDER BY fingerprint <> $3, created_at, ask_id LIMIT 1`,
);
const OWED = openOf('prompt');
const UNCOLLECTED_OF = statement(
  () => `SELECT ${LIST} FROM deliveries JOIN prompts ON prompts.ask_id = deliveries.subject
   WHERE ${OWED} ORDER BY created_at, ask_id LIMIT $2`,
);
const PENDING_OF = `session_id = $1 AND status = 'pending'`;
const PENDING_OF_SESSION = statement(
  () => `${SELECT} WHERE ${PENDING_OF} ORDER BY created_at, ask_id LIMIT $2`,
);
const COUNT_OPEN_OF = statement(
  `SELECT (SELECT COUNT(*) FROM deliveries WHERE ${OWED}) AS settled,
     (SELECT COUNT(*) FROM prompts WHERE ${PENDING_OF}) AS pending`,
);
/** Texts that begin with `ID:` sort between `ID:` and `ID;`. */
const PENDING_UNDER = statement(
  `SELECT COUNT(*) AS n FROM (SELECT session_id FROM prompts WHERE ${PENDING_OF}
     UNION ALL SELECT session_id FROM prompts WHERE session_id >= $2 AND session_id < $3 AND status = 'pending'
     LIMIT $4) AS counted`,
);
const PENDING_OF_TURN = statement(
  () => `${SELECT} WHERE turn_id = $1 AND status = 'pending' ORDER BY created_at, ask_id`,
);

/** The statements of a deadline of pending prompts: those that are due, and the time of the next. */
function deadline(column: 'expires_at' | 'escalates_at' | 'warns_at', open = ''): [Statement, Statement] {
  const where = `WHERE status = 'pending' AND ${column} IS NOT NULL${open}`;
  return [
    statement(() => `${SELECT} ${where} AND ${column} <= $1 ORDER BY ${column} LIMIT $2`),
    statement(`SELECT MIN(${column}) AS at FROM prompts ${where}`),
  ];
}
const EXPIRIES = deadline('expires_at');
const ESCALATIONS = deadline('escalates_at', ' AND escalated_at IS NULL');
const WARNINGS = deadline('warns_at');

const ESCALATE = statement(
  `UPDATE prompts SET escalated_at = $2, checksum = $3 WHERE ask_id = $1 AND status = 'pending' AND escalated_at IS NULL`,
);
const responses = table<StoredResponse>('responses', {
  ...columns({ plain: 'response_id ask_id responded_at outcome signature' }),
  ...ANSWER,
});

const PENDING = statement(() => `${SELECT} WHERE status = 'pending'`);
/** No list and no count includes this status. The rest of the row stays as it was found. */
const SET_ASIDE = statement(`UPDATE prompts SET status = 'damaged' WHERE ask_id = $1 AND status = 'pending'`);

/** A sleeping run continues although its session has ended, so its questions are not orphans. */
const SLEEPS = `EXISTS (SELECT 1 FROM runs WHERE runs.session_id = prompts.session_id AND runs.status = 'sleeping')`;
const SET_ORPHANED = statement(
  `UPDATE prompts SET orphaned = $2 WHERE ${PENDING_OF} AND orphaned <> $2 AND ($2 = 0 OR NOT ${SLEEPS}) RETURNING ask_id`,
);
const MOVE = 'UPDATE prompts SET session_id = $2, agent = $3, orphaned = 0 WHERE';
const MOVE_PENDING = statement(`${MOVE} ${PENDING_OF} RETURNING ask_id`);
const MOVE_OWED = statement(
  `${MOVE} ask_id IN (SELECT subject FROM deliveries WHERE ${OWED}) RETURNING ask_id`,
);

export function promptStatements(sql: Sql, now: string): PromptRecords {
  /** The first intact rows of a query for `key`. */
  const first = async (query: Statement, key: string, limit: number): Promise<Prompt[]> =>
    readIntact(await sql.all(query, [key, limit + SPARE])).slice(0, limit);
  const deadlines = ([due, next]: [Statement, Statement]): Deadlines<Prompt> => ({
    due: (until, limit) => first(due, until, limit),
    next: () => firstTime(sql, next),
  });

  return {
    get: (ask_id) => one(sql, GET, [ask_id], readPrompt),
    intact: async (ask_id) => readIntact(await sql.all(GET, [ask_id]))[0],
    byKey: (session_id, key, fingerprint = null) =>
      one(sql, BY_KEY, [session_id, key, fingerprint], readPrompt),
    uncollectedOf: (session_id, limit) => first(UNCOLLECTED_OF, session_id, limit),
    async openOf(session_id, limit) {
      const params = [session_id, limit + SPARE];
      const found = await Promise.all([sql.all(UNCOLLECTED_OF, params), sql.all(PENDING_OF_SESSION, params)]);
      // Settled ones first: pending ones must not hide an answer, however many there are.
      return readIntact(found.flat()).slice(0, limit);
    },
    async countOpenOf(session_id) {
      const [row] = await sql.all(COUNT_OPEN_OF, [session_id]);
      return { settled: Number(row?.['settled'] ?? 0), pending: Number(row?.['pending'] ?? 0) };
    },
    countPendingUnder: (id, most) => numberIn(sql, PENDING_UNDER, [id, `${id}:`, `${id};`, most]),
    pendingOfTurn: async (turn_id) => readIntact(await sql.all(PENDING_OF_TURN, [turn_id])),
    expiries: deadlines(EXPIRIES),
    escalations: deadlines(ESCALATIONS),
    warnings: deadlines(WARNINGS),

    ...promptLists(sql, now),

    async escalate(prompt) {
      const { ask_id, escalated_at } = prompt;
      return (
        (await sql.run(ESCALATE, [ask_id, escalated_at, promptChecksums.ofEncoded(encode(prompt))])) === 1
      );
    },

    response: (response_id) => responses.get(sql, response_id),

    async insert(prompt) {
      const encoded = encode(prompt);
      await sql.change(INSERT, [...encoded, searchable(prompt), promptChecksums.ofEncoded(encoded)]);
    },

    async settle(prompt, at) {
      const { status, settled_at } = prompt;
      const params = [...changes(prompt), status, settled_at, at];
      return (await sql.run(SETTLE, params)) === 1;
    },

    update: (prompt) => sql.change(UPDATE, changes(prompt)),

    setTerminal: ({ ask_id, terminal_since }) => sql.change(SET_TERMINAL, [ask_id, terminal_since]),

    warned: async (ask_id) => (await sql.run(WARNED, [ask_id])) === 1,

    setBlocked: (prompt) => sql.change(SET_BLOCKED, [prompt.ask_id, prompt.blocked_since, orderKey(prompt)]),

    addResponse: (response) => responses.add(sql, response),

    damagedPending: async () =>
      (await sql.all(PENDING, []))
        .filter((row) => !promptChecksums.isIntact(row))
        .map((row) => String(row['ask_id'])),
    damaged: (after) => promptChecksums.damaged(sql, after),
    setAside: (ask_id) => sql.change(SET_ASIDE, [ask_id]),

    setOrphaned: (session_id, orphaned) => ids(sql, SET_ORPHANED, [session_id, orphaned ? 1 : 0], 'ask_id'),

    async move(from, { session_id, handle }) {
      const params = [from, session_id, handle];
      const pending = await ids(sql, MOVE_PENDING, params, 'ask_id');
      return [...pending, ...(await ids(sql, MOVE_OWED, params, 'ask_id'))];
    },
  };
}

/** The parameters of an UPDATE. */
function changes(prompt: Prompt): SqlValue[] {
  return [...mutable.encode(prompt), searchable(prompt), promptChecksums.ofEncoded(encode(prompt))];
}

/** Its columns, then its `order_key`. */
function encode(prompt: Prompt): SqlValue[] {
  return [...prompts.encode(prompt), orderKey(prompt)];
}

function searchable(prompt: Prompt): string {
  const { header, question, context, notes, agent, project, decision, comment, late_response } = prompt;
  const noted = notes.map(({ text }) => text);
  return searchText(
    header,
    question,
    context,
    ...noted,
    agent,
    project,
    decision,
    comment,
    late_response?.decision,
  );
}

// ---- Lists of prompts ----

const COUNT_BY_URGENCY = statement(
  `SELECT urgency, COUNT(*) AS n FROM prompts WHERE status = 'pending' GROUP BY urgency`,
);

/** The rows of each view, and their order: pending ones by `orderKey`, settled ones newest first. */
interface View {
  readonly where: string;
  readonly order: readonly (keyof Prompt | 'order_key')[];
  readonly direction: 'ASC' | 'DESC';
}
const IN_ORDER = { order: ['order_key'], direction: 'ASC' } as const;
const NEWEST_FIRST = { order: ['settled_at', 'ask_id'], direction: 'DESC' } as const;
/** The condition of the index prompts_settled; neither engine uses the index unless the query contains it. */
const SETTLED = 'settled_at IS NOT NULL';
const VIEWS: Readonly<Record<NonNullable<PromptFilter['status']> | 'all', View>> = {
  waiting: { where: `status = 'pending'`, ...IN_ORDER },
  pending: { where: `status = 'pending'`, ...IN_ORDER },
  responded: { where: `status = 'responded' AND ${SETTLED}`, ...NEWEST_FIRST },
  expired: { where: `status = 'expired' AND ${SETTLED}`, ...NEWEST_FIRST },
  cancelled: { where: `status = 'cancelled' AND ${SETTLED}`, ...NEWEST_FIRST },
  late: { where: 'late_response IS NOT NULL', ...NEWEST_FIRST },
  all: { where: '1 = 1', order: ['created_at', 'ask_id'], direction: 'DESC' },
};

function filtered(filter: Omit<PromptFilter, 'limit' | 'cursor'>, now: string): Conditions {
  const view = filter.status ?? 'all';
  return conditions(VIEWS[view].where)
    .and('(snoozed_until IS NULL OR snoozed_until <= ?)', view === 'waiting' ? now : undefined)
    .and('session_id = ?', filter.session_id)
    .and('agent = ?', filter.agent)
    .and('project = ?', filter.project)
    .and('prompts.kind = ?', filter.kind)
    .and(
      `recipients LIKE ? ESCAPE '\\'`,
      filter.to === undefined ? undefined : `%${escapeLike(JSON.stringify(foldName(filter.to)))}%`,
    )
    .and(
      `search_text LIKE ? ESCAPE '\\'`,
      filter.query === undefined ? undefined : likePattern(filter.query),
    );
}

/** Statements over one transaction. */
function promptLists(sql: Sql, now: string): Pick<PromptReads, 'list' | 'count' | 'countByUrgency'> {
  return {
    async list({ limit, cursor, ...filter }) {
      const view = VIEWS[filter.status ?? 'all'];
      const where = filtered(filter, now).after(
        view.order,
        view.direction,
        decodeCursor(
          cursor,
          view.order.map(() => 'string'),
        ),
      );
      const order = view.order.map((column) => `${column} ${view.direction}`).join(', ');
      const query = statement(`${SELECT} WHERE ${where.text} ORDER BY ${order} LIMIT ${where.next}`);
      const rows = await sql.all(query, [...where.params, limit + 1]);
      const page = pageOf(rows, limit, (last) => view.order.map((column) => last[column] ?? null));
      return { ...page, items: readIntact(page.items) };
    },

    count(filter) {
      const { text, params } = filtered(filter, now);
      return numberIn(sql, statement(`SELECT COUNT(*) AS n FROM prompts WHERE ${text}`), params);
    },

    async countByUrgency() {
      const counts: Record<Urgency, number> = { critical: 0, normal: 0, low: 0 };
      for (const row of await sql.all(COUNT_BY_URGENCY, []))
        counts[String(row['urgency']) as Urgency] = Number(row['n']);
      return counts;
    },
  };
}

// ---- Claims ----
// Which desk holds a prompt. The row in `prompts` names the human.

const LIVING = `EXISTS (SELECT 1 FROM desks WHERE desks.desk_id = claims.desk_id AND desks.lease_until > $1)`;
const HOLDER = statement(() => `SELECT desk_id FROM claims WHERE ${LIVING} AND ask_id = $2`);
const OF_DESK = statement('SELECT ask_id FROM claims WHERE desk_id = $1');
const LAPSED = statement(() => `SELECT ask_id FROM claims WHERE NOT ${LIVING} ORDER BY ask_id LIMIT $2`);
// A desk whose lease was removed counts as expired at the beginning of time.
const BEGINNING = new Date(0).toISOString();
const NEXT_LAPSE = statement(
  `SELECT MIN(COALESCE(desks.lease_until, '${BEGINNING}')) AS at FROM claims LEFT JOIN desks ON desks.desk_id = claims.desk_id`,
);
const PUT = statement(
  'INSERT INTO claims (ask_id, desk_id) VALUES ($1, $2) ON CONFLICT (ask_id) DO UPDATE SET desk_id = $2',
);
const REMOVE = statement('DELETE FROM claims WHERE ask_id = $1');

export function claimStatements(sql: Sql): ClaimRecords {
  return {
    holder: async (ask_id, now) => (await ids(sql, HOLDER, [now, ask_id], 'desk_id'))[0] ?? null,
    ofDesk: (desk_id) => ids(sql, OF_DESK, [desk_id], 'ask_id'),
    lapses: {
      due: (now, limit) => ids(sql, LAPSED, [now, limit], 'ask_id'),
      next: () => firstTime(sql, NEXT_LAPSE),
    },
    put: (ask_id, desk_id) => sql.change(PUT, [ask_id, desk_id]),
    remove: (ask_id) => sql.change(REMOVE, [ask_id]),
  };
}
