/** `hive serve`: MCP over Streamable HTTP for agents on other machines, on loopback unless told otherwise. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { createRemoteHooks, HOOK_PATH } from '../adapters/hooks/remote-hook.ts';
import { createMcpOverHttp } from '../adapters/mcp/http.ts';
import { MCP_PATH } from '../adapters/mcp/mcp-path.ts';
import type { Hive } from '../application/hive.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { randomIds } from '../infrastructure/platform/ids.ts';
import { findPlace } from '../infrastructure/platform/project.ts';
import { openHive } from '../open-hive.ts';
import { untilSignalled } from './lifetime.ts';
import { remark } from './output.ts';
import { FIRST_TOKEN, tokenFile, writeTokenFile } from './token-file.ts';

interface ServeOptions {
  host: string;
  port: string;
  allowHost: string[];
  cert?: string;
  key?: string;
}

/** A client that sends its headers or body drop by drop is dropped (slow loris). */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MOST_CONNECTIONS = 2_000;
const LIMITS = { burst: 50, rate: 50, most_sessions: 500, idle_ms: 30 * 60_000, most_bytes: 1024 * 1024 };

export function defineServe(command: Command): void {
  command
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes a free one', '7373')
    .option('--allow-host <name...>', 'further host names that clients may use', [])
    .option('--cert <file>', 'TLS certificate, PEM')
    .option('--key <file>', 'TLS key, PEM')
    .action((options: ServeOptions) => serve(options));
}

async function serve(options: ServeOptions): Promise<void> {
  const stop = untilSignalled();
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalidInput(`--port ${options.port} is no port: 0 to 65535.`);
  const hive = await openHive();
  hive.startExpiry();
  try {
    await makeFirstToken(hive);
    const mcp = createMcpOverHttp(hive, {
      ...LIMITS,
      hosts: new Set(['localhost', '127.0.0.1', '[::1]', options.host, ...options.allowHost]),
      place: findPlace(process.cwd()),
      make_id: () => randomIds.make('connection'),
      routes: { [HOOK_PATH]: createRemoteHooks(hive) },
    });
    const server = listenerOf(options, mcp.listener);
    const address = await listen(server, options.host, port);
    process.stdout.write(
      `Serving MCP at ${options.cert === undefined ? 'http' : 'https'}://${address}${MCP_PATH}\n`,
    );
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    await mcp.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  } finally {
    await hive.close();
  }
  process.exit(0);
}

async function makeFirstToken(hive: Hive): Promise<void> {
  const tokens = await hive.tokens.list();
  if (tokens.some((token) => token.revoked_at === null)) return;
  const { secret } = await hive.tokens.make({
    name: FIRST_TOKEN,
    agent: `remote-${hostname()}`.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 64),
  });
  writeTokenFile(process.env, secret);
  remark(`A first token was made; it lies in ${tokenFile(process.env)} (hive token show).`);
}

function listenerOf({ cert, key }: ServeOptions, listener: Parameters<typeof createServer>[1]): Server {
  const limits = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1_000,
  };
  if ((cert === undefined) !== (key === undefined)) throw invalidInput('TLS needs both --cert and --key.');
  const server =
    cert === undefined || key === undefined
      ? createServer(limits, listener)
      : createTlsServer({ ...limits, cert: readFileSync(cert), key: readFileSync(key) }, listener);
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new HiveError(
          'invalid_input',
          `Cannot listen on ${host}:${port} (${error.code}): choose another --port or --host.`,
        ),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}
