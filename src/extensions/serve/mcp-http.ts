/**
 * MCP over Streamable HTTP (MCP specification 2025-11-25, transports): many connections in one process, each with the
 * agent and role of its token. Streams can be resumed; an unused connection is closed after a while. Requests of the revision
 * without sessions are accepted, too (modern-http.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EventStore,
  StreamableHTTPServerTransport,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { notJson, type Refusal as RefusedMessage, readEnvelopes } from '../../adapters/mcp/envelope.ts';
import type { CallerOfToken, GuardOptions, HttpOptions, McpOverHttp } from '../../adapters/mcp/over-http.ts';
import { announce, createMcpServer } from '../../adapters/mcp/server.ts';
import type { Hive } from '../../application/hive.ts';
import { CUT_OFF } from '../../domain/hooks.ts';
import { MCP_PATH, PARENT_PID } from '../../domain/installation.ts';
import { excessOf } from '../../domain/json.ts';
import { parseJson } from '../../domain/json-numbers.ts';
import type { Token } from '../../domain/tokens.ts';
import {
  createModernEndpoint,
  type ModernEndpoint,
  type ModernPost,
  readModernPost,
  refuseModern,
} from './modern-http.ts';
import { MOST_BYTES } from './remote-hook.ts';
import { machineOf } from './tokens.ts';

interface Session {
  token: string;
  /** The time of its last request, or of the end of its last response. */
  used_at: number;
  /** The requests and streams in progress. */
  responses: Set<ServerResponse>;
  close(): Promise<void>;
}

/** The requests of one token and one client, which have no session and share a server. */
interface ClientOfToken extends Session {
  endpoint: ModernEndpoint;
}

const SWEEP_MS = 30_000;
/** How many ms waiting calls get to return when the server ends. */
const DRAIN_MS = 700;

export function createMcpOverHttp(hive: Hive, options: HttpOptions): McpOverHttp {
  const { tokens } = options;
  const guard = createHttpGuard(options);
  /** Begun by `initialize`. */
  const sessions = new Map<string, Session & { transport: StreamableHTTPServerTransport }>();
  const clients = new Map<string, ClientOfToken>();
  const routes = new Map(Object.entries(options.routes ?? {}));
  const stopping = new AbortController();
  const answering = new Set<ServerResponse>();
  /** The responses that have not closed, by their share. */
  const inProgress = new Map<string, Set<ServerResponse>>();
  /** The requests and streams in progress that a token has admitted. */
  const admitted = new Map<AbortController, Token>();
  const unwatch = tokens.watch((valid) => {
    // A client from which its token is taken may still show the dialog that its hook waits for.
    for (const [ending, { digest }] of admitted) if (!valid.has(digest)) ending.abort(CUT_OFF);
  });

  /** Lasts until the returned controller is removed from `admitted`. */
  function admit(token: Token): AbortController {
    const ending = new AbortController();
    admitted.set(ending, token);
    return ending;
  }

  const sweep = setInterval(() => {
    for (const client of clients.values()) client.endpoint.keepAlive();
    for (const session of [...sessions.values(), ...clients.values()])
      if (performance.now() - lastUse(session) > options.idle_ms) void session.close();
  }, SWEEP_MS);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = URL.parse(request.url ?? '', 'http://localhost')?.pathname ?? '';
    const route = request.method === 'POST' ? routes.get(path) : undefined;
    if (path !== MCP_PATH && route === undefined) {
      return say(response, { status: 404, message: `Nothing is served here; MCP is at ${MCP_PATH}.` });
    }
    // Hooks have limits of their own, so that the calls of an agent leave room for what guards it.
    const shareOf = ({ name }: Token): string => (route === undefined ? name : `the hooks of ${name}`);
    const admission = await guard.admit(request, shareOf);
    if ('refusal' in admission) return say(response, admission.refusal);
    const share = shareOf(admission.token);
    options.onAdmitted?.(request.socket);
    const busy = refuseBusy(admission.token, share, response);
    if (busy !== null) return say(response, busy);
    const body =
      request.method === 'POST'
        ? await readBody(request, options.most_bytes, route === undefined ? JSON.parse : parseJson)
        : undefined;
    if (body !== undefined && 'refusal' in body) return say(response, body.refusal);
    guard.charge(share, body?.bytes ?? 0);
    // The client has left, and nothing would end work that is begun for it, because the response does not close again.
    if (response.closed) return;
    if (route !== undefined) {
      const ending = admit(admission.token);
      const { token } = admission;
      return route({ response, token, json: body?.json, revoked: ending.signal }).finally(() =>
        admitted.delete(ending),
      );
    }
    const read = body === undefined ? { json: undefined } : readMessages(body.json);
    if ('refusal' in read) return say(response, read.refusal);
    const { json } = read;
    const post = request.method === 'POST' ? readModernPost(request, json) : null;
    if (post !== null) return handleModern(post, response, admission.token);
    const id = request.headers['mcp-session-id'];
    if (id === undefined) return begin(request, response, json, admission.token);
    const session = typeof id === 'string' ? sessions.get(id) : undefined;
    // A session of another token is treated as one that never existed.
    if (session === undefined || session.token !== admission.token.name) {
      return say(response, {
        status: 404,
        message: 'This session does not exist (any more): initialize again.',
      });
    }
    use(session, response);
    if (request.method === 'POST') answer(response);
    await session.transport.handleRequest(request, response, json);
  }

  /** Why this token may not have a further request in progress; null if it may, and has it until the response closes. */
  function refuseBusy({ name }: Token, share: string, response: ServerResponse): Refusal | null {
    const own = inProgress.get(share) ?? new Set();
    if (own.size >= options.most_requests_of_token)
      return {
        status: 429,
        message: `The token "${name}" has ${own.size} requests and streams in progress, the most that one token may have. Let one of them end, then try again.`,
        headers: { 'Retry-After': '1' },
      };
    if (response.closed) return null;
    inProgress.set(share, own.add(response));
    response.once('close', () => own.delete(response));
    return null;
  }

  /** Why this token may not have a further session; null if it may. */
  function refuseMore(token: Token): Refusal | null {
    const all = [...sessions.values(), ...clients.values()];
    if (all.length >= options.most_sessions) {
      return {
        status: 503,
        message: `All ${options.most_sessions} sessions of this server are in use.`,
        headers: { 'Retry-After': '10' },
      };
    }
    const own = all.filter((session) => session.token === token.name);
    if (own.length < options.most_sessions_of_token) return null;
    const oldest = Math.min(...own.map(lastUse));
    const seconds = Math.max(1, Math.ceil((oldest + options.idle_ms - performance.now()) / 1000));
    return {
      status: 429,
      message: `The token "${token.name}" has ${own.length} open sessions, the most that one token may have. Close one (DELETE with its Mcp-Session-Id), or try again in ${seconds} s, when the least used one may have been closed.`,
      headers: { 'Retry-After': String(seconds) },
    };
  }

  /** The token identifies the caller; what a remote client says about itself is only a claim. */
  function elsewhere(token: Token): CallerOfToken {
    return {
      env: { HIVE_AGENT: token.agent },
      trusts_meta: false,
      project: { ...options.project, ...token.projects[0] },
      machine: machineOf(token),
      // The process that it reports is only compared with hooks of its own machine.
      parent_pid: null,
    };
  }

  /** A server for a new connection of this token; `ending` is aborted when the token is revoked. */
  function connect(token: Token) {
    const connection_id = options.make_id();
    const ending = admit(token);
    const caller = (options.caller ?? elsewhere)(token);
    const server = createMcpServer(
      hive,
      {
        ...caller,
        stopping: AbortSignal.any([stopping.signal, ending.signal]),
        stillAdmitted: () => tokens.holds(token),
        connection_id,
      },
      token.role,
    );
    return { connection_id, machine: caller.machine, server, ending };
  }

  function answer(response: ServerResponse): void {
    answering.add(response);
    response.once('close', () => answering.delete(response));
  }

  async function handleModern(post: ModernPost, response: ServerResponse, token: Token): Promise<void> {
    if (post.kind === 'refused') return refuseModern(response, post.answer);
    if (post.kind === 'notification') return void response.writeHead(202).end();
    const { name, version } = post.client;
    // The digest is included, because a rotated token must not continue what ends with the old secret.
    const key = JSON.stringify([token.digest, name, version]);
    const known = clients.get(key);
    const refused = known === undefined ? refuseMore(token) : null;
    if (refused !== null) return say(response, refused);
    const client = known ?? (await beginClient(key, token));
    use(client, response);
    answer(response);
    await client.endpoint.handle(post.request, response);
  }

  async function beginClient(key: string, token: Token): Promise<ClientOfToken> {
    const { connection_id, machine, server, ending } = connect(token);
    const endpoint = createModernEndpoint(server);
    const client: ClientOfToken = {
      token: token.name,
      used_at: performance.now(),
      responses: new Set(),
      endpoint,
      async close() {
        clients.delete(key);
        admitted.delete(ending);
        await endpoint.close();
        await forget(hive, [connection_id]);
      },
    };
    clients.set(key, client);
    ending.signal.addEventListener('abort', () => void client.close().catch(() => undefined), { once: true });
    await announce(hive, { connection_id, machine, parent_pid: null });
    return client;
  }

  async function begin(
    request: IncomingMessage,
    response: ServerResponse,
    json: unknown,
    token: Token,
  ): Promise<void> {
    if (!isInitializeRequest(json))
      return say(response, { status: 400, message: 'A session begins with initialize.' });
    const refused = refuseMore(token);
    if (refused !== null) return say(response, refused);
    const { connection_id, machine, server, ending } = connect(token);
    const parent_pid = parentPid(request);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => connection_id,
      eventStore: createReplayStore(),
      onsessioninitialized: async (id) => {
        const session = {
          transport,
          token: token.name,
          used_at: 0,
          responses: new Set<ServerResponse>(),
          close,
        };
        use(session, response);
        sessions.set(id, session);
        await announce(hive, { connection_id, machine, parent_pid });
      },
    });
    async function close(): Promise<void> {
      sessions.delete(connection_id);
      await server.close();
    }
    ending.signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true });
    transport.onclose = () => {
      sessions.delete(connection_id);
      admitted.delete(ending);
      if (!stopping.signal.aborted) void forget(hive, [connection_id]);
    };
    // The SDK declares its own transport too loosely for exactOptionalPropertyTypes.
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    try {
      await transport.handleRequest(request, response, json);
    } finally {
      // The transport refused the request, for example for its Accept header: no session is left to close later.
      if (!sessions.has(connection_id)) {
        admitted.delete(ending);
        await server.close();
      }
    }
  }

  return {
    listener(request, response) {
      handle(request, response).catch((error: unknown) => {
        hive.log.error('A request over HTTP failed.', { error: String(error) });
        if (!response.headersSent)
          say(response, { status: 500, message: 'Hive failed on this request; its log says why.' });
      });
    },
    async close() {
      clearInterval(sweep);
      unwatch();
      stopping.abort();
      for (const { endpoint } of clients.values()) endpoint.end();
      const deadline = performance.now() + DRAIN_MS;
      while (answering.size > 0 && performance.now() < deadline) await sleep(10);
      const ids = [...sessions.keys()];
      await Promise.all([...sessions.values(), ...clients.values()].map((session) => session.close()));
      await forget(hive, ids);
    },
    get sessions() {
      return sessions.size + clients.size;
    },
  };
}

/** A session is in use until this response has ended. */
function use(session: Session, response: ServerResponse): void {
  session.used_at = performance.now();
  if (response.closed) return;
  session.responses.add(response);
  response.once('close', () => {
    session.responses.delete(response);
    session.used_at = performance.now();
  });
}

function lastUse({ used_at, responses }: Session): number {
  return responses.size > 0 ? performance.now() : used_at;
}

async function forget(hive: Hive, connection_ids: readonly string[]): Promise<void> {
  if (connection_ids.length === 0) return;
  await hive.callers.closeConnections(connection_ids).catch((error: unknown) => {
    hive.log.warn('Connections that ended stay recorded until the next one begins.', {
      error: String(error),
    });
  });
}

/** The client's process on its own machine, as the bridge reports it; null when nobody does. */
function parentPid({ headers }: IncomingMessage): number | null {
  const pid = Number(headers[PARENT_PID]);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}

/** Answers with an error in the form of MCP's HTTP transport: JSON-RPC, without an id unless one was read. */
function say(response: ServerResponse, { status, message, answer, headers = {} }: Refusal): void {
  // The rest of a short request is read and forgotten, because a client that still sends would lose the answer if the connection
  // ended. The rest of any other one is not read.
  const isShort = Number(response.req.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= MOST_BYTES;
  const ending = isShort ? {} : { Connection: 'close' };
  response.writeHead(status, { 'Content-Type': 'application/json', ...ending, ...headers });
  response.end(JSON.stringify(answer ?? { jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
}

/** The message or the batch in a body; a batch with an invalid message is refused as a whole. */
function readMessages(body: unknown): { json: unknown } | { refusal: Refusal } {
  const messages: JSONRPCMessage[] = [];
  for (const envelope of readEnvelopes(body)) {
    if ('refusal' in envelope) return { refusal: refusedMessage(envelope.refusal) };
    messages.push(envelope.message);
  }
  return { json: Array.isArray(body) ? messages : messages[0] };
}

function refusedMessage(answer: RefusedMessage): Refusal {
  return { status: 400, message: answer.error.message, answer };
}

async function readBody(
  request: IncomingMessage,
  most: number,
  parse: (text: string) => unknown,
): Promise<{ json: unknown; bytes: number } | { refusal: Refusal }> {
  const tooLarge = { refusal: { status: 413, message: `The request is too large: at most ${most} bytes.` } };
  if (Number(request.headers['content-length'] ?? 0) > most) return tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) return tooLarge;
    chunks.push(chunk);
  }
  // Some clients send a byte order mark first.
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const excess = excessOf(text);
  if (excess !== null) return { refusal: { status: 400, message: excess } };
  try {
    return { json: parse(text), bytes: size };
  } catch {
    return { refusal: refusedMessage(notJson()) };
  }
}

// ---- The guard ----
// Admission and rates over HTTP: both are decided before any part of a request's body is read. Without a token there
// is no access, not even on loopback, where any web page could otherwise reach us (DNS rebinding: Host and Origin).

interface Refusal {
  status: number;
  message: string;
  /** The whole answer, if it is more than the message. */
  answer?: RefusedMessage;
  headers?: Record<string, string>;
}

type Admission = { token: Token } | { refusal: Refusal };

/** How many bytes count as one request. */
const BYTES_A_REQUEST = 128 * 1024;

function createHttpGuard({ tokens, hosts, burst, rate }: GuardOptions) {
  const buckets = new Map<string, { left: number; at: number }>();

  /** A rate limit per share. There are no more shares than twice the tokens, so the map does not grow without bound. */
  function isTooFast(share: string): boolean {
    const now = performance.now();
    const bucket = buckets.get(share) ?? { left: burst, at: now };
    const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * rate);
    // Long requests may have made the balance negative.
    buckets.set(share, { left: left < 1 ? Math.min(0, left) : left - 1, at: now });
    return left < 1;
  }

  return {
    /** Requests of one share are counted together. */
    async admit({ headers }: IncomingMessage, shareOf: (token: Token) => string): Promise<Admission> {
      if (!hosts.has(hostName(headers.host)))
        return refuse(403, 'This Host is not allowed: see hive serve --allow-host.');
      if (headers.origin !== undefined && !hosts.has(originName(headers.origin))) {
        return refuse(403, 'This Origin is not allowed: see hive serve --allow-host.');
      }
      const secret = /^Bearer (\S{1,200})$/i.exec(headers.authorization ?? '')?.[1];
      const token = secret === undefined ? undefined : await tokens.verify(secret);
      if (token === undefined) {
        return {
          refusal: {
            status: 401,
            message:
              secret === undefined
                ? 'A token is required: Authorization: Bearer … (hive token make NAME makes one).'
                : 'This token is unknown here or was revoked. Ask for another one: hive token make NAME',
            headers: { 'WWW-Authenticate': 'Bearer realm="hive"' },
          },
        };
      }
      if (isTooFast(shareOf(token))) {
        return {
          refusal: {
            status: 429,
            message: `More than ${rate} requests a second with one token (a long one counts as several): slow down.`,
            headers: { 'Retry-After': '1' },
          },
        };
      }
      return { token };
    },

    /** Counts a long request as several, because the server's work grows with its bytes. */
    charge(share: string, bytes: number): void {
      const bucket = buckets.get(share);
      if (bucket !== undefined) bucket.left -= Math.floor(bytes / BYTES_A_REQUEST);
    },
  };
}

function refuse(status: number, message: string): Admission {
  return { refusal: { status, message } };
}

function hostName(host: string | undefined): string {
  return originName(`http://${host ?? ''}`);
}

function originName(origin: string): string {
  return URL.parse(origin)?.hostname ?? '';
}

// ---- Resuming a stream ----
// The last messages of one connection, kept in memory, for a client that missed some.

/** More messages than a client misses during a reconnect; an answer missed beyond that is delivered again by a poll. */
const KEPT = 100;
/** The total size of all messages, as JSON. The newest is kept whatever its size. */
const KEPT_BYTES = 1024 * 1024;

export function createReplayStore(): EventStore {
  const kept: { id: string; stream: string; message: JSONRPCMessage; bytes: number }[] = [];
  let count = 0;
  let kept_bytes = 0;
  return {
    async storeEvent(stream, message) {
      count += 1;
      const id = `${stream}_${count}`;
      const bytes = Buffer.byteLength(JSON.stringify(message));
      kept.push({ id, stream, message, bytes });
      kept_bytes += bytes;
      while (kept.length > KEPT || (kept.length > 1 && kept_bytes > KEPT_BYTES))
        kept_bytes -= kept.shift()?.bytes ?? 0;
      return id;
    },
    async replayEventsAfter(last, { send }) {
      const from = kept.findIndex(({ id }) => id === last);
      const stream = kept[from]?.stream ?? last.slice(0, last.lastIndexOf('_'));
      for (const event of kept.slice(from + 1))
        if (event.stream === stream) await send(event.id, event.message);
      return stream;
    },
  };
}
