/**
 * The HTTP server of `hive serve`, before a request is attributed to anybody: its limits, and the checks that apply to everybody.
 * A proxy in front of it and Hive must read the same request, path and host. So a request that Node's parser refuses, or that can
 * be read in two ways, is refused with a sentence and the connection ends.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface DoorLimits {
  /** In ms: headers and whole requests that take longer to arrive are refused (slow loris). */
  headers_ms: number;
  request_ms: number;
  /** In ms: how often connections are checked for this. */
  check_ms: number;
  most_connections: number;
  /**
   * The most connections over which nobody has been admitted yet. One more ends the oldest of them. More than a server has sessions,
   * because after a break of the network all of them may come back at once.
   */
  most_strangers: number;
}

const LIMITS: DoorLimits = {
  headers_ms: 10_000,
  request_ms: 30_000,
  check_ms: 1_000,
  most_connections: 2_000,
  most_strangers: 1_000,
};
/** In bytes: the path and all headers except the cookies. */
const MOST_HEADER_BYTES = 16 * 1024;
/**
 * In bytes: as many cookies of 4 KB as a browser keeps for a host. Cookies are not separated by port: a browser also sends those
 * of every other server on this machine, and they must not close the inbox.
 */
const MOST_COOKIE_BYTES = 180 * (4 * 1024 + 2);
/** A browser sends about twenty. */
const MOST_HEADERS = 200;
/** In ms. A machine that sleeps or has left its network sends nothing: after this time the system checks, to end dead streams. */
const SILENT_MS = 60_000;
/** Requests of one connection that wait for their answers. Browsers send one at a time; waiting requests use memory. */
const MOST_UNANSWERED = 16;

export function createDoor(
  listener: RequestListener,
  {
    tls = null,
    limits: given = {},
  }: { tls?: { cert: string; key: string } | null; limits?: Partial<DoorLimits> },
) {
  const limits = { ...LIMITS, ...given };
  const strangers = createStrangers(limits.most_strangers);
  /** The requests that are being answered, by connection. */
  const answering = new WeakMap<Duplex, Set<ServerResponse>>();
  const options = {
    headersTimeout: limits.headers_ms,
    requestTimeout: limits.request_ms,
    connectionsCheckingInterval: limits.check_ms,
    maxHeaderSize: MOST_HEADER_BYTES + MOST_COOKIE_BYTES,
    keepAlive: true,
    keepAliveInitialDelay: SILENT_MS,
  };

  function take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const open = answering.get(socket) ?? new Set();
    if (socket.destroyed || open.size === MOST_UNANSWERED) return void socket.destroy();
    answering.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
    const refusal = refusalOf(request);
    if (refusal === null) listener(request, response);
    else response.writeHead(refusal.status, headOf(refusal.text)).end(refusal.text);
  }

  const server =
    tls === null
      ? createServer(options, take)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: limits.headers_ms }, take);
  server.maxConnections = limits.most_connections;
  // Some versions of Node silently drop the headers above this count; MOST_HEADERS refuses the request instead.
  server.maxHeadersCount = 0;
  server.on('connection', strangers.came);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const hasBegun = [...(answering.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    // In the middle of an answer, a sentence would become part of the answer.
    if (error.code === 'ECONNRESET' || hasBegun || !socket.writable) return void socket.destroy();
    const [status, text] = FAULTS[error.code ?? ''] ?? NOT_HTTP;
    const lines = [`HTTP/1.1 ${status}`, ...Object.entries(headOf(text)).map((entry) => entry.join(': '))];
    socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
  });
  return {
    server,
    /** A token or a device was admitted over this socket, which is then not ended for a stranger. */
    admitted: strangers.admitted,
  };
}

/** The headers of a refusal, in ASCII. The rest of the request is not read. */
function headOf(text: string): Record<string, string> {
  return {
    'Content-Type': 'text/plain',
    'Content-Length': String(text.length),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
}

const TOO_LARGE = `The path and the headers of this request are too large: at most ${MOST_HEADER_BYTES} bytes, and ${MOST_COOKIE_BYTES} of cookies.`;

/** The refusals of Node's parser, by the code of its error. */
const FAULTS: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', TOO_LARGE],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    '413 Payload Too Large',
    'The extensions of the chunks of this request are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'This request took too long to arrive.'],
};
const NOT_HTTP = ['400 Bad Request', 'This is not a valid HTTP/1.1 request.'] as const;

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;

/** Why a request is refused, regardless of its sender; null if it is not. */
function refusalOf(request: IncomingMessage): { status: number; text: string } | null {
  const { url = '', rawHeaders, headersDistinct } = request;
  const { host = [] } = headersDistinct;
  if (rawHeaders.length > 2 * MOST_HEADERS)
    return { status: 431, text: `This request has too many headers: at most ${MOST_HEADERS}.` };
  if (sizeOf(request) > MOST_HEADER_BYTES) return { status: 431, text: TOO_LARGE };
  if (host.length > 1) return { status: 400, text: 'A request has one Host.' };
  if (host.some((name) => name !== '' && !HOST.test(name)))
    return { status: 400, text: 'The Host of a request is a name and a port.' };
  // A proxy that passes on only /inbox may not notice that /inbox/%2e%2e/mcp is another path.
  if (url.startsWith('/') && URL.parse(url, 'http://localhost')?.pathname === url.split('?')[0]) return null;
  return {
    status: 400,
    text: 'A path is written in its shortest form: it begins with /, and has no dots or backslashes as steps.',
  };
}

/** The size in bytes of the path and all headers except the cookies. */
function sizeOf({ url = '', rawHeaders }: IncomingMessage): number {
  let size = url.length;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
    if (name.toLowerCase() !== 'cookie') size += name.length + value.length + 4;
  }
  return size;
}

/**
 * Connections over which nobody has been admitted, oldest first. Few are allowed: a client that opens many loses its own oldest
 * ones, and one that has shown a token or a session loses nothing. They are identified by their remote address and port, because
 * the socket of a TLS request is not the one that was accepted.
 */
function createStrangers(most: number): { came(socket: Socket): void; admitted(socket: Socket): void } {
  const waiting = new Map<string, Socket>();
  const farEnd = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  return {
    came(socket) {
      const name = farEnd(socket);
      waiting.set(name, socket);
      socket.once('close', () => {
        if (waiting.get(name) === socket) waiting.delete(name);
      });
      const [oldest] = waiting.values();
      if (waiting.size > most) oldest?.destroy();
    },
    admitted: (socket) => void waiting.delete(farEnd(socket)),
  };
}
