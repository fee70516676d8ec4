/** The composition root: the one file that chooses implementations. */
import { existsSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { createFeed } from './application/feed.ts';
import { createHive, type Hive } from './application/hive.ts';
import type { HookSurroundings } from './application/hook-context.ts';
import { createHooks, type HookService } from './application/hooks.ts';
import type { Store } from './application/ports.ts';
import { createWakes, type WakeService } from './application/wakes.ts';
import type { Check, CodexControl, Examination, Logger, Notifier } from './application/world.ts';
import type { EditTools } from './domain/edits.ts';
import { HiveError } from './domain/errors.ts';
import type { Environment } from './domain/sources.ts';
import { runHandler, storeServer } from './extensions.ts';
import { files } from './infrastructure/platform/files.ts';
import { humanTrust } from './infrastructure/platform/human-file.ts';
import { randomIds } from './infrastructure/platform/ids.ts';
import { createLogger } from './infrastructure/platform/logging.ts';
import { storeAddress, thisSeat } from './infrastructure/platform/paths.ts';
import { processes } from './infrastructure/platform/processes.ts';
import { findProject } from './infrastructure/platform/project.ts';
import type { CopiedTable } from './infrastructure/store/copy.ts';
import type { Driver } from './infrastructure/store/sql.ts';
import { openSqlite } from './infrastructure/store/sqlite.ts';
import { checkSqliteVersion, prepareSqliteFile } from './infrastructure/store/sqlite-file.ts';
import { removeDraft } from './infrastructure/store/sqlite-log.ts';
import { openStore } from './infrastructure/store/store.ts';

/** The location of the store, and the parts to use with it. */
export interface OpenHiveOptions {
  /** An absolute path or a postgres:// URL; default `HIVE_STORE`, else the platform's state directory. */
  store?: string | undefined;
  /** Used instead of `process.env`. */
  env?: Environment | undefined;
  /** Where warnings and errors go; default: lines on stderr, as `HIVE_LOG` says. */
  log?: Logger | undefined;
  /** How long a write waits for other processes, or a read for a connection to a server, before `store_busy`; default 5 s. */
  busy_ms?: number | undefined;
  /** More checks for the doctor. They are passed in because they need packages that a hook must not load. */
  examinations?: (() => Promise<readonly Examination[]>) | undefined;
}

/** A hive with its store, for code that composes one. Adapters and commands get a `Hive`, which hides the store. */
export interface OpenedHive extends Hive {
  readonly store: Store;
}

/**
 * Opens the store and wires the services. Close the hive when done: it holds file handles and timers.
 * @throws HiveError with a sentence that says what to do: `store_unsafe`, `store_foreign`, `store_too_new`, …
 */
export async function openHive(options: OpenHiveOptions = {}): Promise<OpenedHive> {
  const { address, env, log, store } = await openStoreFor(options);
  const hive = createHive({
    store,
    ids: randomIds,
    processes,
    log,
    notifier: lazyNotifier(env, log),
    findProject,
    machine: hostname(),
    files,
    codex: () => codexControl(env),
    editTools,
    runHandler,
    pid: process.pid,
    examinations: async () => [...(await examine(address, env)), ...((await options.examinations?.()) ?? [])],
    seat: thisSeat(),
    env,
    trust: () => humanTrust(env),
    agentKey: (key) => ({
      key,
      async sign(text) {
        const { agentKey } = await import('./infrastructure/platform/ssh-agent.ts');
        return agentKey(key, env['SSH_AUTH_SOCK']).sign(text);
      },
    }),
    ruleFile: async () => (await import('./infrastructure/platform/rule-file.ts')).createRuleFile(env),
    placeAt: async () => (await import('./infrastructure/platform/place.ts')).placeAt,
    addSeat: async (seat) => (await import('./infrastructure/platform/seat-file.ts')).addSeat(env, seat),
    removeSeat: async (key) => (await import('./infrastructure/platform/seat-file.ts')).removeSeat(env, key),
  });
  return { ...(globalThis.SABOTAGE?.services(hive) ?? hive), store };
}

/**
 * Only the service of hooks, for a process that handles one event and then ends without closing. Its bundle leaves out code
 * that a hook never uses, which halves the loaded code and saves a tenth of the time of `hive hook`.
 * @throws HiveError as `openHive` does.
 */
export async function openHooks(options: OpenHiveOptions): Promise<HookService & Pick<Store, 'leave'>> {
  const { log, store } = await openStoreFor(options);
  const hooks = createHooks({
    store,
    ids: randomIds,
    processes,
    log,
    runHandler,
    async waiting() {
      const [{ createFeed }, { createPrompts }] = await Promise.all([
        import('./application/feed.ts'),
        import('./application/prompts.ts'),
      ]);
      const feed = createFeed(store, log);
      return { feed, prompts: createPrompts(store, feed, randomIds) };
    },
  });
  const { hooks: handling } = globalThis.SABOTAGE?.services({ hooks }) ?? { hooks };
  return { ...handling, leave: () => store.leave() };
}

/** The parts of this machine that hooks use. An agent waits for its hooks, so the first event that needs a part loads it. */
export function hookMachine(
  env: Environment,
): Pick<
  HookSurroundings,
  'env' | 'machine' | 'pid' | 'readTail' | 'human' | 'editTools' | 'codexHosts' | 'codexItems'
> {
  return {
    env,
    machine: hostname(),
    pid: process.pid,
    readTail: files.readTail,
    async human(cwd) {
      const [{ humanTrust }, { placeAt }] = await Promise.all([
        import('./infrastructure/platform/human-file.ts'),
        import('./infrastructure/platform/place.ts'),
      ]);
      return { trust: humanTrust(env), place: placeAt(cwd) };
    },
    editTools,
    codexHosts: async (thread_id) => (await codexControl(env)).hosts(thread_id),
    codexItems: async (thread_id) => (await codexControl(env)).items(thread_id),
  };
}

async function editTools(cwd: string): Promise<EditTools> {
  return (await import('./infrastructure/platform/edits.ts')).editToolsAt(cwd);
}

async function codexControl(env: Environment): Promise<CodexControl> {
  return (await import('./infrastructure/platform/codex-control.ts')).createCodexControl(env);
}

/** Only the service that wakes idle agents, for the same reason. */
export async function openWakes({ env = process.env, ...options }: OpenHiveOptions): Promise<WakeService> {
  // No warnings by default: the client passes stderr to its model.
  const { log, store } = await openStoreFor({ ...options, env: { HIVE_LOG: 'error', ...env } });
  return createWakes({ store, feed: createFeed(store, log), ids: randomIds, processes });
}

/** The parts that every service shares. */
async function openStoreFor({ store: given, env = process.env, log, busy_ms }: OpenHiveOptions): Promise<{
  address: string;
  env: NonNullable<OpenHiveOptions['env']>;
  log: Logger;
  store: Store;
}> {
  const address = storeAddress(env, given);
  const driver = await openDriver(address, { env, busy_ms });
  try {
    const store = await openStore(driver, address, async (columns) =>
      (await import('./infrastructure/platform/run-marks.ts')).markOfRow(columns, env),
    );
    return {
      address,
      env,
      log: log ?? createLogger(env['HIVE_LOG'], (line) => process.stderr.write(line)),
      store: globalThis.SABOTAGE?.store(store) ?? store,
    };
  } catch (error) {
    await driver.close();
    throw error;
  }
}

export interface CopyStoreOptions {
  from: string;
  to: string;
  env: NonNullable<OpenHiveOptions['env']>;
  /** Copies even if the source's records show that it is in use. */
  in_use: boolean;
}

/**
 * Copies a store to an empty place, which may be of the other engine. The source is locked for writing until the copy is done,
 * and the copy appears only when it is complete.
 * @throws HiveError with a sentence that says what to do.
 */
export async function copyStore({ from, to, env, in_use }: CopyStoreOptions): Promise<CopiedTable[]> {
  const { checkVersion, copyTables, openCopyTarget, refuseInUse } = await import(
    './infrastructure/store/copy.ts'
  );
  if (!from.includes('://') && !existsSync(from))
    throw new HiveError('store_foreign', `There is no store of Hive at ${from} to copy.`);
  const source = await openDriver(from, { env, busy_ms: undefined });
  try {
    await source.read((sql) => checkVersion(sql, from));
    return await source.write(async (sql, now) => {
      if (!in_use) await refuseInUse(sql, now, hostname());
      const target = await openCopyTarget(to, (address) => openDriver(address, { env, busy_ms: undefined }));
      try {
        const copied = await copyTables(sql, target.driver);
        await target.publish();
        return copied;
      } finally {
        await target.close();
      }
    });
  } finally {
    await source.close();
  }
}

/**
 * Writes a backup of a SQLite store to a new file while others use the store.
 * @throws HiveError with a sentence that says what to do.
 */
export async function backUpStore(address: string, file: string): Promise<void> {
  refuseServer(address);
  if (!existsSync(address))
    throw new HiveError('store_foreign', `There is no store at ${address} to back up.`);
  const { backUp } = await import('./infrastructure/store/sqlite-backup.ts');
  backUp(await prepareSqliteFile(address), file);
}

/**
 * Replaces a SQLite store that is not in use by a backup. `check` gets the backup as an open hive, and may throw. Resolves to the
 * new name of the old store, which is kept with its log; null if there was none.
 * @throws HiveError with a sentence that says what to do.
 */
export async function restoreStore(
  address: string,
  file: string,
  check: (hive: OpenedHive) => Promise<void>,
): Promise<string | null> {
  refuseServer(address);
  const { draftOf, putInPlace } = await import('./infrastructure/store/sqlite-backup.ts');
  const path = existsSync(address) ? realpathSync.native(address) : address;
  const draft = draftOf(file, path);
  try {
    const hive = await openHive({ store: draft }).catch((error: unknown) => {
      if (!(error instanceof HiveError)) throw error;
      // The draft file no longer exists when this message is read.
      throw new HiveError(error.code, error.message.replaceAll(draft, file), error.details);
    });
    try {
      await check(hive);
    } finally {
      await hive.close();
    }
    return putInPlace(draft, path);
  } finally {
    removeDraft(draft);
  }
}

function refuseServer(address: string): void {
  if (!address.includes('://')) return;
  throw new HiveError(
    'invalid_input',
    'The store is in a PostgreSQL database. Back it up and restore it with the tools of the server, such as pg_dump -n SCHEMA.',
  );
}

/** Opens the engine for the address; the one for servers is loaded only when it is used. */
async function openDriver(
  address: string,
  { env, busy_ms }: Pick<OpenHiveOptions, 'busy_ms'> & { env: NonNullable<OpenHiveOptions['env']> },
): Promise<Driver> {
  if (address.includes('://')) return storeServer.open(address, env, { busy_ms });
  checkSqliteVersion(process.versions['sqlite'] ?? '0');
  return openSqlite(await prepareSqliteFile(address), { busy_ms });
}

/** The doctor's checks if the store cannot be opened. They include a failed check with this error. */
export async function examineWithoutStore(
  reason: HiveError,
  { env = process.env, examinations }: Pick<OpenHiveOptions, 'env' | 'examinations'>,
): Promise<Check[]> {
  const { runExaminations } = await import('./application/doctor.ts');
  const store: Examination = { name: 'Store', examine: () => Promise.reject(reason) };
  const machine = (await examine('', env)).map((one) => (one.name === store.name ? store : one));
  const log = createLogger(env['HIVE_LOG'], (line) => process.stderr.write(line));
  return runExaminations([...machine, ...((await examinations?.()) ?? [])], log);
}

/** Loaded only for the doctor. */
async function examine(address: string, env: Environment): Promise<readonly Examination[]> {
  const { examineMachine } = await import('./infrastructure/platform/examinations.ts');
  return examineMachine(address, env, storeServer);
}

/** Loaded with the first popup, so that hooks and short commands do not load it. */
function lazyNotifier(env: Environment, log: Logger): Notifier {
  let loading: Promise<Notifier> | null = null;
  const load = (): Promise<Notifier> =>
    (loading ??= import('./infrastructure/desktop/notifier.ts').then((desktop) =>
      desktop.createDesktopNotifier({ env, log }),
    ));
  return {
    reachable: async (command) => (await load()).reachable(command),
    show: async (popup, unwanted) => (await load()).show(popup, unwanted),
    close: async () => (await loading)?.close(),
  };
}
