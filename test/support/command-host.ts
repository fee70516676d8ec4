/** The process that runs the commands of a worker's test files, one at a time (test/process/children/command-host.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import type { Environment } from './children.ts';
import { bundleOf } from './run-folder.ts';

export interface Ended {
  code: number;
  out: string;
  err: string;
}

interface Host {
  process: ChildProcess;
  /** Gets the result of the command that runs; null when none does. */
  waiting: { resolve: (ended: Ended) => void; reject: (error: Error) => void } | null;
}

/** They are about the process they run in, and may end it. */
const PROGRAMS = new Set(['mcp', 'sidecar', 'serve', 'hook', 'acp', 'attach', 'run', 'install', 'uninstall']);

let host: Host | null = null;

/** Whether this command can run there now. */
export function canRunInHost([command = '']: readonly string[]): boolean {
  return !PROGRAMS.has(command) && (host === null || host.waiting === null);
}

/** Runs `hive ARGS…` to its end. */
export function runInHost(args: readonly string[], env: Environment, root: string): Promise<Ended> {
  host ??= startHost({ LANG: 'C.UTF-8', HIVE_TEST_ROOT: root });
  const running = host;
  return new Promise((resolve, reject) => {
    running.waiting = { resolve, reject };
    running.process.send({ args, env });
  });
}

/**
 * Ends it if a command of this test file still runs in it. Otherwise it goes on for the next file, and ends with the worker.
 * nothing-left.ts calls this after each file.
 */
export async function endBusyHost(): Promise<void> {
  if (host === null || host.waiting === null) return;
  const { process } = host;
  await new Promise((resolve) => {
    process.once('close', resolve);
    process.kill('SIGKILL');
  });
}

function startHost(env: Environment): Host {
  const bundle = bundleOf('test/process/children/command-host.ts');
  if (bundle === null) throw new Error('This needs the folder of a run: start the tests with vitest.');
  const process = fork(bundle, {
    env,
    cwd: '/',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // It belongs to no test file, so nothing-left.ts must not find it there.
  process.unref();
  process.channel?.unref();
  const started: Host = { process, waiting: null };
  process.on('message', (ended: Ended) => {
    const { waiting } = started;
    started.waiting = null;
    waiting?.resolve(ended);
  });
  process.once('close', () => {
    if (host === started) host = null;
    started.waiting?.reject(new Error('The host of the commands has ended.'));
  });
  return started;
}
