/** Reads the store past the program that wrote it: plain rows, by the engine's own client. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { ROLE_KEY } from '../../src/domain/prompts.ts';
import type { Snapshot, StoredRow } from './facts.ts';
import type { LastOfAll } from './world.ts';

const TABLES = {
  prompts: 'created_at, ask_id',
  responses: 'responded_at, response_id',
  events: 'seq',
  messages: 'seq',
  mentions: 'seq, mention_id',
  turns: 'number',
} as const;
type Table = keyof typeof TABLES;
/** Tables that are read with the receipts of their deliveries. */
const FROM: Partial<Record<Table, string>> = {
  prompts: `prompts LEFT JOIN (SELECT subject, handed_at, collected_at FROM deliveries) AS delivery ON subject = ask_id`,
};

const JSON_COLUMNS: ReadonlySet<string> = new Set([
  'data',
  'selected',
  'options',
  'late_response',
  'cancelled_prompts',
]);

/** `store`: a path, or an address with its schema. */
export function readSnapshot(store: string): Promise<Snapshot> {
  return store.includes('://') ? readPostgres(store) : readSqlite(store);
}

async function readSqlite(path: string): Promise<Snapshot> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    database.exec('BEGIN');
    const all = (sql: string): StoredRow[] => database.prepare(sql).all() as StoredRow[];
    // The rest of a damaged file is read: its losses are then named, one by one.
    const damage: string[] = [];
    const readable = async (sql: string): Promise<StoredRow[]> => {
      try {
        return all(sql);
      } catch (error) {
        damage.push(String(error));
        return [];
      }
    };
    const said = (await readable('PRAGMA integrity_check')).map((row) => String(row['integrity_check']));
    const rows = await readAll(readable);
    return { ...tables(rows), integrity: [...said, ...damage].join('; ') };
  } finally {
    database.close();
  }
}

async function readPostgres(address: string): Promise<Snapshot> {
  const url = new URL(address);
  const schema = url.searchParams.get('schema') ?? 'public';
  url.search = '';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL search_path TO "${schema}"`);
    const rows = await readAll(async (sql) => (await client.query(sql)).rows as StoredRow[]);
    return { ...tables(rows), integrity: 'ok' };
  } finally {
    await client.end();
  }
}

async function readAll(query: (sql: string) => Promise<StoredRow[]>): Promise<Map<Table, StoredRow[]>> {
  const found = new Map<Table, StoredRow[]>();
  for (const table of Object.keys(TABLES) as Table[])
    found.set(
      table,
      (await query(`SELECT * FROM ${FROM[table] ?? table} ORDER BY ${TABLES[table]}`)).map(decode),
    );
  return found;
}

function tables(rows: ReadonlyMap<Table, StoredRow[]>): Omit<Snapshot, 'integrity'> {
  const of = (table: Table): StoredRow[] => rows.get(table) ?? [];
  // The program asks by itself whether an agent may coordinate; nobody's log has these.
  const roles = new Set(
    of('prompts')
      .filter(isForRole)
      .map((row) => row['ask_id']),
  );
  const withoutRoles = (table: Table): StoredRow[] => of(table).filter((row) => !roles.has(row['ask_id']));
  return {
    prompts: withoutRoles('prompts'),
    responses: withoutRoles('responses'),
    events: of('events'),
    messages: of('messages'),
    mentions: of('mentions'),
    turns: of('turns'),
  };
}

function isForRole({ idempotency_key: key }: StoredRow): boolean {
  return typeof key === 'string' && key.startsWith(ROLE_KEY);
}

/** JSON is parsed, and 64-bit integers, which PostgreSQL's client gives as text, become numbers. */
function decode(row: StoredRow): StoredRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (JSON_COLUMNS.has(name) && typeof value === 'string') return [name, JSON.parse(value)];
      return [name, name === 'seq' || name === 'number' ? Number(value) : value];
    }),
  );
}

export function lastOf({ events }: Snapshot): LastOfAll {
  const posted = events.findLast(({ type }) => type === 'message/posted');
  return {
    head: Number(events.at(-1)?.['seq'] ?? 0),
    message:
      posted === undefined ? null : { message_id: String(posted['subject']), seq: Number(posted['seq']) },
  };
}
