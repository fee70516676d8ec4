/** A real MCP client over a real `hive mcp` child. */
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { childEnvironment, type Environment, HIVE } from './children.ts';
import { letCoordinate, seated } from './coordinators.ts';
import { whenFinished } from './lifetime.ts';

export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
  onprogress?: (progress: Progress) => void;
  meta?: Record<string, unknown>;
}

export interface McpCaller {
  readonly client: Client;
  readonly pid: number;
  /** The structured result of a tool; a result that is an error is thrown with its text. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Record<string, unknown>>;
  /** kill -9, as a crash would. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

export interface McpOptions {
  store: string;
  args?: readonly string[];
  env?: Environment;
  client?: string;
  /** A wrapper to start instead of a client process with `hive mcp` below it; it becomes that process. */
  wrap?: (program: string, args: readonly string[]) => { program: string; args: string[] };
  /** It is a coordinator, and its human has granted that. */
  coordinates?: boolean;
}

/** A client with its own session, by default `HIVE_AGENT=agent-1`. */
export async function connectMcp({
  store,
  args = [],
  env,
  client: name = 'test',
  wrap,
  coordinates = false,
}: McpOptions): Promise<McpCaller> {
  const role = coordinates ? ['--role', 'coordinator'] : [];
  const { program, args: words } = (wrap ?? asClient)(process.execPath, [HIVE, 'mcp', ...role, ...args]);
  const transport = new StdioClientTransport({
    command: program,
    args: words,
    env: childEnvironment(store, { ...(env ?? { HIVE_AGENT: 'agent-1' }), ...(coordinates ? seated() : {}) }),
    cwd: childEnvironment(store)['HOME'] ?? '/',
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const client = new Client({ name, version: '1.0.0' });
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`hive mcp did not start (${String(error)}): ${said}`);
  });
  if (coordinates) await letCoordinate(store, client);
  const started = transport.pid ?? 0;
  const pid = wrap === undefined ? childOf(started) : started;
  const crash = async (): Promise<void> => {
    if (transport.pid === null) return;
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // Killed before; the shell above it has not ended yet.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await closed;
  };
  whenFinished(async () => {
    await crash();
    await client.close();
  });
  return { client, pid, crash, close: () => client.close(), call: caller(client) };
}

/** How a test calls the tools of this client. */
export function caller(client: Client): McpCaller['call'] {
  return async (tool, args = {}, { meta, ...options } = {}) => {
    const params = { name: tool, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
    const result = await client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
    if (result.isError === true) throw new Error(textOf(result.content));
    return result.structuredContent ?? {};
  };
}

/**
 * The client of an agent is a process of its own, and not this test: what is above `hive mcp` is an agent, and the sidecar of
 * the same test would be started by it. A shell that has more to do does not become its last command.
 */
function asClient(program: string, args: readonly string[]): { program: string; args: string[] } {
  return { program: '/bin/sh', args: ['-c', '"$@"; exit $?', 'sh', program, ...args] };
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function textOf(content: readonly { type: string; text?: unknown }[]): string {
  return content.map((part) => String(part.text ?? '')).join('\n');
}
