/** A raw JSON-RPC client for a sidecar: it sees every frame as sent, and can send broken ones. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { serveEmacs } from '../../src/adapters/emacs/connection.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { type Child, childEnvironment, type Environment, type Exit, spawnHive } from './children.ts';
import { recordingLog } from './hive.ts';
import { closedAtEnd, whenFinished } from './lifetime.ts';
import { PATIENCE_MS } from './wait.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are of many shapes, and the assertions say which
export type Loose = any;

export interface Frame {
  id?: number | string | null;
  method?: string;
  params?: Loose;
  result?: Loose;
  error?: { code: number; message: string; data?: Loose };
}

export class RpcError extends Error {
  readonly code: number;
  readonly data: Loose;
  constructor({ code, message, data }: NonNullable<Frame['error']>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The client's side of the connection. */
export interface RpcClient {
  /** Everything the sidecar sent, in order. */
  readonly frames: readonly Frame[];
  /** The size of the largest frame so far, in bytes. */
  largest(): number;
  request(method: string, params?: unknown): Promise<Loose>;
  notify(method: string, params?: unknown): void;
  /** Bytes as they are. */
  raw(bytes: string | Buffer): void;
  /** A frame of this content, which need not be JSON. */
  frame(content: string): void;
  /** The first frame, past or future, for which `test` holds. */
  seen(test: (frame: Frame) => boolean, limit_ms?: number): Promise<Frame>;
  /** The reply to `initialize`. */
  hello: Loose;
}

/** A real `hive sidecar`. */
export interface Sidecar extends RpcClient {
  readonly child: Child;
  /** Closes its stdin. */
  end(): Promise<Exit>;
}

export const INITIALIZE = { protocol_version: 1, client: { name: 'test', version: '1.0' }, human: 'Ada' };

/** Starts a sidecar and shakes hands with it, unless `handshake` is false. */
export async function startSidecar(
  store: string,
  {
    env = {},
    handshake = true,
    args = [],
    seat_key = null,
  }: {
    env?: Environment;
    handshake?: boolean;
    args?: readonly string[];
    /** The key of its desk; without one, what is answered there is unattested. */
    seat_key?: string | null;
  } = {},
): Promise<Sidecar> {
  const child = spawnHive(['sidecar', ...args], childEnvironment(store, env));
  const { stdin, stdout } = child.process;
  const client = createClient(stdin, stdout, () => child.stderr());
  if (handshake) await shakeHands(client, seat_key);
  return Object.assign(client, {
    child,
    end() {
      stdin.end();
      return child.exited;
    },
  });
}

/** The same connection without a separate process, which is much faster; the handshake is done. */
export async function serveInProcess(
  hive: OpenedHive,
  { seat = 'ada@test', seat_key = null }: { seat?: string; seat_key?: string | null } = {},
): Promise<RpcClient> {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const place = { seat, human: 'ada', pid: process.pid, check: async () => undefined };
  const extensions = await emacsExtensions();
  const options = { ...place, input, output, stop: stop.signal, extensions };
  const served = serveEmacs(hive, { ...options, ending: () => undefined });
  whenFinished(async () => {
    stop.abort();
    await served;
  });
  const client = createClient(input, output, () => 'see the log of the hive');
  await shakeHands(client, seat_key);
  return client;
}

/** A desk of this seat with a hive of its own, which finds in this environment what a sidecar would. */
export async function openDeskHere(
  store: string,
  { env = {}, seat_key = null }: { env?: Environment; seat_key?: string | null } = {},
): Promise<RpcClient> {
  const hive = closedAtEnd(await openHive({ store, env: childEnvironment(store, env), log: recordingLog() }));
  return serveInProcess(hive, { seat: thisSeat(), seat_key });
}

async function shakeHands(client: RpcClient, seat_key: string | null = null): Promise<void> {
  client.hello = await client.request('initialize', { ...INITIALIZE, seat_key });
  client.notify('initialized', {});
}

/** A client at the streams of a sidecar that the test started in its own way. */
export function clientOf(input: Writable, output: Readable): RpcClient {
  return createClient(input, output, () => 'see its stderr');
}

function createClient(input: Writable, output: Readable, said: () => string): RpcClient {
  const frames: Frame[] = [];
  const listeners = new Set<() => void>();
  let largest = 0;
  let ids = 0;
  readFrames(output, (text) => {
    largest = Math.max(largest, Buffer.byteLength(text));
    frames.push(JSON.parse(text) as Frame);
    for (const listener of [...listeners]) listener();
  });

  const frame = (content: string): void => {
    input.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
  };
  const send = (message: object): void => frame(JSON.stringify({ jsonrpc: '2.0', ...message }));

  function seen(test: (frame: Frame) => boolean, limit_ms = PATIENCE_MS): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        listeners.delete(look);
        reject(new Error(`no such frame within ${limit_ms} ms; the sidecar says: ${said()}`));
      }, limit_ms);
      const look = (): void => {
        const found = frames.find(test);
        if (found === undefined) return;
        clearTimeout(timer);
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
    });
  }

  return {
    frames,
    largest: () => largest,
    frame,
    seen,
    hello: null,
    raw: (bytes) => input.write(bytes),
    notify: (method, params) => send({ method, params }),
    async request(method, params) {
      ids += 1;
      const id = ids;
      send({ id, method, params });
      const reply = await seen((candidate) => candidate.id === id && candidate.method === undefined);
      if (reply.error !== undefined) throw new RpcError(reply.error);
      return reply.result;
    },
  };
}

function readFrames(output: Readable, onFrame: (text: string) => void): void {
  let buffer = Buffer.alloc(0);
  output.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const head = buffer.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/Content-Length: (\d+)/.exec(buffer.toString('ascii', 0, head))?.[1]);
      if (buffer.length < head + 4 + length) return;
      onFrame(buffer.toString('utf8', head + 4, head + 4 + length));
      buffer = buffer.subarray(head + 4 + length);
    }
  });
}

/** Whether a frame is such a notification; for use with `seen`. */
export function isTold(
  method: string,
  test: (params: Frame['params']) => boolean = () => true,
): (frame: Frame) => boolean {
  return (frame) => frame.method === method && test(frame.params);
}
