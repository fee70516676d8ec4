/** The measured programs run as real processes with a clean environment; none outlives the run. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { openHive } from '../src/open-hive.ts';
import type { ListedTool } from './peers/peer.ts';
import { withoutQuotas } from './session.ts';

export const ROOT: string = join(import.meta.dirname, '..');
export const HIVE: string = join(ROOT, 'bin/hive');
export const ECHO: string = join(import.meta.dirname, 'peers/echo-server.mjs');

export type Environment = Record<string, string>;

const folders = new Set<string>();
const children = new Set<ChildProcess>();
const clients = new Set<Client>();

/** A new folder on the disk of temporary files; it is removed after the run. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hive-bench-'));
  folders.add(folder);
  return folder;
}

/** All that a child gets: an inherited variable of an agent would change who is asking. */
export function environment(folder: string, extra: Environment = {}): Environment {
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: folder,
    LANG: 'C.UTF-8',
    HIVE_STORE: storeIn(folder),
    // Otherwise the questions of the bench would pop up on the desktop of the person who runs it.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    ...extra,
  };
}

export function storeIn(folder: string): string {
  return join(folder, 'store', 'hive.db');
}

export function start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, options);
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.stdin?.on('error', () => undefined);
  return child;
}

/** Runs a program to its end with `input` on stdin and resolves to how long that took, in milliseconds. */
export function wallTime(args: readonly string[], env: Environment, input: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = start(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(performance.now() - started);
      else reject(new Error(`node ${args.join(' ')} ended with ${code}`));
    });
    child.stdin?.end(input);
  });
}

export interface Server {
  readonly pid: number;
  call(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  tools(): Promise<readonly ListedTool[]>;
  close(): Promise<void>;
}

/**
 * Starts an MCP server on stdio and performs the handshake. What is above `hive mcp` counts as an agent, and the bench must be
 * none, because it also starts sidecars: so there is a shell in between, which has more to do than to become the server.
 */
export async function connect(args: readonly string[], env: Environment): Promise<Server> {
  const transport = new StdioClientTransport({
    command: '/bin/sh',
    args: ['-c', '"$@"; exit $?', 'sh', process.execPath, ...args],
    env,
    cwd: env['HOME'] ?? '/',
  });
  const client = new Client({ name: 'bench', version: '1.0.0' });
  clients.add(client);
  await client.connect(transport);
  return {
    pid: childOf(transport.pid ?? 0),
    async call(name, args = {}) {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
      if (isError === true) throw new Error(`${name}: ${JSON.stringify(content)}`);
      return (structuredContent ?? {}) as Record<string, unknown>;
    },
    tools: async () => (await client.listTools()).tools,
    async close() {
      clients.delete(client);
      await client.close();
    },
  };
}

/** The only child of a process; where the platform does not say, the process itself. */
function childOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  } catch {
    return pid;
  }
}

/** Creates the store in `folder`, in which agents may ask in a loop. */
export async function allowLoops(folder: string): Promise<void> {
  const hive = await openHive({ store: storeIn(folder), env: {} });
  await withoutQuotas(hive);
  await hive.close();
}

/** An agent with its own session on the store in `folder`; it may ask in a loop. */
export async function connectHive(
  folder: string,
  extra: Environment = { HIVE_AGENT: 'bench' },
  args: readonly string[] = [],
): Promise<Server> {
  await allowLoops(folder);
  return connect([HIVE, 'mcp', ...args], environment(folder, extra));
}

/** Resident memory of a process in MiB (proc(5)); NaN where the platform does not report it. */
export function residentMemory(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/** The time all threads of a process have had on a processor, in milliseconds (proc(5), schedstat). */
export function processorTime(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0);
}

/** Ends everything that a family of rows has started, and removes its files. */
export async function tidyUp(): Promise<void> {
  await Promise.all([...clients].map((client) => client.close()));
  clients.clear();
  await Promise.all(
    [...children].map((child) => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      return gone;
    }),
  );
  for (const folder of folders) {
    for (let wait = 0; wait < 100 && isHome(folder); wait += 1) await setTimeout(100);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  folders.clear();
}

/** Whether a process has its home there: the sidecar of an Emacs ends after it, and keeps its compiled code when it ends. */
function isHome(folder: string): boolean {
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids.some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`HOME=${folder}`);
    } catch {
      return false; // It has ended, or belongs to somebody else.
    }
  });
}
