/**
 * The bridge for an agent that only speaks MCP on stdio: it passes messages to `hive serve` and back. Messages of a client of
 * the newest revision are passed on in the older one, which has sessions (modern-lines.ts). When the server restarts or is
 * away, the session begins again with the client's own handshake, and messages that certainly did
 * not arrive are sent again. A message that may have arrived gets an error as its answer and is never sent twice.
 */
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { modernOverLines } from '../../adapters/mcp/modern-lines.ts';
import { hookRoute, LineTransport } from '../../adapters/mcp/stdio.ts';
import type { ConnectionHook } from '../../application/hook-context.ts';
import { HiveError } from '../../domain/errors.ts';
import { PARENT_PID } from '../../domain/installation.ts';
import { tokenIn, untrusted } from './sending.ts';

export interface BridgeOptions {
  url: URL;
  token_file: string;
  input: Readable;
  output: Writable;
  stop: AbortSignal;
  /** Handles a hook event that the client sends over this connection: it goes to the server by another route. */
  onHook?: ConnectionHook;
}

/** How many ms a message is retried while the server cannot be reached. */
const PATIENCE_MS = 20_000;
const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 3_000;
/** The longest pause between two attempts to begin a session again while no message is waiting for it. */
const LONGEST_PAUSE_MS = 30_000;
/** How many ms a server has to answer a handshake that it has accepted. */
const ANSWER_MS = 10_000;
const RECONNECTING = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 2_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};
/** The connection could not be made, so no part of the message has arrived. */
const NOT_ARRIVED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** The connection ended before the answer came. */
const CUT: ReadonlySet<unknown> = new Set(['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT']);
const GONE = 404;
const TOO_MANY = 429;
const BUSY: ReadonlySet<unknown> = new Set([TOO_MANY, 503]);

/** The server has accepted a handshake but has not answered it. */
class Unanswered extends Error {}

/** An error response: its status, and the reason in its body. */
class ErrorAnswer extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string) {
    super(`${status}${reason}`);
    this.status = status;
    this.reason = reason;
  }
}

/** Resolves when the client is gone. @throws HiveError `not_allowed` when the token is refused at the beginning. */
export async function runBridge({
  url,
  token_file,
  input,
  output,
  stop,
  onHook,
}: BridgeOptions): Promise<void> {
  const near = new LineTransport(input, output);
  /** The requests that the client waits for, and those among them that the server has accepted. */
  const waiting = new Set<RequestId>();
  const taken = new Set<RequestId>();
  const sending = new Set<Promise<void>>();
  /** The resources that the client follows; a new session must subscribe to them again. */
  const followed = new Set<string>();
  /** Subscriptions in progress: the client's own requests, and our repetitions of them in a new session. */
  const following = new Map<RequestId, string>();
  const renewing = new Map<RequestId, string>();
  let renewals = 0;
  let far: StreamableHTTPClientTransport | null = null;
  let hello: JSONRPCRequest | null = null;
  let opening: Promise<StreamableHTTPClientTransport> | null = null;
  let refused: HiveError | null = null;
  let finish = (): void => undefined;
  let isFinished = false;
  const finished = new Promise<void>((resolve) => {
    finish = () => {
      isFinished = true;
      resolve();
    };
  });

  async function request(target: string | URL, init: RequestInit = {}): Promise<Response> {
    // Read with each request, so that a rotated token continues the session.
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${tokenIn(token_file)}`);
    headers.set(PARENT_PID, String(process.ppid));
    try {
      const response = await fetch(target, { ...init, headers });
      // The transport takes 405 to mean a server without streams.
      if (response.status < 400 || response.status === 405) return response;
      throw new ErrorAnswer(response.status, reasonIn(await response.text()));
    } catch (error) {
      const signal = init.signal ?? stop;
      // The transport asks only once for the stream of a new session, without which the client gets no notifications.
      const isFirstOfStream = init.method === 'GET' && !headers.has('last-event-id');
      const isOver = error instanceof ErrorAnswer && error.status < 500 && error.status !== TOO_MANY;
      if (!isFirstOfStream || isOver || signal.aborted) throw error;
      await sleep(LAST_PAUSE_MS, undefined, { signal });
    }
    return request(target, init);
  }

  function connect(
    onReply: (message: JSONRPCMessage) => void,
    onFault: () => void,
  ): StreamableHTTPClientTransport {
    const transport = new StreamableHTTPClientTransport(url, {
      reconnectionOptions: RECONNECTING,
      fetch: request,
    });
    transport.onmessage = onReply;
    transport.onerror = (error) => {
      onFault();
      const given_up = /Maximum reconnection attempts/.test(error.message);
      if (given_up || codeOf(error) === GONE) lose(transport);
    };
    return transport;
  }

  function back(message: JSONRPCMessage): void {
    if ('id' in message && !('method' in message) && message.id !== undefined) {
      waiting.delete(message.id);
      taken.delete(message.id);
      const uri = following.get(message.id);
      following.delete(message.id);
      if (uri !== undefined && 'error' in message) followed.delete(uri);
    }
    modern.write(message).catch(finish);
  }

  /** The server no longer has this session. */
  function lose(lost: StreamableHTTPClientTransport): void {
    if (lost !== far) return;
    drop(() => lost.close());
    void reopen();
  }

  /** The client greets again, in another revision. What it began in the old session, it no longer waits for. */
  function leave(left: StreamableHTTPClientTransport): void {
    drop(async () => {
      // If this fails, the server ends a session that nobody uses.
      await left.terminateSession().catch(() => undefined);
      await left.close();
    });
  }

  /**
   * Nobody else will answer requests made over a session that ends. Messages still on their way to it are refused there and sent
   * again; if it were closed too early, they would count as messages that may have arrived.
   */
  function drop(end: () => Promise<void>): void {
    far = null;
    void Promise.allSettled(sending).then(end);
    for (const id of taken) failLost(id);
  }

  function failLost(id: RequestId): void {
    fail(
      id,
      `The connection to ${url.host} was lost. It is not known whether this was done: check with hivemind_poll, or call again.`,
    );
  }

  function fail(id: RequestId, message: string): void {
    back({ jsonrpc: '2.0', id, error: { code: -32000, message } });
  }

  /** Records which resources the client follows. */
  function note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    const uri = message.params?.['uri'];
    if (typeof uri !== 'string') return;
    if (message.method === 'resources/unsubscribe') followed.delete(uri);
    if (message.method !== 'resources/subscribe' || !('id' in message) || followed.has(uri)) return;
    followed.add(uri);
    following.set(message.id, uri);
  }

  /** Follows in a new session what the client followed in the previous one. */
  async function renew(session: StreamableHTTPClientTransport): Promise<void> {
    for (const uri of followed) {
      if (session !== far) return;
      renewals += 1;
      const id = `bridge-${renewals}`;
      renewing.set(id, uri);
      const request = { jsonrpc: '2.0' as const, id, method: 'resources/subscribe', params: { uri } };
      await forward(request).catch(() => renewing.delete(id));
    }
  }

  /** True for the answer to such a request. Events before it may have been missed, so the client is notified to look. */
  function takesRenewal(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return false;
    const uri = renewing.get(message.id);
    if (uri === undefined) return false;
    renewing.delete(message.id);
    back({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
    return true;
  }

  /** The mention gate and subscriptions need a session, so it is opened at once and not with the next message. */
  async function reopen(): Promise<void> {
    let pause_ms = FIRST_PAUSE_MS;
    while (far === null && !isFinished) {
      try {
        await reopened();
      } catch (error) {
        if (!mayTryAgain(error, true)) return;
        await sleep(pause_ms);
        pause_ms = Math.min(pause_ms * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  /** Begins a session again with the client's own handshake, whose answer the client has already. */
  function reopened(): Promise<StreamableHTTPClientTransport> {
    opening ??= opened(hello, false);
    return opening;
  }

  /** Begins a session with this handshake, after what is being opened already: each handshake has an answer of its own. */
  async function greeted(handshake: JSONRPCRequest): Promise<void> {
    while (opening !== null) await opening.catch(() => undefined);
    if (far !== null) leave(far);
    opening = opened(handshake, true);
    await opening;
  }

  function opened(handshake: JSONRPCRequest | null, first: boolean): Promise<StreamableHTTPClientTransport> {
    return begin(handshake, first).finally(() => {
      opening = null;
    });
  }

  async function begin(
    handshake: JSONRPCRequest | null,
    first: boolean,
  ): Promise<StreamableHTTPClientTransport> {
    if (handshake === null) throw new HiveError('invalid_input', 'The client has not initialized yet.');
    const answer = Promise.withResolvers<void>();
    const unanswered = (): void => answer.reject(new Unanswered('the handshake was not answered'));
    let isSent = false;
    const transport = connect(
      (message) => {
        const isHello = 'id' in message && message.id === handshake.id && !('method' in message);
        if (isHello && 'result' in message)
          transport.setProtocolVersion(String(message.result['protocolVersion'] ?? ''));
        if (takesRenewal(message)) return;
        if (!isHello || first) back(message);
        if (isHello) answer.resolve();
      },
      // Nothing else reports that a stream ends without the answer, and this does so even if the stream ends properly.
      () => isSent && unanswered(),
    );
    const limit = setTimeout(unanswered, ANSWER_MS);
    try {
      await transport.start();
      const sent = transport.send(handshake).then(() => {
        isSent = true;
        return answer.promise;
      });
      await Promise.race([answer.promise, sent]);
      if (!first) await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    } catch (error) {
      await transport.close();
      throw error;
    } finally {
      clearTimeout(limit);
    }
    far = transport;
    if (!first) void renew(transport);
    return transport;
  }

  /** @throws Error that explains why the message did not arrive, or may not have arrived. */
  async function forward(message: JSONRPCMessage): Promise<void> {
    const isHello = 'method' in message && message.method === 'initialize' && 'id' in message;
    if (isHello) hello = message as JSONRPCRequest;
    const deadline = performance.now() + PATIENCE_MS;
    for (let pause_ms = FIRST_PAUSE_MS; ; pause_ms = Math.min(pause_ms * 2, LAST_PAUSE_MS)) {
      let used: StreamableHTTPClientTransport | null = null;
      try {
        if (isHello) await greeted(message as JSONRPCRequest);
        else {
          used = far ?? (await reopened());
          const sent = used.send(message);
          sending.add(sent);
          await sent.finally(() => sending.delete(sent));
        }
        const id = requestId(message);
        if (id === null || !waiting.has(id)) return;
        if (used === null || used === far) taken.add(id);
        // Accepted over a session that was lost in the meantime: its answer will not come.
        else failLost(id);
        return;
      } catch (error) {
        if (codeOf(error) === GONE && used !== null) lose(used);
        const isLate = performance.now() + pause_ms > deadline;
        const isHandshake = used === null;
        const isOld = isHello && hello !== message;
        if (!mayTryAgain(error, isHandshake) || isLate || isOld || stop.aborted)
          throw new Error(describe(error, isHandshake, { url, token_file }));
      }
      await sleep(pause_ms);
    }
  }

  const hooks =
    onHook === undefined ? null : hookRoute(onHook, (message) => near.send(message).catch(finish));

  function deliver(message: JSONRPCMessage): void {
    const id = requestId(message);
    if (id !== null) waiting.add(id);
    note(message);
    forward(message).catch(({ message: sentence }: Error) => {
      if (id !== null && waiting.has(id)) fail(id, sentence);
      if (message === hello) {
        refused = new HiveError('not_allowed', sentence);
        finish();
      }
    });
  }

  const modern = modernOverLines(deliver, (message) => near.send(message));
  near.onmessage = (message) => {
    if (hooks?.takes(message) !== true && !modern.takes(message)) deliver(message);
  };
  near.onclose = finish;
  for (const event of ['end', 'close'] as const) input.once(event, finish);
  output.once('error', finish);
  stop.addEventListener('abort', finish, { once: true });
  await near.start();
  await finished;
  hooks?.end();
  modern.end();
  await (far as StreamableHTTPClientTransport | null)?.terminateSession().catch(() => undefined);
  await (far as StreamableHTTPClientTransport | null)?.close();
  await near.close();
  if (refused !== null) throw refused;
}

/** The id under which an answer is expected. */
function requestId(message: JSONRPCMessage): RequestId | null {
  return 'method' in message && 'id' in message ? message.id : null;
}

/** The status of the response, or the code of the error that prevented it. */
function codeOf(error: unknown): unknown {
  if (error instanceof ErrorAnswer) return error.status;
  return (error as { cause?: { code?: unknown } } | null)?.cause?.code;
}

/** Whether a message has certainly not arrived; or whether a handshake, which may arrive twice, may succeed later. */
function mayTryAgain(error: unknown, isHandshake: boolean): boolean {
  const code = codeOf(error);
  if (code === GONE || BUSY.has(code) || NOT_ARRIVED.has(code)) return true;
  return isHandshake && (error instanceof Unanswered || CUT.has(code) || Number(code) >= 500);
}

/** Tells whether anything was done, which a model must know before it calls again; a handshake does nothing. */
function describe(
  error: unknown,
  isHandshake: boolean,
  { url, token_file }: Pick<BridgeOptions, 'url' | 'token_file'>,
): string {
  if (error instanceof HiveError) return error.message;
  const code = codeOf(error);
  if (code === 401)
    return `${url.host} refuses the token in ${token_file}. Ask its human for one: hive token make NAME`;
  if (code === 403) return `${url.host} does not accept that host name: see hive serve --allow-host.`;
  const refusal = untrusted(url.host, code);
  if (refusal !== null) return refusal;
  if (error instanceof ErrorAnswer && error.status < 500)
    return `${url.host} refused this (${error.status})${error.reason} Nothing was done.`;
  const effect =
    isHandshake || BUSY.has(code) || NOT_ARRIVED.has(code)
      ? 'Nothing was done'
      : 'It is not known whether this was done';
  const problem =
    error instanceof ErrorAnswer
      ? `failed (${error.status})${error.reason}`
      : `cannot be reached (${String(code ?? (error instanceof Error ? error.message : error))}).`;
  return `${url.host} ${problem} ${effect}: call again later.`;
}

/** The message in the body of an error, as the end of a sentence. */
function reasonIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } };
    const message = error?.message;
    if (typeof message === 'string') return `: ${message}${/[.!?]$/.test(message) ? '' : '.'}`;
  } catch {
    // A proxy answers with an HTML page.
  }
  return '.';
}
