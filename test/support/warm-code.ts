/**
 * The code that bin/hive keeps for the programs that tests end by a signal: only one that ends by itself, or has run for ten
 * seconds, keeps any, and without it each start compiles the whole program again, which is half of what the start costs.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lendCode, returnCode, runFolder } from './run-folder.ts';

const HIVE = join(import.meta.dirname, '../../bin/hive');

const message = (method: string, params: object, id?: number): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params });
const line = (...[method, params, id]: Parameters<typeof message>): string =>
  `${message(method, params, id)}\n`;
const frame = (...of: Parameters<typeof message>): string => {
  const text = message(...of);
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};

/** A program that does not answer must not stop the suite before its tests have said so. */
const LIMIT_MS = 60_000;
const INFO = { name: 'test', version: '1.0' };

/** A conversation with a program: the program has said what it is to say when it has printed `until`. */
interface Talk {
  args: string[];
  input: string;
  until: string;
}

const TALKS: Talk[] = [
  {
    args: ['mcp'],
    input:
      line('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO }, 1) +
      line('notifications/initialized', {}) +
      line('tools/list', {}, 2) +
      line('tools/call', { name: 'hivemind_status', arguments: {} }, 3) +
      line('tools/call', { name: 'hivemind_ask_async', arguments: { question: 'Go on?' } }, 4),
    until: '"id":4',
  },
  {
    args: ['sidecar'],
    input:
      frame('initialize', { protocol_version: 1, client: INFO, human: 'Ada' }, 1) +
      frame('initialized', {}) +
      frame('prompt/list', {}, 2),
    until: '"id":2',
  },
  { args: ['serve', '--port', '0'], input: '', until: '\n' },
];

/** Lets each program run once in a home of its own, and keeps what it has compiled for the homes of the tests. */
export async function warmCode(): Promise<void> {
  const home = join(runFolder(), 'warm');
  mkdirSync(home, { mode: 0o700 });
  lendCode(home);
  await Promise.all(TALKS.map((talk) => hold(talk, home)));
  returnCode(home);
  rmSync(home, { recursive: true, force: true });
}

/** Resolves when the program has ended, in whatever way: its tests say what is wrong with it. */
function hold({ args, input, until }: Talk, home: string): Promise<void> {
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    HIVE_STORE: join(home, `${args[0]}.db`),
    ...(args[0] === 'mcp' && { HIVE_AGENT: 'agent-1' }),
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  };
  const child = spawn(process.execPath, [HIVE, ...args], {
    env,
    cwd: home,
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: LIMIT_MS,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (!said.includes(until)) return;
    child.stdin.end();
    if (args[0] === 'serve') child.kill('SIGTERM');
  });
  child.stdin.on('error', () => undefined).write(input);
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}
