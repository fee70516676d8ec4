/**
 * The statements of history. Each kind is read by its own index of time, newest first, until the page is full. Words are
 * searched in `search_text`, which JavaScript has normalised in the same way for both engines.
 */
import type { HistoryFilter, HistoryReads } from '../../application/ports.ts';
import { atPlaceOf, type HistoryEntry, newestFirst } from '../../domain/history.ts';
import type { Prompt } from '../../domain/prompts.ts';
import {
  conditions,
  decodeCursor,
  decodeIntact,
  likePattern,
  pageOf,
  parseStored,
  type Row,
  type Sql,
  type SqlValue,
  statement,
  titleIn,
  titleOfSession,
} from './sql.ts';

interface Source {
  kind: HistoryEntry['kind'];
  /** The columns under the names of an entry. */
  select: string;
  order: readonly [at: string, id: string];
  /** The beginning of its ids. */
  prefix: string;
  agent: string;
}

const SOURCES: readonly Source[] = [
  {
    kind: 'prompt',
    select: `ask_id AS id, created_at AS at, agent, source, project, question AS text, status, decision, "by", attested, late_response,
      ${titleOfSession('prompts')} FROM prompts`,
    order: ['created_at', 'ask_id'],
    prefix: 'ask',
    agent: 'agent',
  },
  {
    kind: 'message',
    select: `message_id AS id, at, from_handle AS agent, project, body AS text,
      (SELECT source FROM sessions WHERE sessions.session_id = messages.session_id) AS source,
      CAST(NULL AS TEXT) AS status, CAST(NULL AS TEXT) AS decision, "by", 0 AS attested,
      CAST(NULL AS TEXT) AS late_response, ${titleOfSession('messages')} FROM messages`,
    order: ['at', 'message_id'],
    prefix: 'msg',
    agent: 'from_handle',
  },
];

export function historyStatements(sql: Sql): HistoryReads {
  async function read(
    { kind, select, order, prefix, agent }: Source,
    filter: HistoryFilter,
    cursor: SqlValue[] | null,
  ): Promise<HistoryEntry[]> {
    const [at] = order;
    const after = cursor && [cursor[0] ?? null, atPlaceOf(String(cursor[1]), prefix)];
    const where = conditions('1 = 1')
      .and(`${agent} = ?`, filter.agent)
      .and('project = ?', filter.project)
      .and(`${at} >= ?`, filter.since)
      .and(`${at} < ?`, filter.until)
      .and(
        `search_text LIKE ? ESCAPE '\\'`,
        filter.query === undefined ? undefined : likePattern(filter.query),
      )
      .after(order, 'DESC', after);
    const sorted = order.map((column) => `${column} DESC`).join(', ');
    const text = `SELECT ${select} WHERE ${where.text} ORDER BY ${sorted} LIMIT ${where.next}`;
    const rows = await sql.all(statement(text), [...where.params, filter.limit + 1]);
    return rows.map((row) => toEntry(kind, row));
  }

  return {
    async search(filter) {
      const cursor = decodeCursor(filter.cursor, ['string', 'string']);
      const found: HistoryEntry[] = [];
      for (const source of SOURCES) found.push(...(await read(source, filter, cursor)));
      const newest = found.sort(newestFirst).slice(0, filter.limit + 1);
      return pageOf(newest, filter.limit, ({ at, id }) => [at, id]);
    },
  };
}

function toEntry(kind: HistoryEntry['kind'], row: Row): HistoryEntry {
  const text = (name: string): string | null =>
    row[name] === null || row[name] === undefined ? null : String(row[name]);
  const [late = null] = decodeIntact([row], ({ late_response = null }) =>
    late_response === null ? null : (parseStored(late_response) as Prompt['late_response']),
  );
  return {
    kind,
    id: String(row['id']),
    at: String(row['at']),
    agent: String(row['agent']),
    agent_title: titleIn(row),
    source: text('source') as HistoryEntry['source'],
    project: text('project'),
    text: String(row['text']),
    status: text('status'),
    decision: late?.decision ?? text('decision'),
    by: late?.by ?? text('by'),
    attested: late?.attested ?? row['attested'] === 1,
  };
}
