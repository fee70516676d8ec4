/**
 * What a history of a million settled questions costs those who ask and wait, on both engines: beside it the same
 * with a thousand. The history is loaded in bulk, as rows that differ in their ids and times.
 */

import type { Hive } from '../../src/application/hive.ts';
import { openPostgresAt } from '../../src/infrastructure/store/postgres.ts';
import { type Driver, statement } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { openHive } from '../../src/open-hive.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { storeIn, tempFolder } from '../children.ts';
import { type Family, interleave, type Measurement, timed } from '../harness.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
const question = 'Drop the old sessions table after the migration?';
const FEW = 1_000;
/** PostgreSQL ends a statement of ours after 10 s. */
const BATCH = 10_000;
const ASLEEP_MS = 20;
const ENGINES = ['SQLite', 'PostgreSQL'] as const;
const MANY = 1_000_000;

export const growth: Family = {
  name: 'growth',
  rows: ENGINES.flatMap((engine) => [
    `ask, 1,000,000 settled, ${engine}`,
    `answer → wait, 1,000,000 settled, ${engine}`,
  ]),
  async measure(effort) {
    const full = effort === 'full';
    const many = full ? MANY : FEW * 10;
    const server = await startPostgres();
    try {
      const sqlite = [storeIn(tempFolder()), storeIn(tempFolder())] as const;
      const postgres = [server.address('many'), server.address('few')] as const;
      return [
        ...(await compare('SQLite', sqlite, many, full)),
        ...(await compare('PostgreSQL', postgres, many, full)),
      ];
    } finally {
      await server.stop();
    }
  },
};

interface Grown {
  agent: Hive;
  desk: Hive;
  session: Awaited<ReturnType<Hive['sessions']['introduce']>>;
}

async function compare(
  engine: (typeof ENGINES)[number],
  [large, small]: readonly [string, string],
  settled: number,
  full: boolean,
): Promise<Measurement[]> {
  const [many, few] = [await grow(large, settled), await grow(small, FEW)];
  const asks = await interleave(full ? 300 : 30, { many: () => ask(many), few: () => ask(few) });
  const wakes = await interleave(full ? 150 : 20, { many: () => wake(many), few: () => wake(few) });
  for (const { agent, desk } of [many, few]) {
    await agent.close();
    await desk.close();
  }
  const count = settled.toLocaleString('en');
  const row = (name: string, samples: Record<'many' | 'few', number[]>): Measurement => ({
    name: `${name}, ${count} settled, ${engine}`,
    unit: 'ms',
    samples: samples.many,
    floor: samples.few,
    target: { of: 'ratio', at_most: 1.5 },
  });
  return [row('ask', asks), row('answer → wait', wakes)];
}

/** A hive with so many settled questions: copies of one that was asked, answered and collected. */
async function grow(store: string, settled: number): Promise<Grown> {
  const [agent, desk] = [await openHive({ store, env: {} }), await openHive({ store, env: {} })];
  const session = await agent.sessions.introduce({
    session_id: 'bench',
    client: 'bench',
    source: 'main',
    project: 'bench',
    project_dir: '/bench',
    branch: null,
    parent_session_id: null,
    machine: 'bench',
    pid: null,
  });
  const { prompt } = await agent.prompts.ask({ question }, session);
  await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
  await agent.delivery.hand([prompt.ask_id], 'bench');
  await agent.delivery.collect('bench', '9999-12-31T23:59:59.999Z');
  const driver: Driver = store.includes('://') ? openPostgresAt(store, {}) : openSqlite(store);
  try {
    await copyRows(driver, prompt.ask_id, settled);
  } finally {
    await driver.close();
  }
  return { agent, desk, session };
}

async function copyRows(driver: Driver, ask_id: string, settled: number): Promise<void> {
  const [row] = await driver.read((sql) =>
    sql.all(statement('SELECT * FROM prompts WHERE ask_id = $1'), [ask_id]),
  );
  const columns = Object.keys(row ?? {}).map((column) => `"${column}"`);
  /** Each a second after the one before, so that indexes by time grow as they do in life. */
  const values = columns.map((column) =>
    column === '"ask_id"'
      ? `'bulk-' || CAST(i AS TEXT)`
      : /_at"$/.test(column)
        ? `CASE WHEN ${column} IS NULL THEN NULL ELSE $4 END`
        : column,
  );
  const copy = statement(
    `INSERT INTO prompts (${columns.join(', ')})
     WITH RECURSIVE n(i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2)
     SELECT ${values.join(', ')} FROM prompts, n WHERE ask_id = $3`,
  );
  for (let from = 0; from < settled; from += BATCH) {
    const at = new Date(Date.UTC(2026, 0, 1) + from * 1_000).toISOString();
    const last = Math.min(from + BATCH, settled) - 1;
    await driver.write((sql) => sql.run(copy, [from, last, ask_id, at]));
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
