/** A client process that is the ancestor of its hooks and shells, like the real clients (fake-client.mjs). */
import { connect } from 'node:net';
import { join } from 'node:path';
import { childEnvironment, type Environment, HIVE, ROOT, spawnChild } from './children.ts';
import type { Ran } from './cli.ts';
import { tempFolder } from './temp.ts';
import { eventually } from './wait.ts';

/** A program that a client starts, and its stdin. */
interface Started {
  env?: Environment;
  input?: string;
}

export interface FakeClient {
  readonly pid: number;
  /** Runs `hive ARGS…` as this client's child. */
  hive(args: readonly string[], started?: Started): Promise<Ran>;
  /** Runs a shell script as this client's child: the agent's own shell. `$HIVE` is our program there. */
  shell(script: string, started?: Started): Promise<Ran>;
  /** Fires a hook of Claude Code with the client's own process in its environment. */
  hook(event: Record<string, unknown>, env?: Environment, ...more: string[]): Promise<Ran>;
  end(): Promise<void>;
}

export const FAKE_CLIENT: string = join(ROOT, 'test/support/fake-client.mjs');

/** A path that no other client listens at. */
export function clientSocket(): string {
  return join(tempFolder(), 'client');
}

export async function startClient(store: string): Promise<FakeClient> {
  const socket = clientSocket();
  const child = spawnChild(process.execPath, [FAKE_CLIENT, socket], childEnvironment(store));
  await eventually(() => child.stderr().includes('client ready'), 15_000, 'the client');
  return { ...clientAt(store, socket, child.pid), end: async () => void (await child.kill('SIGTERM')) };
}

/** The client that listens there. */
export function clientAt(store: string, socket: string, pid: number): Omit<FakeClient, 'end'> {
  const run = (program: string, args: readonly string[], { env = {}, input = '' }: Started): Promise<Ran> =>
    order(socket, {
      // A client that is killed also ends what it started, so no test leaves a process behind.
      program: 'setpriv',
      args: ['--pdeathsig', 'KILL', program, ...args],
      env: childEnvironment(store, { HIVE, NODE: process.execPath, ...env }),
      input,
    });
  const hive: FakeClient['hive'] = (args, started = {}) => run(process.execPath, [HIVE, ...args], started);
  return {
    pid,
    hive,
    shell: (script, started = {}) => run('sh', ['-c', script], started),
    hook: (event, env = {}, ...more) =>
      hive(['hook', '--client', 'claude-code', ...more], {
        env: { CLAUDE_PID: String(pid), ...env },
        input: JSON.stringify({ cwd: '/', ...event }),
      }),
  };
}

function order(socket: string, what: object): Promise<Ran> {
  return new Promise((resolve, reject) => {
    let said = '';
    const connection = connect(socket, () => connection.write(`${JSON.stringify(what)}\n`));
    connection.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    connection.once('error', reject);
    connection.once('close', () => {
      if (said === '') return reject(new Error('The client ended first.'));
      const { code, out, err } = JSON.parse(said) as { code: number | null; out: string; err: string };
      resolve({ code, out, err, json: () => JSON.parse(out) });
    });
  });
}
