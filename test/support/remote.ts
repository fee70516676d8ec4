/** Agents on another machine, which has no store: their bridge, hooks and token. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, readOutput, spawnHive } from './children.ts';
import { ENDED } from './ended-process.ts';
import { connectMcp, type McpCaller } from './mcp-client.ts';
import { type Served, serveNew } from './serve.ts';
import { eventually } from './wait.ts';

/** Must not be used: the other machine has no store. */
export const NO_STORE = '/nowhere/hive.db';

export function tokenFileOf({ store, token }: Served, secret = token): string {
  const path = join(dirname(store), 'remote-token');
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return path;
}

/** A server on a new store, which this process opens, too, with the file of its token. */
export async function serveFar(): Promise<{ served: Served; file: string; hive: OpenedHive }> {
  const { served, hive } = await serveNew();
  return { served, file: tokenFileOf(served), hive };
}

export function connectBridge(served: Served, secret?: string): Promise<McpCaller> {
  const args = ['--url', served.url, '--token-file', tokenFileOf(served, secret)];
  return connectMcp({ store: NO_STORE, args, env: {} });
}

interface Ran {
  out: string;
  code: number | null;
  err: string;
}

/** Reports an event, again where the hook gave up after its two seconds: on a busy machine it may not even have reached the server. */
export async function runRemoteHook(...reported: Parameters<typeof reportOnce>): Promise<Ran> {
  let ran = await reportOnce(...reported);
  await eventually(async () => {
    if (!ran.err.includes('no reply from the server')) return true;
    ran = await reportOnce(...reported);
    return false;
  });
  return ran;
}

export async function reportOnce(
  served: Pick<Served, 'url'>,
  event: object | string,
  token_file: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const child = spawnHive(
    ['hook', '--url', served.url, '--token-file', token_file],
    childEnvironment(NO_STORE, { CLAUDE_PID: String(ENDED), ...env }),
  );
  const out = readOutput(child);
  child.process.stdin.end(typeof event === 'string' ? event : JSON.stringify(event));
  const { code } = await child.exited;
  return { out: out(), code, err: child.stderr() };
}

/** The session of `FAR_START` here: its id belongs to its token. */
export const FAR = 'token:default:far-1';

/**
 * That session, once `report` has introduced it. A hook gives up after two seconds, in which its client must go on, and a busy
 * machine may not even have started it by then.
 */
export async function farSession(hive: OpenedHive, report: () => Promise<unknown>): Promise<Session> {
  await eventually(async () => {
    await report();
    return (await hive.sessions.find(FAR)) !== undefined;
  });
  return hive.sessions.resolve(FAR);
}

export const FAR_START = {
  hook_event_name: 'SessionStart',
  session_id: 'far-1',
  cwd: '/',
  source: 'startup',
};
export const farCall = (tool_use_id: string, session_id = 'far-1'): object => ({
  hook_event_name: 'PreToolUse',
  session_id,
  cwd: '/',
  tool_name: 'mcp__hive__hivemind_ask_async',
  tool_use_id,
  tool_input: {},
});
