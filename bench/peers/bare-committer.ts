/**
 * The floor of committer.ts: the engine alone, without any code of Hive, on a store that has one question.
 * `rows` writes that question's row again under a new id, with an event whose number a counter's row gives: what reads
 * a log by its numbers needs them in the order of the commits. `least` writes a row of the same size and an event, into two
 * tables that have a key and no index. Each of the two is one durable transaction.
 */
import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { postgresAddress } from '../../src/extensions/postgres/pool.ts';
import { commitAtEachLine } from './commit-at-each-line.ts';

type Value = string | number | null;
type Row = Record<string, Value>;

/** The differences between the engines; a statement has `$1`, `$2`, … for its parameters, in this order. */
interface Engine {
  /** Waits for other writers. */
  begin(): Promise<void>;
  run(text: string, params: readonly Value[]): Promise<Row | undefined>;
  commit(): Promise<void>;
}

const [store = '', what] = [process.env['HIVE_STORE'], process.argv[2]];
const engine = store.startsWith('postgres://') ? await openPostgres(store) : openSqlite(store);
await commitAtEachLine(what === 'rows' ? await writingRows(engine) : await writingLeast(engine));
process.exit(0);

async function writingRows({ begin, run, commit }: Engine): Promise<() => Promise<void>> {
  const prompt = await theOne('prompts');
  const event = await theOne(`events WHERE type = 'prompt/created'`);
  const [prompts, events] = [insertion('prompts', prompt), insertion('events', event)];
  await begin();
  await run(
    `INSERT INTO counters (name, value) SELECT 'bare', MAX(seq) FROM events WHERE true ON CONFLICT (name) DO NOTHING`,
    [],
  );
  await commit();
  return async () => {
    await begin();
    const [ask_id, now] = [newId(), new Date().toISOString()];
    await run(prompts, Object.values({ ...prompt, ask_id, created_at: now }));
    const seq = (
      await run(`UPDATE counters SET value = value + 1 WHERE name = 'bare' RETURNING value`, [])
    )?.['value'];
    await run(events, Object.values({ ...event, seq: seq ?? null, at: now, subject: ask_id }));
    await commit();
  };

  async function theOne(from: string): Promise<Row> {
    const row = await run(`SELECT * FROM ${from} LIMIT 1`, []);
    if (row === undefined) throw new Error(`There is nothing in ${from} to write again.`);
    return row;
  }
}

async function writingLeast({ begin, run, commit }: Engine): Promise<() => Promise<void>> {
  const text = Object.values((await run('SELECT * FROM prompts LIMIT 1', [])) ?? {}).join(' ');
  const data = Object.values((await run('SELECT * FROM events LIMIT 1', [])) ?? {}).join(' ');
  return async () => {
    await begin();
    await run('INSERT INTO bare_prompts (question) VALUES ($1)', [text]);
    await run('INSERT INTO bare_events (data) VALUES ($1)', [data]);
    await commit();
  };
}

function insertion(table: string, row: Row): string {
  const columns = Object.keys(row);
  return `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')})
    VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`;
}

function newId(): string {
  return `ask-${randomBytes(8).toString('hex')}`;
}

/** Waits for the lock as the store does: the engine's own way lets some of eight wait for seconds. */
function openSqlite(path: string): Engine {
  const database = new DatabaseSync(path, { timeout: 0 });
  database.exec('PRAGMA synchronous = FULL');
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const isBusy = (error: unknown): boolean => (error as { errcode?: number }).errcode === 5;
  return {
    async begin() {
      let started: number | null = null;
      for (;;) {
        try {
          return database.exec('BEGIN IMMEDIATE');
        } catch (error) {
          if (!isBusy(error)) throw error;
          started ??= performance.now();
          if (performance.now() - started < 8) Atomics.wait(cell, 0, 0, 0.1 + Math.random() * 0.4);
          else await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 9));
        }
      }
    },
    async run(text, params) {
      let statement = prepared.get(text);
      if (statement === undefined) {
        statement = database.prepare(text.replace(/\$\d+/g, '?'));
        prepared.set(text, statement);
      }
      return statement.get(...params) as Row | undefined;
    },
    commit: async () => database.exec('COMMIT'),
  };
}

/** No lock of ours: the engine lets all of them write at once, and one fsync may serve several. */
async function openPostgres(address: string): Promise<Engine> {
  const { config, schema } = postgresAddress(address);
  const client = new pg.Client(config);
  await client.connect();
  await client.query(`SET search_path = "${schema}"; SET synchronous_commit = on`);
  const names = new Map<string, string>();
  return {
    begin: async () => void (await client.query('BEGIN')),
    async run(text, params) {
      const name = names.get(text) ?? `bare_${names.size}`;
      names.set(text, name);
      return (await client.query({ name, text, values: [...params] })).rows[0] as Row | undefined;
    },
    commit: async () => void (await client.query('COMMIT')),
  };
}
