/**
 * How many questions a second many processes get onto the disk, over one hive and over several in one database;
 * and of eight processes, how near that comes to what the engine does alone.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { postgresAddress } from '../../src/extensions/postgres/pool.ts';
import { openHive } from '../../src/open-hive.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { bundlePeers } from '../bundle.ts';
import { environment, start, storeIn, tempFolder } from '../children.ts';
import { type Effort, type Family, interleave, type Measurement } from '../harness.ts';
import { introduceBench } from '../session.ts';

/** In addition to the eight of the rows with a floor. */
const PROCESSES = [1, 4, 16] as const;
const EIGHT = 8;
const HIVES = [4, 16] as const;
/** A smoke run measures no more processes or hives than this. */
const MOST_IN_SMOKE = 4;
const ENGINES = ['SQLite', 'PostgreSQL'] as const;
const COMMITTER = 'committer.ts';
const BARE = 'bare-committer.ts';

/** The bundle of a program, once `measure` has made them. */
let bundleOf: (name: string) => string;

type Engine = (typeof ENGINES)[number];

export const processes: Family = {
  name: 'processes',
  rows: [
    ...ENGINES.flatMap((engine) => [...PROCESSES, EIGHT].map((n) => nameOf(n, engine))),
    ...ENGINES.map((engine) => leastName(engine)),
    ...HIVES.map((n) => `questions/s, ${n} hives in one database`),
  ],
  async measure(effort) {
    bundleOf = await bundlePeers(COMMITTER, BARE);
    const server = await startPostgres();
    try {
      const load_ms = effort === 'full' ? 3_000 : 500;
      const isMeasured = (n: number): boolean => effort === 'full' || n <= MOST_IN_SMOKE;
      const measured: Measurement[] = [];
      for (const engine of ENGINES) {
        const place = (name: string): string =>
          engine === 'SQLite' ? storeIn(tempFolder()) : server.address(name);
        for (const n of PROCESSES.filter(isMeasured)) {
          const times = await askOnce(Array<string>(n).fill(place(`processes_${n}`)), load_ms);
          measured.push(rate(nameOf(n, engine), times, load_ms), latency(times, n, engine));
        }
        measured.push(...(await besideTheEngine(engine, place, effort)));
      }
      for (const n of HIVES.filter(isMeasured)) {
        const each = Array.from({ length: n }, (_, hive) => server.address(`hives_${n}_${hive}`));
        measured.push(rate(`questions/s, ${n} hives in one database`, await askOnce(each, load_ms), load_ms));
      }
      return measured;
    } finally {
      await server.stop();
    }
  },
};

function nameOf(processes: number, engine: Engine): string {
  return `questions/s, ${processes} processes, ${engine}`;
}

function leastName(engine: Engine): string {
  return `the same beside two plain rows, ${engine}`;
}

/** Eight that ask, eight that write the same rows bare, eight that write two plain rows: in turn, each on a store of its own. */
async function besideTheEngine(
  engine: Engine,
  place: (name: string) => string,
  effort: Effort,
): Promise<Measurement[]> {
  const [rounds, slice_ms, warmup] = effort === 'full' ? [6, 350, 3] : [3, 250, 2];
  const eightOn = (store: string): string[] => Array<string>(EIGHT).fill(store);
  const crews = await Promise.all([
    crew(eightOn(await seeded(place('eight'))), [COMMITTER]),
    crew(eightOn(await seeded(place('eight_rows'))), [BARE, 'rows']),
    crew(eightOn(await withPlainTables(await seeded(place('eight_least')))), [BARE, 'least']),
  ]);
  const [ours, rows, least] = crews;
  const slices: number[][] = [];
  const perSecond = (times: readonly number[]): number => (times.length / slice_ms) * 1_000;
  const contenders = {
    async ours() {
      const times = await ours.commitFor(slice_ms);
      slices.push(times);
      return perSecond(times);
    },
    rows: async () => perSecond(await rows.commitFor(slice_ms)),
    least: async () => perSecond(await least.commitFor(slice_ms)),
  };
  // Eight processes share the time, so each has much less of it for warm-up than one alone.
  const rates = await interleave(rounds, contenders, warmup);
  for (const crew of crews) crew.dismiss();
  const shared = { unit: '/s', samples: rates.ours };
  return [
    { ...shared, name: nameOf(EIGHT, engine), floor: rates.rows, target: { of: 'ratio', at_least: 0.6 } },
    { ...shared, name: leastName(engine), floor: rates.least, target: null },
    latency(slices.slice(-rounds).flat(), EIGHT, engine),
  ];
}

/** A store with one question, which the bare processes write again. */
async function seeded(store: string): Promise<string> {
  const hive = await openHive({ store, env: {} });
  const session = await introduceBench(hive, 'seed');
  await hive.prompts.ask({ question: 'Drop the old sessions table after the migration?' }, session);
  await hive.close();
  return store;
}

async function withPlainTables(store: string): Promise<string> {
  const tables = (key: string): string => `
    CREATE TABLE bare_prompts (id ${key}, question TEXT NOT NULL);
    CREATE TABLE bare_events (seq ${key}, data TEXT NOT NULL)`;
  if (store.startsWith('postgres://')) {
    const { config, schema } = postgresAddress(store);
    const client = new pg.Client(config);
    await client.connect();
    await client.query(`SET search_path = "${schema}"; ${tables('BIGSERIAL PRIMARY KEY')}`);
    await client.end();
  } else {
    const database = new DatabaseSync(store);
    database.exec(tables('INTEGER PRIMARY KEY'));
    database.close();
  }
  return store;
}

/** Processes that commit together on command, and are idle in between. */
interface Crew {
  /** How long each commit took, in milliseconds. */
  commitFor(ms: number): Promise<number[]>;
  dismiss(): void;
}

/** One process for each named store. */
async function crew(
  stores: readonly string[],
  [program, ...args]: readonly [string, ...string[]],
): Promise<Crew> {
  const members = await Promise.all(
    stores.map(async (store) => {
      const child = start(process.execPath, [bundleOf(program), ...args], {
        env: environment(tempFolder(), { HIVE_STORE: store }),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      if (child.stdout === null) throw new Error('The committer has no stdout.');
      const lines = createInterface({ input: child.stdout });
      const gone = once(child, 'exit').then(([code]) => {
        throw new Error(`A process that commits ended with ${code} before it was told to.`);
      });
      // Once dismissed they end, and nobody reads their output.
      gone.catch(() => undefined);
      const said = async (): Promise<string> =>
        ((await Promise.race([once(lines, 'line'), gone])) as [string])[0];
      await said();
      return { child, said };
    }),
  );
  return {
    async commitFor(ms) {
      const times = members.map(async ({ said }) => JSON.parse(await said()) as number[]);
      for (const { child } of members) child.stdin?.write(`${ms}\n`);
      return (await Promise.all(times)).flat();
    },
    dismiss() {
      for (const { child } of members) child.stdin?.end();
    },
  };
}

/** One process for each store named, all of them asking for `load_ms`: how long each question took. */
async function askOnce(stores: readonly string[], load_ms: number): Promise<number[]> {
  const asking = await crew(stores, [COMMITTER]);
  const times = await asking.commitFor(load_ms);
  asking.dismiss();
  return times;
}

function rate(name: string, times: readonly number[], load_ms: number): Measurement {
  return {
    name,
    unit: '/s',
    samples: [(times.length / load_ms) * 1_000],
    floor: null,
    target: { of: 'p50', at_least: 50 },
  };
}

/** The time that one of them waits, as a point of the curve of processes. */
function latency(times: readonly number[], processes: number, engine: Engine): Measurement {
  return {
    name: `ask, ${processes} processes, ${engine}`,
    unit: 'ms',
    samples: times,
    floor: null,
    target: null,
    point: {
      curve: 'ask-processes',
      title: 'Asking, with so many processes that ask all the time',
      axis: 'processes',
      series: engine,
      x: processes,
    },
  };
}
