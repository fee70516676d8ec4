/** Both engines side by side in one run: asking, the way back to a wait, and what a standby costs. */
import pg from 'pg';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { storeIn, tempFolder } from '../children.ts';
import { type Family, interleave, type Measurement, timed } from '../harness.ts';
import { introduceBench } from '../session.ts';

const HUMAN = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
const question = 'Drop the old sessions table after the migration?';
const ASLEEP_MS = 20;

export const engines: Family = {
  name: 'engines',
  rows: [
    'ask, PostgreSQL : SQLite',
    'answer → wait, PostgreSQL : SQLite',
    'ask, PostgreSQL with a synchronous standby',
  ],
  async measure(effort) {
    const full = effort === 'full';
    const server = await startPostgres();
    try {
      const pairs = await compare(tempFolder(), server.address('latency'), full);
      return [...pairs, await withStandby(full)];
    } finally {
      await server.stop();
    }
  },
};

/** Hives of two processes on each engine, asked in turn. */
async function compare(folder: string, postgres: string, full: boolean): Promise<Measurement[]> {
  const open = async (store: string): Promise<Pair> => {
    const [agent, desk] = [await openHive({ store, env: {} }), await openHive({ store, env: {} })];
    return { agent, desk, session: await introduceBench(agent, 'bench') };
  };
  const [here, there] = [await open(storeIn(folder)), await open(postgres)];
  const asks = await interleave(full ? 400 : 40, {
    sqlite: () => timed(() => here.agent.prompts.ask({ question }, here.session)),
    postgres: () => timed(() => there.agent.prompts.ask({ question }, there.session)),
  });
  const wakes = await interleave(full ? 150 : 20, { sqlite: () => wake(here), postgres: () => wake(there) });
  for (const { agent, desk } of [here, there]) {
    await agent.close();
    await desk.close();
  }
  return [
    {
      name: 'ask, PostgreSQL : SQLite',
      unit: 'ms',
      samples: asks.postgres,
      floor: asks.sqlite,
      target: { of: 'ratio', at_most: 12 },
    },
    {
      name: 'answer → wait, PostgreSQL : SQLite',
      unit: 'ms',
      samples: wakes.postgres,
      floor: wakes.sqlite,
      target: { of: 'ratio', at_most: 12 },
    },
  ];
}

/** A commit that also waits for the disk of a standby, compared with one that does not. */
async function withStandby(full: boolean): Promise<Measurement> {
  const [alone, primary] = [await startPostgres(), await startPostgres()];
  const standby = await startPostgres({ standbyOf: primary });
  try {
    await makeSynchronous(primary.port);
    const asker = async (store: string): Promise<{ hive: OpenedHive; ask: () => Promise<number> }> => {
      const hive = await openHive({ store, env: {} });
      const session = await introduceBench(hive, 'bench');
      return { hive, ask: () => timed(() => hive.prompts.ask({ question }, session)) };
    };
    const [one, two] = [await asker(alone.address('alone')), await asker(primary.address('replicated'))];
    const { replicated, single } = await interleave(full ? 300 : 30, {
      replicated: two.ask,
      single: one.ask,
    });
    await Promise.all([one.hive.close(), two.hive.close()]);
    return {
      name: 'ask, PostgreSQL with a synchronous standby',
      unit: 'ms',
      samples: replicated,
      floor: single,
      target: { of: 'ratio', at_most: 4 },
    };
  } finally {
    await Promise.all([alone.stop(), standby.stop()]);
    await primary.stop();
  }
}

async function makeSynchronous(port: number): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'hive', database: 'postgres' });
  await client.connect();
  await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
  await client.query('SELECT pg_reload_conf()');
  for (;;) {
    const { rows } = await client.query('SELECT sync_state FROM pg_stat_replication');
    if ((rows[0] as { sync_state?: string } | undefined)?.sync_state === 'sync') break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await client.end();
}

interface Pair {
  agent: OpenedHive;
  desk: OpenedHive;
  session: Awaited<ReturnType<OpenedHive['sessions']['introduce']>>;
}

async function wake({ agent, desk, session }: Pair): Promise<number> {
  const { prompt } = await agent.prompts.ask({ question }, session);
  const woken = agent.prompts.wait([prompt.ask_id], { wait_ms: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, ASLEEP_MS));
  const started = performance.now();
  await desk.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
  await woken;
  return performance.now() - started;
}
