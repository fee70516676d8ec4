/** The lists of prompts: what each view shows, page by page, and how many there are. */
import type { PromptFilter, PromptReads } from '../../application/ports.ts';
import { foldName } from '../../domain/humans.ts';
import type { Prompt, Urgency } from '../../domain/prompts.ts';
import {
  type Conditions,
  conditions,
  decodeCursor,
  encodeCursor,
  escapeLike,
  likePattern,
} from './conditions.ts';
import { LIST, unseal } from './prompt-rows.ts';
import { type Sql, statement } from './sql.ts';

const COUNT_BY_URGENCY = statement(
  `SELECT urgency, COUNT(*) AS n FROM prompts WHERE status = 'pending' GROUP BY urgency`,
);

/** What each view shows, and in which order: what waits by urgency and age, what is settled newest first. */
interface View {
  readonly where: string;
  readonly order: readonly (keyof Prompt | 'urgency_rank')[];
  readonly direction: 'ASC' | 'DESC';
}
const BY_URGENCY = { order: ['urgency_rank', 'created_at', 'ask_id'], direction: 'ASC' } as const;
const NEWEST_FIRST = { order: ['settled_at', 'ask_id'], direction: 'DESC' } as const;
/** What prompts_settled holds: without it in the query neither engine takes that index. */
const SETTLED = 'settled_at IS NOT NULL';
const VIEWS: Readonly<Record<NonNullable<PromptFilter['status']> | 'all', View>> = {
  waiting: { where: `status = 'pending'`, ...BY_URGENCY },
  pending: { where: `status = 'pending'`, ...BY_URGENCY },
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
    .and('kind = ?', filter.kind)
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
export function promptLists(sql: Sql, now: string): Pick<PromptReads, 'list' | 'count' | 'countByUrgency'> {
  return {
    async list({ limit, cursor, ...filter }) {
      const view = VIEWS[filter.status ?? 'all'];
      const where = filtered(filter, now).after(
        view.order,
        view.direction,
        decodeCursor(cursor, view.order.length),
      );
      const order = view.order.map((column) => `${column} ${view.direction}`).join(', ');
      const query = statement(
        `SELECT ${LIST}, urgency_rank FROM prompts WHERE ${where.text} ORDER BY ${order} LIMIT ${where.next}`,
      );
      const rows = await sql.all(query, [...where.params, limit + 1]);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const more = rows.length > limit && last !== undefined;
      return {
        items: page.map(unseal),
        next_cursor: more ? encodeCursor(view.order.map((column) => last[column] ?? null)) : null,
      };
    },

    async count(filter) {
      const where = filtered(filter, now);
      const [row] = await sql.all(
        statement(`SELECT COUNT(*) AS n FROM prompts WHERE ${where.text}`),
        where.params,
      );
      return Number(row?.['n'] ?? 0);
    },

    async countByUrgency() {
      const counts: Record<Urgency, number> = { critical: 0, normal: 0, low: 0 };
      for (const row of await sql.all(COUNT_BY_URGENCY, []))
        counts[String(row['urgency']) as Urgency] = Number(row['n']);
      return counts;
    },
  };
}
