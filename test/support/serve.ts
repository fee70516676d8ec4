/** A real `hive serve` child, clients of it, and raw requests to it. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import type { Hive } from '../../src/application/hive.ts';
import { createMcpOverHttp } from '../../src/extensions/serve/mcp-http.ts';
import { tokenFile } from '../../src/extensions/serve/token.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type Child, childEnvironment, type Environment, readOutput, spawnHive } from './children.ts';
import { openTestHive } from './hive.ts';
import { closedAtEnd } from './lifetime.ts';
import { listen } from './listen.ts';
import { tempStore } from './temp.ts';
import { eventually } from './wait.ts';

export interface Served {
  url: string;
  child: Child;
  store: string;
  /** The token made at the first start. */
  token: string;
}

export function serve(store: string, ...args: string[]): Promise<Served> {
  return serveWith(store, {}, ...args);
}

/** The same on a new store, which this process opens, too. */
export async function serveNew(): Promise<{ served: Served; hive: OpenedHive }> {
  const served = await serve(tempStore());
  return { served, hive: await openTestHive(served.store) };
}

/** The same with its own environment. */
export async function serveWith(store: string, env: Environment, ...args: string[]): Promise<Served> {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const child = spawnHive(['serve', ...port, ...args], childEnvironment(store, env));
  const said = readOutput(child);
  await eventually(() => said().includes('\n'), 10_000, 'hive serve');
  const url = /https?:\S+/.exec(said())?.[0] ?? '';
  const file = tokenFile(childEnvironment(store, env));
  const token = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return { url, child, store, token };
}

interface ServedHere {
  url: string;
  mcp: ReturnType<typeof createMcpOverHttp>;
}

/** MCP over HTTP in this process, for tests that stop the clock or change what the server is given. */
export async function serveHere(
  hive: Hive,
  changes: Partial<Parameters<typeof createMcpOverHttp>[1]> = {},
): Promise<ServedHere> {
  let count = 0;
  const mcp = createMcpOverHttp(hive, {
    tokens: tokensOf(hive),
    ...{ most_sessions: 10, most_sessions_of_token: 10, most_requests_of_token: 100 },
    ...{ idle_ms: 60_000, most_bytes: 10_000 },
    ...{ hosts: new Set(['127.0.0.1']), burst: 100, rate: 100 },
    project: { project: 'p', project_dir: '/p', branch: null },
    make_id: () => {
      count += 1;
      return `connection-${count}`;
    },
    ...changes,
  });
  const origin = await listen(createServer(mcp.listener));
  return { url: `${origin}/mcp`, mcp: closedAtEnd(mcp) };
}

export interface RemoteCaller {
  /** Answered in the order of the calls: one that was sent before is under way by then. */
  ping(): Promise<unknown>;
  call(
    name: string,
    args?: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function connectHttp({ url, token }: Pick<Served, 'url' | 'token'>): Promise<RemoteCaller> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: 'remote', version: '1.0.0' });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const close = (): Promise<void> => client.close();
  onTestFinished(close);
  return {
    ping: () => client.ping(),
    close,
    async call(name, args = {}, meta) {
      const result = await client.request(
        {
          method: 'tools/call',
          params: { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
        },
        CallToolResultSchema,
      );
      if (result.isError === true) throw new Error(JSON.stringify(result.content));
      return result.structuredContent ?? {};
    },
  };
}

export interface RawReply {
  status: number;
  body: string;
}

/** Sends one request exactly as given; `body` may be endless. */
export function rawRequest(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = '{}',
    path,
  }: { method?: string; headers?: Record<string, string>; body?: string; path?: string },
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(url);
    const request = httpRequest(
      {
        hostname,
        port,
        path: path ?? pathname,
        method,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => {
        let said = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body: said }));
        response.once('error', reject);
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

export const INITIALIZE: string = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});
