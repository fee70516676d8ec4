/**
 * A PostgreSQL server that loses power: it is stopped as by a crash, and its log is cut at random, at or after what it had
 * flushed when somebody was told. No data file changes between the last checkpoint and the cut, so each cut is a state in
 * which the disk may have been.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { randomOf } from '../chaos/random.ts';
import { startPostgres } from '../support/postgres.ts';
import { moment } from '../support/wait.ts';
import { steady } from './scenarios.ts';
import { missingIn, of } from './verify.ts';
import { type Fact, openWorld, type Told } from './world.ts';

/** So that nothing but the log is written until the crash. */
const SETTINGS = [
  'checkpoint_timeout=1d',
  'max_wal_size=4GB',
  'bgwriter_lru_maxpages=0',
  'autovacuum=off',
  'wal_recycle=off',
  'shared_buffers=128MB',
];
const SEGMENT = 16 * 1024 * 1024;
const SCHEMA = 'powerloss';

export async function crashPostgres({
  seed,
  cuts,
}: {
  seed: number;
  cuts: number;
}): Promise<{ text: string; problems: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'hive-powerloss-'));
  const server = await startPostgres({ settings: SETTINGS });
  const address = server.address(SCHEMA);
  const kept = `${server.data}-kept`;
  const problems: string[] = [];
  try {
    const world = openWorld({ folder, address });
    await world.hive(['status']);
    await steady.before?.(world);
    const client = await connect(server.port);
    await client.query('CHECKPOINT');
    const first = await flushed(client);
    const positions = notePositions(client, world.told);
    await steady.act(world);
    const told = await positions.end();
    const last = await flushed(client);
    await client.end();
    await world.close();
    await server.crash();
    copy(server.data, kept);
    const random = randomOf(seed, 'postgres');
    for (let count = 0; count < cuts; count += 1) {
      const position = count === 0 ? last : random.between(first, last + 1);
      rmSync(server.data, { recursive: true, force: true });
      copy(kept, server.data);
      cutLog(join(server.data, 'pg_wal'), position);
      await server.restart();
      const known = told.filter(({ at }) => at <= position).map(({ fact }) => fact);
      for (const problem of await problemsAfter(address, server.port, known))
        problems.push(`BROKEN postgres, its log cut at ${position}: ${problem}`);
      await server.crash();
    }
    const facts = told.length;
    return {
      text: `${problems.length === 0 ? 'ok    ' : 'BROKEN'} postgres         ${facts} facts, its log cut ${cuts} times within ${last - first} bytes`,
      problems,
    };
  } finally {
    await server.stop();
    for (const path of [folder, kept]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function connect(port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'hive', database: 'postgres' });
  // The server dies on purpose.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Up to where the log is on disk, as a number of bytes. */
async function flushed(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn AS at`);
  return Number(rows[0]?.at);
}

/** Asks again and again how much of the log is on disk: a fact was told when no more than what is asked next was. */
function notePositions(client: pg.Client, told: readonly Told[]): { end(): Promise<Told[]> } {
  const noted: Told[] = [];
  let over = false;
  const work = (async () => {
    for (;;) {
      const facts = told.slice(noted.length);
      const last = over;
      const at = await flushed(client);
      noted.push(...facts.map(({ fact }) => ({ at, fact })));
      if (last) return;
      await moment(1);
    }
  })();
  return {
    async end() {
      over = true;
      await work;
      return noted;
    },
  };
}

function copy(from: string, to: string): void {
  const done = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`The data could not be copied: ${done.stderr}`);
}

/** After this many bytes of log there is nothing. */
function cutLog(folder: string, position: number): void {
  const number = Math.floor(position / SEGMENT);
  const high = Math.floor((number * SEGMENT) / 2 ** 32);
  const low = number % (2 ** 32 / SEGMENT);
  const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');
  const name = `00000001${hex(high)}${hex(low)}`;
  for (const other of readdirSync(folder))
    if (/^[0-9A-F]{24}$/.test(other) && other > name) rmSync(join(folder, other));
  const path = join(folder, name);
  const { size } = statSync(path);
  // Cut off and made long again: what follows is zeros, as in a part of the file that was never written.
  truncateSync(path, position % SEGMENT);
  const file = openSync(path, 'r+');
  ftruncateSync(file, size);
  closeSync(file);
}

async function problemsAfter(address: string, port: number, told: readonly Fact[]): Promise<string[]> {
  const store = await openStore(openPostgresAt(address, {}), address);
  const event = { type: 'session/changed', session_id: null, subject: null, data: {} } as const;
  const next = await store.write(async (tx) => {
    await tx.events.append(event);
    return tx.events.head();
  });
  await store.close();
  const seen = Math.max(0, ...of(told, 'saw').map(({ seq }) => seq));
  const client = await connect(port);
  try {
    await client.query(`SET search_path TO "${SCHEMA}"`);
    const missing = await missingIn(async (sql) => (await client.query(sql)).rows, told);
    return [
      ...(next <= seen ? [`Number ${next} is used again: somebody has seen ${seen}.`] : []),
      ...missing,
    ];
  } finally {
    await client.end();
  }
}
