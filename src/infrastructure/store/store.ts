/**
 * The only access to the store, over either driver. It gives each transaction its statements, rings the bell after a commit
 * that appended an event, and knows the store's identity. `tx.prompts` is in prompts.ts, `tx.events` in events.ts, and so on.
 * The drivers, which commit and ring, are sqlite.ts and extensions/postgres/driver.ts.
 */
import type { ReadTx, Store, WriteTx } from '../../application/ports.ts';
import { HiveError } from '../../domain/errors.ts';
import { randomIds } from '../platform/ids.ts';
import { storeName } from '../platform/paths.ts';
import { deliveryStatements, hookOutputStatements } from './deliveries.ts';
import { deviceStatements } from './devices.ts';
import { beginNumbers, continueNumbers, eventStatements, mayLag, type Reserved } from './events.ts';
import { historyStatements } from './history.ts';
import { deskStatements, humanStatements } from './humans.ts';
import { gateStatements, loopStatements, mentionStatements } from './mentions.ts';
import { messageStatements } from './messages.ts';
import { outreachStatements } from './outreach.ts';
import { popupStatements } from './popups.ts';
import { claimStatements, promptStatements } from './prompts.ts';
import { retentionStatements } from './retention.ts';
import { ruleStatements } from './rules.ts';
import { type MarkRun, runStatements } from './runs.ts';
import { checkSchema, SCHEMA_VERSION } from './schema.ts';
import { sessionStatements, wakerStatements } from './sessions.ts';
import { type Driver, isTableMissing, type Sql, statement } from './sql.ts';
import { statsStatements } from './stats.ts';
import { tokenStatements } from './tokens.ts';
import { turnStatements } from './turns.ts';
import { waitStatements } from './waits.ts';

const IDENTITY = statement(
  `SELECT (SELECT MAX(number) FROM migrations) AS version, (SELECT value FROM meta WHERE name = 'store_id') AS store_id`,
);
const SCHEMA_NUMBER = statement('SELECT MAX(number) AS version FROM migrations');
const NAME = statement('INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING');

/** For a process without the key of runs, which neither marks nor recognizes their rows. */
const noMark: MarkRun = async () => null;

/**
 * Opens a store. Refuses one that is too new or far too old, and migrates an older one, once even if many processes start.
 * @throws HiveError `store_too_new`, `store_foreign`, `store_busy`, `store_unavailable`.
 */
export async function openStore(driver: Driver, address: string, markRun: MarkRun = noMark): Promise<Store> {
  const name = storeName(address);
  const found = await driver.inspect(identify);
  checkSchema(name, found.version);
  if (found.version < SCHEMA_VERSION) {
    const { migrate } = await import('./migrations.ts');
    await driver.write(async (sql, now) => {
      await migrate(sql, now);
      await sql.change(NAME, ['store_id', randomIds.make('store')]);
      if (found.version === 0 && driver.boot !== null) await beginNumbers(sql, driver.boot);
    });
  }
  const { store_id } = found.version === SCHEMA_VERSION ? found : await driver.inspect(identify);
  let closed = false;
  const reserved: Reserved | null = driver.boot === null ? null : { until: 0 };
  const lagging = reserved === null ? undefined : (sql: Sql) => mayLag(sql, reserved);
  let continued: Promise<void> | null = null;

  /** Not when the store is opened: a store that cannot be written now can still be read. */
  async function continueOnce(boot: string): Promise<void> {
    continued ??= continueNumbers(driver, boot);
    try {
      await continued;
    } catch (error) {
      continued = null;
      throw error;
    }
  }

  /**
   * A newer Hive may have changed the schema while this process ran. Our statements may still work then, and store rows that
   * the newer one cannot read. A server gets the query for the schema and the first statements of `work` together.
   */
  async function inKnownSchema<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
    const looked = sql.all(SCHEMA_NUMBER, []).then(([row]) => refuseChanged(Number(row?.['version'])));
    const [known, worked] = await Promise.allSettled([looked, work()]);
    if (known.status === 'rejected') throw known.reason;
    if (worked.status === 'rejected') throw worked.reason;
    return worked.value;
  }

  function refuseChanged(version: number): void {
    if (version <= SCHEMA_VERSION) return;
    throw new HiveError(
      'store_too_new',
      `A newer Hive has updated the store ${name} while this process ran (schema ${version}, process ${process.pid} knows ${SCHEMA_VERSION}). Nothing was written; restart this process, so that it runs the newer Hive.`,
      { found: version, known: SCHEMA_VERSION },
    );
  }

  async function read<T>(work: (tx: ReadTx) => Promise<T>): Promise<T> {
    try {
      return await driver.read((sql, now) =>
        work(transaction({ sql, now, onAppend: refuseAppend, reserved: null, markRun })),
      );
    } catch (error) {
      // The apparent damage is in a table of the newer schema.
      if (!(error instanceof HiveError) || error.code === 'store_foreign')
        refuseChanged((await driver.inspect(identify).catch(() => ({ version: 0 }))).version);
      throw error;
    }
  }

  async function write<T>(
    work: (tx: WriteTx) => Promise<T>,
    acknowledges: ((result: T, announced: boolean) => boolean) | null,
  ): Promise<T> {
    if (closed) throw closedError(name);
    if (driver.boot !== null) await continueOnce(driver.boot);
    let appended = false;
    const onAppend = (): void => {
      appended = true;
    };
    const run = (sql: Sql, now: string): Promise<T> =>
      inKnownSchema(sql, () => work(transaction({ sql, now, onAppend, reserved, markRun })));
    return driver.write(run, {
      rings: () => appended,
      mayLag: lagging,
      acknowledges: acknowledges === null ? undefined : (result) => acknowledges(result, appended),
    });
  }

  return {
    store_id,
    name,
    write: (work) => write(work, null),
    writeUnflushed: (work, acknowledges = () => false) => write(work, acknowledges),
    async read(work) {
      if (closed) throw closedError(name);
      return read(work);
    },
    watch: (listener) => driver.watch(listener),
    async close() {
      closed = true;
      await driver.close();
    },
    leave: () => driver.leave(),
  };
}

/** Our own error: an engine's would name its connection, and SQLite could even open a new one. */
function closedError(name: string): HiveError {
  return new HiveError(
    'cancelled',
    `The store ${name} was closed by this program: nothing was read or written.`,
  );
}

/** One transaction, and the context that its statements need. */
interface Begun {
  readonly sql: Sql;
  readonly now: string;
  readonly onAppend: () => void;
  readonly reserved: Reserved | null;
  readonly markRun: MarkRun;
}

type Statements = Omit<WriteTx, 'now'>;

/** The statements of every capability over one transaction. */
const STATEMENTS: { readonly [Name in keyof Statements]: (begun: Begun) => Statements[Name] } = {
  prompts: ({ sql, now }) => promptStatements(sql, now),
  claims: ({ sql }) => claimStatements(sql),
  waits: ({ sql }) => waitStatements(sql),
  sessions: ({ sql, now }) => sessionStatements(sql, now),
  wakers: ({ sql }) => wakerStatements(sql),
  turns: ({ sql }) => turnStatements(sql),
  messages: ({ sql }) => messageStatements(sql),
  mentions: ({ sql, now }) => mentionStatements(sql, now),
  gates: ({ sql }) => gateStatements(sql),
  loops: ({ sql }) => loopStatements(sql),
  outreach: ({ sql }) => outreachStatements(sql),
  deliveries: ({ sql }) => deliveryStatements(sql),
  hookOutputs: ({ sql }) => hookOutputStatements(sql),
  popups: ({ sql, now }) => popupStatements(sql, now),
  desks: ({ sql }) => deskStatements(sql),
  humans: ({ sql }) => humanStatements(sql),
  tokens: ({ sql }) => tokenStatements(sql),
  devices: ({ sql }) => deviceStatements(sql),
  runs: ({ sql, markRun }) => runStatements(sql, markRun),
  rules: ({ sql }) => ruleStatements(sql),
  stats: ({ sql }) => statsStatements(sql),
  history: ({ sql }) => historyStatements(sql),
  retention: ({ sql, now }) => retentionStatements(sql, now),
  events: ({ sql, now, onAppend, reserved }) => eventStatements(sql, now, onAppend, reserved),
};

/**
 * The statements of a capability are created at its first use: a transaction needs two or three capabilities, and `hive hook`
 * runs only one transaction.
 */
const AT_FIRST_USE: object = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, make]) => [
      name,
      {
        get(this: Begun) {
          const value = make(this);
          Object.defineProperty(this, name, { value });
          return value;
        },
      },
    ]),
  ),
);

/** A `ReadTx` is the same object with a narrower type. */
function transaction(begun: Begun): WriteTx {
  return Object.assign(Object.create(AT_FIRST_USE), begun);
}

function refuseAppend(): never {
  throw new Error('An event was appended inside a read.');
}

/** The schema of a store, 0 if it has none, and its id. */
export async function identify(sql: Sql): Promise<{ version: number; store_id: string }> {
  try {
    const [row] = await sql.all(IDENTITY, []);
    return { version: Number(row?.['version'] ?? 0), store_id: String(row?.['store_id']) };
  } catch (error) {
    // A store that was just linked into place has no table yet. Any other error is thrown.
    if (!isTableMissing(error)) throw error;
    return { version: 0, store_id: '' };
  }
}
