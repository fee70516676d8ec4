/**
 * The one door to the store, over either driver: gives each transaction its statements, rings the bell
 * after a commit that appended an event, and knows the store's identity.
 */
import type { ReadTx, Store, WriteTx } from '../../application/ports.ts';
import { randomIds } from '../platform/ids.ts';
import { deskStatements } from './desks.ts';
import { eventStatements } from './events.ts';
import { gateStatements } from './gates.ts';
import { loopStatements } from './loops.ts';
import { mentionStatements } from './mentions.ts';
import { messageStatements } from './messages.ts';
import { migrate, SCHEMA_VERSION, schemaVersion, tooNew } from './migrations.ts';
import { outreachStatements } from './outreach.ts';
import { printStatements } from './prints.ts';
import { promptStatements } from './prompts.ts';
import { sessionStatements } from './sessions.ts';
import { type Driver, type Sql, statement } from './sql.ts';
import { tokenStatements } from './tokens.ts';
import { turnStatements } from './turns.ts';

const LEDGER_EXISTS = statement('SELECT number FROM migrations LIMIT 1');
const META = statement('SELECT value FROM meta WHERE name = $1');
const SET_META = statement('INSERT INTO meta (name, value) VALUES ($1, $2)');

/**
 * Opens a store: refuses one that is too new, migrates one that is older, once however many processes start.
 * @throws HiveError `store_too_new`, `store_busy`, `store_unavailable`.
 */
export async function openStore(driver: Driver, where: string): Promise<Store> {
  const found = await driver.inspect(currentVersion);
  if (found > SCHEMA_VERSION) throw tooNew(where, found);
  if (found < SCHEMA_VERSION) await driver.write(migrateAndName);
  const store_id = await driver.inspect(readStoreId);

  return {
    store_id,
    async write(work) {
      let appended = false;
      const result = await driver.write((sql, now) =>
        work(
          writeTx(sql, now, () => {
            appended = true;
          }),
        ),
      );
      if (appended) driver.ring();
      return result;
    },
    read: (work) => driver.read((sql, now) => work(writeTx(sql, now, refuseAppend))),
    watch: (listener) => driver.watch(listener),
    close: () => driver.close(),
  };
}

/**
 * The statements of every capability over one transaction; a `ReadTx` is the same seen through a narrower type.
 * Each capability's come with its first use: a transaction needs two or three, and `hive hook` runs only one.
 */
function writeTx(sql: Sql, now: string, onAppend: () => void): WriteTx & ReadTx {
  return lazily({
    now: () => now,
    prompts: () => promptStatements(sql, now),
    sessions: () => sessionStatements(sql, now),
    turns: () => turnStatements(sql),
    messages: () => messageStatements(sql),
    mentions: () => mentionStatements(sql, now),
    loops: () => loopStatements(sql),
    desks: () => deskStatements(sql, now),
    gates: () => gateStatements(sql),
    tokens: () => tokenStatements(sql),
    outreach: () => outreachStatements(sql),
    prints: () => printStatements(sql),
    events: () => eventStatements(sql, now, onAppend),
  });
}

/** An object each of whose fields is made when it is first read. */
function lazily<T extends object>(makers: { readonly [Name in keyof T]: () => T[Name] }): T {
  const made = {} as T;
  for (const name of Object.keys(makers) as (keyof T)[]) {
    Object.defineProperty(made, name, {
      configurable: true,
      get() {
        const value = makers[name]();
        Object.defineProperty(made, name, { value });
        return value;
      },
    });
  }
  return made;
}

function refuseAppend(): never {
  throw new Error('An event was appended inside a read.');
}

async function currentVersion(sql: Sql): Promise<number> {
  try {
    await sql.all(LEDGER_EXISTS, []);
  } catch {
    // A store that was linked into place a moment ago has no table yet.
    return 0;
  }
  return schemaVersion(sql);
}

async function migrateAndName(sql: Sql, now: string): Promise<void> {
  await migrate(sql, now);
  const [row] = await sql.all(META, ['store_id']);
  if (row === undefined) await sql.run(SET_META, ['store_id', randomIds.make('store')]);
}

async function readStoreId(sql: Sql): Promise<string> {
  const [row] = await sql.all(META, ['store_id']);
  return String(row?.['value']);
}
