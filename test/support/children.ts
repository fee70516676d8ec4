/** Real `hive` processes: each gets a clean environment, and none outlives its test. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { whenFinished } from './lifetime.ts';
import { bundleOf, lendCode, paddedPid, returnCode } from './run-folder.ts';
import { lettingScriptsAnswer } from './scripts-answer.ts';
import { eventually } from './wait.ts';

export const ROOT: string = join(import.meta.dirname, '../..');
export const HIVE: string = join(ROOT, 'bin/hive');

/** In the environment of every child and its descendants, so that processes left behind can be found. */
const RUN = `HIVE_TEST_RUN=${randomUUID()}`;

export type Environment = Record<string, string>;

/** The children's home; one per test file. */
let home: string | null = null;

/** Removes the home of the children; nothing-left.ts calls it after each test file. */
export function removeHome(): void {
  if (home === null) return;
  returnCode(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  home = null;
}

function newHome(): string {
  const folder = lettingScriptsAnswer(mkdtempSync(join(tmpdir(), `hive-home-${paddedPid()}-`)));
  lendCode(folder);
  return folder;
}

/** All that a child gets: with an inherited variable of an agent, `hive` would take it for that agent. */
export function childEnvironment(store: string, extra: Environment = {}): Environment {
  home ??= newHome();
  const [name, value] = RUN.split('=') as [string, string];
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    HIVE_STORE: store,
    // Otherwise every prompt of a test would pop up on the desktop of the person who runs it.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    [name]: value,
    ...extra,
  };
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Its stderr so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): Promise<Exit>;
}

/** Starts a program; it is killed after the test if it is still running. */
export function spawnChild(program: string, args: readonly string[], env: Environment): Child {
  const child = spawn(program, args, { env, cwd: env['HOME'], stdio: 'pipe' });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  // A failed write to a child that the test has killed is not an error.
  child.stdin.on('error', () => undefined);
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const kill = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal);
    return exited;
  };
  whenFinished(async () => {
    child.stdout.destroy();
    await kill('SIGKILL');
  });
  return { process: child, pid: child.pid ?? 0, exited, stderr: () => said, kill };
}

/** Starts `hive ARGS…`. */
export function spawnHive(args: readonly string[], env: Environment): Child {
  return spawnChild(process.execPath, [HIVE, ...args], env);
}

/** Starts a TypeScript file of the tests as a separate process, which may import from src/. */
export function spawnScript(file: string, args: readonly string[], env: Environment): Child {
  const bundle = bundleOf(file);
  if (bundle !== null) return spawnChild(process.execPath, [bundle, ...args], env);
  const loader = join(ROOT, 'test/support/sql-loader.mjs');
  return spawnChild(process.execPath, ['--import', loader, join(ROOT, file), ...args], env);
}

/** Releases the children together, once all have reported that they are ready (`waitForOthers`). */
export async function startTogether(children: readonly Child[]): Promise<void> {
  await eventually(() => children.every((child) => child.stderr().includes('ready')), 30_000, 'the others');
  for (const child of children) child.process.stdin.write('go');
}

/** Reads the stdout of a child from now on; returns what it has printed so far. */
export function readOutput(child: Child): () => string {
  let said = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return () => said;
}

/** The whole stdout of a child; rejects if its exit code is not 0. */
export async function outputOf(child: Child): Promise<string> {
  const said = readOutput(child);
  const { code, signal } = await child.exited;
  if (code !== 0) throw new Error(`The child ended with ${code ?? signal}: ${child.stderr()}`);
  return said();
}

/** Whether a process watches the bell of a SQLite store: then it waits until something is stored. */
export function watchesBell(pid: number, store: string): boolean {
  const bell = statSync(`${store}-bell`, { throwIfNoEntry: false });
  if (bell === undefined) return false;
  try {
    return readdirSync(`/proc/${pid}/fdinfo`).some((fd) =>
      readProc(String(pid), `fdinfo/${fd}`).includes(` ino:${bell.ino.toString(16)} `),
    );
  } catch {
    return false; // It has ended.
  }
}

/** The processes of this test file that are still alive, as "PID COMMAND"; with a variable, only those that have it in their environment. */
export function remainingProcesses(variable: string = RUN): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const variables = readProc(pid, 'environ').split('\0');
      return variables.includes(RUN) && variables.includes(variable);
    })
    .map((pid) => `${pid} ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`);
}

/** Ends one of these processes at once; one that has already ended by itself is fine. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
