/** The listener of `hive serve`, its limits and a first token; a sidecar may serve, too (beside-emacs.ts). */
import type { Server } from 'node:http';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { INBOX_PATH, inboxAddress, type StartInbox } from '../../adapters/inbox.ts';
import type { Hive } from '../../application/hive.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { MCP_PATH } from '../../domain/installation.ts';
import { NOWHERE } from '../../domain/places.ts';
import { isLoopback, isReadableByOthers } from '../../domain/tokens.ts';
import { EDIT_TOOLS_ELSEWHERE } from '../../infrastructure/platform/edits.ts';
import { readFileOnly } from '../../infrastructure/platform/files.ts';
import { randomIds } from '../../infrastructure/platform/ids.ts';
import { thisSeat } from '../../infrastructure/platform/paths.ts';
import { findProject } from '../../infrastructure/platform/project.ts';
import { createDoor } from './door.ts';
import { createMcpOverHttp } from './mcp-http.ts';
import { createRemoteHooks, createRemoteWakes, HOOK_PATH, MOST_BYTES, WAKE_PATH } from './remote-hook.ts';
import { FIRST_TOKEN, tokenFile, writeTokenFile } from './token.ts';
import { tokensOf } from './tokens.ts';

/** @throws HiveError `invalid_input`. */
export function portOf(what: string, text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalidInput(`${what} ${text} is not a port. Give a number from 0 to 65535.`);
  return port;
}

export interface ServingOptions {
  host: string;
  port: number;
  allowHost: readonly string[];
  cert?: string | undefined;
  key?: string | undefined;
  /** Whether the inbox is served; the address at which phones reach it, if it is not the address of this listener. */
  inbox?: true | string | undefined;
  /** Starts the inbox, which is an extension of its own. */
  startInbox: StartInbox;
}

interface Serving {
  /** The address of MCP: `http://127.0.0.1:7373/mcp`. */
  url: string;
  /** The address of the inbox; null if it is not served. */
  inbox_url: string | null;
  /** Why `hive phone` will not know that address; null if it does. */
  problem: string | null;
  /** The file of the first token, if this start made it. */
  made_token: string | null;
  /** Lets waiting calls return first. */
  close(): Promise<void>;
}

const LIMITS = {
  burst: 50,
  rate: 50,
  most_sessions: 500,
  most_sessions_of_token: 100,
  most_requests_of_token: 500,
  idle_ms: 30 * 60_000,
  most_bytes: MOST_BYTES,
};

/** @throws HiveError `invalid_input` for an address that cannot be listened on. */
export async function startServing(hive: Hive, options: ServingOptions): Promise<Serving> {
  const { host, port, allowHost, cert, startInbox } = options;
  const servesInbox = options.inbox !== undefined;
  const named = typeof options.inbox === 'string' ? inboxAddress(options.inbox) : null;
  // --insecure does not help: a browser gives such a page no keys.
  if (servesInbox && cert === undefined && !isLoopback(host))
    throw invalidInput(
      `Over plain HTTP a phone cannot use the inbox at ${host}: its browser makes no keys there. Use --cert and --key, or listen on 127.0.0.1 behind a proxy with TLS.`,
    );
  if (named !== null && isReadableByOthers(new URL(named)))
    throw invalidInput(
      `A phone cannot use the inbox at ${named}: its browser makes no keys there. Name an https address (docs/inbox.md shows how to get one).`,
    );
  const own = named === null ? [] : [new URL(named).hostname];
  const hosts = new Set(['localhost', '127.0.0.1', '::1', host, ...allowHost, ...own].map(hostName));
  // The rules of the human who serves. Each rule says whether it applies to other machines.
  const rules = {
    seat: thisSeat(),
    human: async () => ({ trust: hive.trust.file(), place: NOWHERE }),
    editTools: async () => EDIT_TOOLS_ELSEWHERE,
  };
  const door = createDoor(
    (request, response) => {
      const path = URL.parse(request.url ?? '', 'http://localhost')?.pathname ?? '';
      const owner = inbox?.owns(path) === true ? inbox : mcp;
      owner.listener(request, response);
    },
    { tls: tlsOf(options) },
  );
  const mcp = createMcpOverHttp(hive, {
    ...LIMITS,
    tokens: tokensOf(hive),
    onAdmitted: door.admitted,
    hosts,
    project: findProject(process.cwd()),
    make_id: () => randomIds.make('connection'),
    routes: {
      [HOOK_PATH]: createRemoteHooks(hive, rules),
      [WAKE_PATH]: createRemoteWakes(hive, rules),
    },
  });
  let inbox_url: string | null = named;
  const contact = (): string | null => inbox_url;
  const inbox = servesInbox
    ? await startInbox(hive, {
        folder: join(import.meta.dirname, 'inbox'),
        // Next to the token.
        key_file: join(dirname(tokenFile(process.env)), 'push-key'),
        hosts,
        tls: cert !== undefined,
        onAdmitted: (request) => door.admitted(request.socket),
        contact,
      })
    : null;
  let forget: (() => void) | null = null;
  try {
    const made_token = await makeFirstToken(hive);
    const { server } = door;
    const address = await listen(server, host, port);
    const scheme = cert === undefined ? 'http' : 'https';
    if (inbox !== null) inbox_url ??= addressFor(`${scheme}://${address}`, allowHost);
    let problem: string | null = null;
    try {
      forget = inbox === null || inbox_url === null ? null : inbox.servedAt(inbox_url);
    } catch (error) {
      problem = `hive phone and M-x hive-phone will not know where this inbox is (${messageOf(error)}). Give it to them with --url.`;
    }
    return {
      url: `${scheme}://${address}${MCP_PATH}`,
      inbox_url,
      problem,
      made_token,
      async close() {
        forget?.();
        await inbox?.close();
        await mcp.close();
        server.closeAllConnections();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      },
    };
  } catch (error) {
    await inbox?.close();
    await mcp.close();
    throw error;
  }
}

/** The address for phones of a listener on all addresses: its first host name. */
function addressFor(origin: string, allowHost: readonly string[]): string {
  const url = new URL(INBOX_PATH, origin);
  if (['0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = allowHost[0] ?? 'localhost';
  return url.href;
}

/** The name in the form of `URL.hostname`: in lower case, an IPv6 address in brackets and as short as possible. */
function hostName(name: string): string {
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  return URL.parse(`http://${bracketed}`)?.hostname ?? name;
}

async function makeFirstToken(hive: Hive): Promise<string | null> {
  const tokens = await tokensOf(hive).list();
  if (tokens.some((token) => token.revoked_at === null)) return null;
  const { secret } = await tokensOf(hive).make({
    name: FIRST_TOKEN,
    agent: `remote-${hostname()}`.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 64),
  });
  writeTokenFile(process.env, secret);
  return tokenFile(process.env);
}

/** @throws HiveError `invalid_input` if one of the two is missing or cannot be used. */
function tlsOf({ cert, key }: ServingOptions): { cert: string; key: string } | null {
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) throw invalidInput('TLS needs both --cert and --key.');
  const pair = { cert: pemIn('--cert', cert), key: pemIn('--key', key) };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw invalidInput(
      `--cert ${cert} and --key ${key} are not a certificate in PEM and its key (${messageOf(error)}).`,
    );
  }
  return pair;
}

function pemIn(option: string, file: string): string {
  try {
    return readFileOnly(file);
  } catch (error) {
    throw invalidInput(`${option} ${file} cannot be read (${messageOf(error)}).`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new HiveError(
          'invalid_input',
          `Cannot listen on ${host}:${port} (${error.code}). Choose another port or host.`,
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
