/** Starts the programs that an agent's configuration names, as the client would, on a temporary store. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HookClient } from '../../domain/hooks.ts';
import type { Environment } from '../../domain/sources.ts';

/** On a busy machine a working server may take long to start. Emacs waits 30 s for the whole doctor. */
const LIMIT_MS = 20_000;

/** A conversation with a program. */
export interface Conversation {
  /** Its first input. */
  input: string;
  /** Called for each line it prints: what to write next, or `done`. */
  reply?: (line: string) => string | 'done' | undefined;
}

/** Whether a program worked, and its complaint. */
export interface Outcome {
  ok: boolean;
  err: string;
}

/** Runs a program until it ends, or until `reply` returns `done`. Never rejects. */
export function converse(
  words: readonly string[],
  env: Environment,
  { input, reply }: Conversation,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const [command = '', ...args] = words;
    const child = spawn(command, args, { env: env as NodeJS.ProcessEnv, stdio: 'pipe' });
    let err = '';
    let rest = '';
    const finish = (ok: boolean, why = err): void => {
      clearTimeout(timer);
      child.stdin.end();
      child.kill();
      resolve({ ok, err: mainLine(why) });
    };
    const timer = setTimeout(() => finish(false, `no reply within ${LIMIT_MS / 1000} s`), LIMIT_MS);
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const next = reply?.(line);
        if (next === 'done') finish(true);
        else if (next !== undefined) child.stdin.write(next);
      }
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      finish(false, error.code === 'ENOENT' ? `there is no ${command}` : error.message),
    );
    child.once('close', (code) => finish(code === 0 && reply === undefined));
    child.stdin.write(input);
    if (reply === undefined) child.stdin.end();
  });
}

/** The line with the error: Node prints the place in its source before it. */
function mainLine(text: string): string {
  const lines = text.trim().split('\n');
  return lines.find((line) => /^\w*Error\b.*: /.test(line)) ?? lines[0] ?? '';
}

/** Runs a hook with one harmless event. A failing hook lets the agent continue, so the proof is that it has opened its store. */
export async function tryHook(
  program: readonly string[],
  client: string,
  env: Environment,
): Promise<Outcome> {
  return withStore(env, async (throwaway, store) => {
    const event = {
      hook_event_name: 'Notification',
      session_id: 'hive-doctor',
      cwd: store,
      message: 'The doctor checks whether this hook runs.',
      notification_type: 'hive_doctor',
    };
    const outcome = await converse([...program, 'hook', '--client', client], throwaway, {
      input: JSON.stringify(event),
    });
    return { ...outcome, ok: outcome.ok && existsSync(store) };
  });
}

/** Runs an MCP server with the first request that a client sends. */
export async function tryServer(words: readonly string[], env: Environment): Promise<Outcome> {
  const clientInfo = { name: 'hive-doctor', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  return withStore(env, (throwaway) =>
    converse(words, throwaway, {
      input: `${JSON.stringify(initialize)}\n`,
      reply: (line) => (line.includes('"serverInfo"') ? 'done' : undefined),
    }),
  );
}

async function withStore(
  env: Environment,
  work: (env: Environment, store: string) => Promise<Outcome>,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'hive-doctor-'));
  try {
    const store = join(folder, 'hive.db');
    return await work({ ...env, HIVE_STORE: store, DBUS_SESSION_BUS_ADDRESS: 'disabled:' }, store);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

// ---- Which version of a client is installed ----

const PROGRAMS: Readonly<Record<HookClient, string>> = { 'claude-code': 'claude', codex: 'codex' };

/** The version that the client on PATH reports; null when there is none, or it reports none. */
export function clientVersion(client: HookClient, env: Environment): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env: env as NodeJS.ProcessEnv, timeout: LIMIT_MS };
    execFile(PROGRAMS[client], ['--version'], options, (_error, stdout) =>
      resolve(/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null),
    );
  });
}
