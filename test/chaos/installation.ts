/** Where the processes of a run live: a build of the program, their environment, and who runs at the moment. */
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { seatKeyFrom } from '../../src/domain/seats.ts';
import { lettingScriptsAnswer } from '../support/scripts-answer.ts';
import { type Client, openClient, type Start, type Started } from './client.ts';
import { lost } from './failures.ts';
import type { Power } from './power.ts';
import type { SabotageName } from './sabotage.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The key of every desk: only with it a desk lets an agent coordinate. */
export const DESK_SECRET: string = '5e'.repeat(32);
const CLOCK = join(import.meta.dirname, 'children/clock.mjs');
const SABOTEUR = join(import.meta.dirname, 'children/sabotage.ts');
/** Without capabilities the permissions of a file stop root too. */
const POWERLESS = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];

export type Environment = Readonly<Record<string, string>>;

export interface Running {
  readonly worker: string;
  readonly child: Started;
  /** The process of `hive` itself, which need not be the one that was started. */
  readonly pid: number;
  readonly exited: Promise<number | null>;
  stderr(): string;
}

/** The client of an agent. */
export type Host = Client | 'own' | null;

export interface Installation {
  /** A path, or the address of a PostgreSQL schema. */
  readonly store: string;
  /** Where the workers write their logs, and what their processes said on stderr is kept. */
  readonly logs: string;
  /**
   * Starts `hive ARGS…` for a worker. `host`: a process above it that is an agent's client; `'own'` is one for this
   * process alone, and only what descends from a client speaks for its session.
   */
  start(
    worker: string,
    args: readonly string[],
    options?: { env?: Environment; host?: Host },
  ): Promise<Running>;
  /** A client that stays while the processes below it come and go; it ends with the installation at the latest. */
  openClient(): Client;
  running(): readonly Running[];
  /** The clients that live. */
  clients(): readonly Client[];
  /** Everything stops at once, and the store is as the disk may be found; false if that is not known. `way`: which of the states. */
  cutPower(way: number): Promise<boolean>;
  /** kill -9. */
  kill(...pids: readonly number[]): void;
  /** Shifts the clock of all its processes, in milliseconds. */
  setClock(shift_ms: number): void;
  /** kill -9 to all, for good; resolves when they are gone. */
  clear(): Promise<void>;
}

export interface YardOptions {
  /** An empty folder; the caller removes it. */
  folder: string;
  store: string;
  /** The deliberate bug to run with. */
  sabotage: SabotageName | null;
  /** The recorder of the store's disk, where the power may be cut. */
  power?: Power | null;
}

export function openInstallation({ folder, store, sabotage, power = null }: YardOptions): Installation {
  const home = join(folder, 'home');
  const logs = join(folder, 'logs');
  const clock = join(folder, 'clock');
  for (const path of [home, logs]) mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(clock, '0');
  const program = join(folder, 'program');
  build(program, sabotage);
  const powerless =
    process.getuid?.() === 0 && spawnSync(POWERLESS[0] ?? '', [...POWERLESS.slice(1), 'true']).status === 0
      ? POWERLESS
      : [];
  const running = new Set<Running>();
  const clients: Client[] = [];
  let cleared = false;
  const starting = new Set<Promise<unknown>>();
  /** Nothing starts while the power is off. */
  let off: Promise<void> | null = null;

  lettingScriptsAnswer(home, { seats: [{ name: 'chaos', key: seatKeyFrom(DESK_SECRET).key }] });
  const environment: Environment = {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    HIVE_STORE: store,
    // Otherwise the questions of the run would pop up on the desktop of the person who runs it.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    NODE_OPTIONS: [CLOCK, ...(sabotage === null ? [] : [SABOTEUR])]
      .map((file) => `--import=${file}`)
      .join(' '),
    HIVE_CHAOS_CLOCK: clock,
    ...power?.environment,
    ...(sabotage === null ? {} : { HIVE_CHAOS_SABOTAGE: sabotage }),
  };

  function kill(...pids: readonly number[]): void {
    if (power !== null) power.kill(pids);
    else for (const pid of pids) signal(pid, 'SIGKILL');
  }

  async function killAll(): Promise<void> {
    const all = [...running];
    kill(...all.map(({ pid }) => pid));
    for (const { child } of all) {
      child.kill('SIGKILL');
      child.stdout.destroy();
    }
    await Promise.all(all.map(({ exited }) => exited));
  }

  async function cutPower(way: number): Promise<boolean> {
    const on = Promise.withResolvers<void>();
    off = on.promise;
    try {
      await Promise.allSettled([...starting]);
      await Promise.all(clients.filter(({ alive }) => alive).map((client) => client.die()));
      await killAll();
      return power?.cut(way) === true;
    } finally {
      off = null;
      on.resolve();
    }
  }

  return {
    store,
    logs,
    async start(worker, args, { env = {}, host = null } = {}) {
      while (off !== null) await off;
      if (cleared) throw lost('the run is over');
      const command = [...powerless, process.execPath, join(program, 'bin/hive'), ...args];
      // A shell that has more to do does not become its last command.
      const [file = '', ...words] =
        host === 'own' ? ['sh', '-c', '"$@"; exit $?', 'sh', ...command] : command;
      const how = { file, words, env: { ...environment, ...env }, cwd: home };
      const begun = host === null || host === 'own' ? begin(how, host === 'own') : host.start(how);
      starting.add(begun);
      const { child, pid, exited } = await begun.finally(() => starting.delete(begun));
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4_000);
        appendFileSync(join(logs, `${worker}.stderr`), text);
      });
      const one: Running = { worker, child, pid, exited, stderr: () => said };
      running.add(one);
      void exited.finally(() => running.delete(one));
      return one;
    },
    openClient() {
      const client = openClient({ PATH: environment['PATH'] ?? '', HOME: home });
      clients.push(client);
      return client;
    },
    running: () => [...running],
    clients: () => clients.filter(({ alive }) => alive),
    cutPower,
    kill,
    setClock: (shift_ms) => writeFileSync(clock, String(shift_ms)),
    async clear() {
      cleared = true;
      const killed = killAll();
      await Promise.all(clients.map((client) => client.end()));
      await killed;
    },
  };
}

/** `hosted`: the program is the only child of what is started. */
async function begin({ file, words, ...rest }: Start, hosted: boolean): ReturnType<Client['start']> {
  const child = spawn(file, words, { ...rest, stdio: 'pipe' });
  child.stdin.on('error', () => undefined);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const pid = hosted ? await childOf(child.pid ?? 0, exited) : (child.pid ?? 0);
  return { child, pid, exited };
}

/** A separate build, so that another build in the meantime changes nothing here. Only that of a sabotage asks for bugs. */
export function build(program: string, sabotage: SabotageName | null): void {
  for (const part of ['bin', 'package.json', 'plugin', 'scripts', 'sql', 'src'])
    cpSync(join(ROOT, part), join(program, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(program, 'node_modules'));
  const flags = sabotage === null ? ['--fast'] : ['--fast', '--sabotage'];
  const built = spawnSync(process.execPath, ['scripts/build.mjs', ...flags], {
    cwd: program,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`The program could not be built: ${built.stdout}${built.stderr}`);
}

/** Sends a signal to a process that may be gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The first child of a process, as soon as it has one. */
async function childOf(pid: number, exited: Promise<unknown>): Promise<number> {
  let over = false;
  void exited.then(() => {
    over = true;
  });
  for (;;) {
    const child = children(pid)[0];
    if (child !== undefined) return child;
    if (over) return pid;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function children(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}
