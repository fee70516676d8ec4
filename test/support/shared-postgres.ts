/**
 * The PostgreSQL server that the files of a run share, started by the first that asks for it. It flushes nothing, so no test
 * that is about the disk or about the end of a server may use it: those start their own (postgres.ts).
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openHive } from '../../src/open-hive.ts';
import { whenFinished } from './lifetime.ts';
import { startPostgres } from './postgres.ts';
import { createCopies, SCHEMA } from './postgres-copies.ts';
import { runFolder } from './run-folder.ts';
import { eventually } from './wait.ts';

export interface SharedPostgres {
  readonly port: number;
  /** The name of the database that only this user of the server has. */
  readonly database: string;
  /** The address of a hive that is not there yet, in a schema of that database, which has a new name by default. */
  address(schema?: string): string;
  /** The address of a new, empty store in a database of its own, which lasts as long as the test. */
  freshStore(): Promise<string>;
}

/** The server that the first one leaves for the others. */
interface Started {
  port: number;
  pid: number;
  folder: string;
}

const LOCK = 'postgres.lock';
const STARTED = 'postgres.json';
const TEMPLATE = 'hive_template';
let users = 0;

/** A database of its own, which lasts as long as the test, or the file. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const { port } = await startedPostgres();
  users += 1;
  const database = `hive_${process.pid}_${users}`;
  const admin = new pg.Client(`postgres://hive@127.0.0.1:${port}/postgres`);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database} TEMPLATE template0 STRATEGY FILE_COPY`);
  const at = (name: string, schema: string): string =>
    `postgres://hive@127.0.0.1:${port}/${name}?schema=${schema}`;
  const copies = createCopies(admin, {
    template: TEMPLATE,
    prefix: database,
    connect: (name) => new pg.Client(`postgres://hive@127.0.0.1:${port}/${name}`),
  });
  whenFinished(async () => {
    await copies.drop();
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.end();
  });
  let schemas = 0;
  return {
    port,
    database,
    address: (schema = `hive_${++schemas}`) => at(database, schema),
    freshStore: async () => at(await copies.fresh(), SCHEMA),
  };
}

/** The server of the run, with a store to copy. */
async function startedPostgres(): Promise<Started> {
  const folder = runFolder();
  const file = join(folder, STARTED);
  try {
    writeFileSync(join(folder, LOCK), '', { flag: 'wx' });
  } catch {
    await eventually(() => existsSync(file), 60_000, 'the shared PostgreSQL');
    return JSON.parse(readFileSync(file, 'utf8')) as Started;
  }
  const settings = ['fsync=off', 'full_page_writes=off', 'autovacuum=off'];
  const server = await startPostgres({ settings, outlivesFile: true });
  const admin = new pg.Client(`postgres://hive@127.0.0.1:${server.port}/postgres`);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const address = `postgres://hive@127.0.0.1:${server.port}/${TEMPLATE}?schema=${SCHEMA}`;
  await (await openHive({ store: address, env: {} })).close();
  const started: Started = { port: server.port, pid: server.pid, folder: server.folder };
  writeFileSync(`${file}.new`, JSON.stringify(started));
  renameSync(`${file}.new`, file);
  return started;
}

/** Ends the server of a run, if one was started. */
export async function stopSharedPostgres(run: string): Promise<void> {
  const file = join(run, STARTED);
  if (!existsSync(file)) return;
  const { pid, folder } = JSON.parse(readFileSync(file, 'utf8')) as Started;
  process.kill(pid, 'SIGQUIT');
  await eventually(() => !existsSync(`/proc/${pid}`), 60_000, 'the end of the shared PostgreSQL');
  rmSync(folder, { recursive: true, force: true });
}
