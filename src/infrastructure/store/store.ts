/**
 * The one door to the store, over either driver: gives each transaction its statements, rings the bell
 * after a commit that appended an event, and knows the store's identity.
 */
import type { ReadTx, Store, WriteTx } from '../../application/ports.ts';
import { HiveError } from '../../domain/errors.ts';
import { randomIds } from '../platform/ids.ts';
import { claimStatements } from './claims.ts';
import { deskStatements } from './desks.ts';
import { eventStatements } from './events.ts';
import { gateStatements } from './gates.ts';
import { historyStatements } from './history.ts';
import { humanStatements } from './humans.ts';
import { loopStatements } from './loops.ts';
import { mentionStatements } from './mentions.ts';
import { messageStatements } from './messages.ts';
import { migrate, SCHEMA_VERSION, tooNew } from './migrations.ts';
import { outreachStatements } from './outreach.ts';
import { printStatements } from './prints.ts';
import { promptStatements } from './prompts.ts';
import { sessionStatements } from './sessions.ts';
import { type Driver, type Sql, statement } from './sql.ts';
import { tokenStatements } from './tokens.ts';
import { turnStatements } from './turns.ts';
import { wakerStatements } from './wakers.ts';

const IDENTITY = statement(
  `SELECT (SELECT MAX(number) FROM migrations) AS version, (SELECT value FROM meta WHERE name = 'store_id') AS store_id`,
);
const NAME = statement('INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING');

/**
 * Opens a store: refuses one that is too new, migrates one that is older, once however many processes start.
 * @throws HiveError `store_too_new`, `store_busy`, `store_unavailable`.
 */
export async function openStore(driver: Driver, where: string): Promise<Store> {
  const found = await driver.inspect(identify);
  if (found.version > SCHEMA_VERSION) throw tooNew(where, found.version);
  if (found.version < SCHEMA_VERSION) await driver.write(migrateAndName);
  const { store_id } = found.version === SCHEMA_VERSION ? found : await driver.inspect(identify);
  let closed = false;

  async function write<T>(
    work: (tx: WriteTx) => Promise<T>,
    tells: ((result: T, announced: boolean) => boolean) | null,
  ): Promise<T> {
    if (closed) throw closedError(where);
    let appended = false;
    const onAppend = (): void => {
      appended = true;
    };
    return driver.write((sql, now) => work(writeTx(sql, now, onAppend)), {
      rings: () => appended,
      waits: tells === null ? undefined : (result) => tells(result, appended),
    });
  }

  return {
    store_id,
    write: (work) => write(work, null),
    writeReceipt: (work, tells = () => false) => write(work, tells),
    async read(work) {
      if (closed) throw closedError(where);
      return driver.read((sql, now) => work(writeTx(sql, now, refuseAppend)));
    },
    watch: (listener) => driver.watch(listener),
    async close() {
      closed = true;
      await driver.close();
    },
    leave: () => driver.leave(),
  };
}

/** Said by us: an engine would speak of its own connection, and SQLite could even open one anew. */
function closedError(where: string): HiveError {
  return new HiveError(
    'cancelled',
    `The store ${where} was closed by this program: nothing was read or written.`,
  );
}

/**
 * The statements of every capability over one transaction; a `ReadTx` is the same seen through a narrower type.
 * Each capability's come with its first use: a transaction needs two or three, and `hive hook` runs only one.
 */
function writeTx(sql: Sql, now: string, onAppend: () => void): WriteTx & ReadTx {
  const made: { -readonly [Name in keyof WriteTx]?: WriteTx[Name] } = {};
  // Getters of one literal: defining them one by one took 90 µs a call.
  return {
    now,
    get prompts() {
      made.prompts ??= promptStatements(sql, now);
      return made.prompts;
    },
    get sessions() {
      made.sessions ??= sessionStatements(sql, now);
      return made.sessions;
    },
    get turns() {
      made.turns ??= turnStatements(sql);
      return made.turns;
    },
    get wakers() {
      made.wakers ??= wakerStatements(sql);
      return made.wakers;
    },
    get messages() {
      made.messages ??= messageStatements(sql);
      return made.messages;
    },
    get mentions() {
      made.mentions ??= mentionStatements(sql, now);
      return made.mentions;
    },
    get loops() {
      made.loops ??= loopStatements(sql);
      return made.loops;
    },
    get desks() {
      made.desks ??= deskStatements(sql, now);
      return made.desks;
    },
    get humans() {
      made.humans ??= humanStatements(sql);
      return made.humans;
    },
    get claims() {
      made.claims ??= claimStatements(sql);
      return made.claims;
    },
    get gates() {
      made.gates ??= gateStatements(sql);
      return made.gates;
    },
    get history() {
      made.history ??= historyStatements(sql);
      return made.history;
    },
    get tokens() {
      made.tokens ??= tokenStatements(sql);
      return made.tokens;
    },
    get outreach() {
      made.outreach ??= outreachStatements(sql);
      return made.outreach;
    },
    get prints() {
      made.prints ??= printStatements(sql);
      return made.prints;
    },
    get events() {
      made.events ??= eventStatements(sql, now, onAppend);
      return made.events;
    },
  };
}

function refuseAppend(): never {
  throw new Error('An event was appended inside a read.');
}

/** Which schema a store has, 0 where there is none, and its id. */
export async function identify(sql: Sql): Promise<{ version: number; store_id: string }> {
  try {
    const [row] = await sql.all(IDENTITY, []);
    return { version: Number(row?.['version'] ?? 0), store_id: String(row?.['store_id']) };
  } catch {
    // A store that was linked into place a moment ago has no table yet.
    return { version: 0, store_id: '' };
  }
}

async function migrateAndName(sql: Sql, now: string): Promise<void> {
  await migrate(sql, now);
  await sql.run(NAME, ['store_id', randomIds.make('store')]);
}
