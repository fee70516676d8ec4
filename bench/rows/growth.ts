/**
 * The cost of a store that has grown, for those who ask and wait, on both engines: up to a million settled questions, and
 * up to ten thousand that nobody has answered. They are loaded in bulk, as rows that differ in their ids and times.
 */

import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { type Driver, statement } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { storeIn, tempFolder } from '../children.ts';
import { type Family, interleave, type Measurement, timed } from '../harness.ts';
import { introduceBench } from '../session.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
const question = 'Drop the old sessions table after the migration?';
/** PostgreSQL ends a statement of ours after 10 s. */
const BATCH = 10_000;
const ASLEEP_MS = 20;
const ENGINES = ['SQLite', 'PostgreSQL'] as const;
const MILLION = 1_000_000;

/** The questions whose number grows. */
const KINDS = [
  { state: 'settled', sizes: [1_000, 10_000, 100_000, MILLION], at_most: 1.5 },
  { state: 'pending', sizes: [10, 100, 1_000, 10_000], at_most: 2 },
] as const;
type Kind = (typeof KINDS)[number];

export const growth: Family = {
  name: 'growth',
  rows: KINDS.flatMap(({ state, sizes }) =>
    ENGINES.flatMap((engine) =>
      ['ask', 'answer → wait'].map((what) => nameOf(what, sizes[3], state, engine)),
    ),
  ),
  async measure(effort) {
    const server = await startPostgres();
    try {
      const rows: Measurement[] = [];
      for (const kind of KINDS) {
        for (const engine of ENGINES) {
          const open = (size: number): string =>
            engine === 'SQLite' ? storeIn(tempFolder()) : server.address(`${kind.state}_${size}`);
          rows.push(...(await measureGrowth(engine, kind, open, effort === 'full')));
        }
      }
      return rows;
    } finally {
      await server.stop();
    }
  },
};

function nameOf(what: string, size: number, state: string, engine: string): string {
  return `${what}, ${size.toLocaleString('en')} ${state}, ${engine}`;
}

interface Grown {
  agent: OpenedHive;
  desk: OpenedHive;
  session: Awaited<ReturnType<OpenedHive['sessions']['introduce']>>;
}

/** A row for each size; the largest is compared with the smallest. */
async function measureGrowth(
  engine: (typeof ENGINES)[number],
  { state, sizes, at_most }: Kind,
  open: (size: number) => string,
  full: boolean,
): Promise<Measurement[]> {
  const chosen = full ? sizes : sizes.slice(0, 2);
  const hives = new Map<string, Grown>();
  for (const size of chosen) hives.set(String(size), await grow(open(size), size, state));
  const each = (work: (hive: Grown) => Promise<number>) =>
    Object.fromEntries([...hives].map(([size, hive]) => [size, () => work(hive)]));
  const measured = {
    ask: await interleave(full ? 300 : 30, each(ask)),
    'answer → wait': await interleave(full ? 150 : 20, each(wake)),
  };
  for (const { agent, desk } of hives.values()) {
    await agent.close();
    await desk.close();
  }
  return Object.entries(measured).flatMap(([what, samples]) =>
    chosen.map((size): Measurement => {
      const largest = size === chosen.at(-1);
      return {
        name: nameOf(what, size, state, engine),
        unit: 'ms',
        samples: samples[String(size)] ?? [],
        floor: largest ? (samples[String(chosen[0])] ?? []) : null,
        target: largest ? { of: 'ratio', at_most } : null,
        point: {
          curve: `${what === 'ask' ? 'ask' : 'answer'}-${state}`,
          title: `${what === 'ask' ? 'Asking' : 'From the answer to who waits for it'}, with so many questions ${state}`,
          axis: `questions ${state}`,
          series: engine,
          x: size,
        },
      };
    }),
  );
}

/** A hive with this many questions in that state: copies of one that was asked, and answered and collected if settled. */
async function grow(store: string, count: number, state: Kind['state']): Promise<Grown> {
  const [agent, desk] = [await openHive({ store, env: {} }), await openHive({ store, env: {} })];
  const session = await introduceBench(agent, 'bench');
  const { prompt } = await agent.prompts.ask({ question }, session);
  if (state === 'settled') {
    await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    await agent.delivery.hand([prompt.ask_id], 'bench');
    await agent.delivery.collect('bench');
  }
  const driver: Driver = store.includes('://') ? openPostgresAt(store, {}) : openSqlite(store);
  try {
    await copyRows(driver, prompt.ask_id, count);
  } finally {
    await driver.close();
  }
  return { agent, desk, session };
}

async function copyRows(driver: Driver, ask_id: string, count: number): Promise<void> {
  await copyOf(driver, 'prompts', 'ask_id', ask_id, count);
  await copyOf(driver, 'deliveries', 'subject', ask_id, count);
}

async function copyOf(driver: Driver, table: string, key: string, id: string, count: number): Promise<void> {
  const [row] = await driver.read((sql) =>
    sql.all(statement(`SELECT * FROM ${table} WHERE ${key} = $1`), [id]),
  );
  if (row === undefined) return;
  const columns = Object.keys(row).map((column) => `"${column}"`);
  /** Each is a second later than the one before, so that indexes by time grow as in real use. */
  const values = columns.map((column) =>
    column === `"${key}"`
      ? `'bulk-' || CAST(i AS TEXT)`
      : column === '"checksum"'
        ? 'NULL'
        : /_at"$/.test(column)
          ? `CASE WHEN ${column} IS NULL THEN NULL ELSE $4 END`
          : column,
  );
  const copy = statement(
    `INSERT INTO ${table} (${columns.join(', ')})
     WITH RECURSIVE n(i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2)
     SELECT ${values.join(', ')} FROM ${table}, n WHERE ${key} = $3`,
  );
  for (let from = 0; from < count; from += BATCH) {
    const at = new Date(Date.UTC(2026, 0, 1) + from * 1_000).toISOString();
    const last = Math.min(from + BATCH, count) - 1;
    await driver.write((sql) => sql.run(copy, [from, last, id, at]));
  }
}

function ask({ agent, session }: Grown): Promise<number> {
  return timed(() => agent.prompts.ask({ question }, session));
}

async function wake({ agent, desk, session }: Grown): Promise<number> {
  const { prompt } = await agent.prompts.ask({ question }, session);
  const woken = agent.prompts.wait([prompt.ask_id], { wait_ms: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, ASLEEP_MS));
  return timed(async () => {
    await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    await woken;
  });
}
