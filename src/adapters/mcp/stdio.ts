/**
 * MCP on stdio: one process, one connection, until the client closes our stdin or asks us to stop. The calls of the client's
 * hooks come over the same connection (below).
 */
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionHook, HookCall } from '../../application/hook-context.ts';
import { CUT_OFF } from '../../domain/hooks.ts';
import { HOOK_TOOL } from '../../domain/installation.ts';
import { notJson, type Refusal, readEnvelopes } from './envelope.ts';
import { envelopeOf } from './modern.ts';
import { modernOverLines } from './modern-lines.ts';

export type StdioConnection = ReturnType<typeof openStdio>;

/** The one connection of a process. Claude Code ends a child with SIGINT, Codex with EOF or SIGTERM: `stop` covers both. */
export function openStdio(input: Readable, output: Writable, stop: AbortSignal) {
  const inner = new LineTransport(input, output);
  const handshake: JSONRPCMessage[] = [];
  let toServer: Transport['onmessage'];
  function deliver(message: JSONRPCMessage): void {
    if ('method' in message && HANDSHAKE.has(message.method)) handshake.push(message);
    toServer?.(message);
  }
  const modern = modernOverLines(deliver, (message) => inner.send(message), { tasks: true });
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  input.once('end', end);
  input.once('close', end);
  // A client that is gone leaves a broken pipe; there is nobody left to notify.
  output.once('error', end);
  stop.addEventListener('abort', end, { once: true });
  let started = false;

  async function connect(server: McpServer, hooks: ReturnType<typeof hookRoute> | null): Promise<void> {
    const again = [...handshake];
    const answered = new Set(again.flatMap((message) => ('id' in message ? [message.id] : [])));
    const transport: Transport = {
      async start() {
        if (!started) await inner.start();
        started = true;
      },
      async send(message, options) {
        // The client already has the answer to its handshake from the previous server.
        if ('id' in message && !('method' in message) && answered.delete(message.id)) return;
        await modern.write(message, options?.relatedRequestId);
      },
      close: () => inner.close(),
    };
    // The transport gives up on a message longer than its buffer; without this we would keep running without input.
    server.server.onclose = end;
    inner.onmessage = (message) => {
      if (hooks?.takes(message) === true || modern.takes(message)) return;
      deliver(message);
    };
    inner.onclose = () => transport.onclose?.();
    inner.onerror = (error) => transport.onerror?.(error);
    toServer = (message) => transport.onmessage?.(message);
    await server.connect(transport);
    for (const message of again) toServer(message);
  }

  return {
    /** Resolves when the connection has ended. */
    ended,
    /**
     * Serves the connection with this server from now on. If it replaces another, the client's handshake is replayed to
     * it, and the client notices nothing. `onHook` handles the hook events that the client sends. Resolves when the
     * connection has ended.
     */
    async serve(server: McpServer, onHook?: ConnectionHook): Promise<void> {
      const hooks = onHook === undefined ? null : hookRoute(onHook, (message) => inner.send(message));
      await connect(server, hooks);
      await ended;
      hooks?.end();
      modern.end();
      await server.close();
    },
  };
}

const HANDSHAKE: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized']);

// ---- Hooks over the connection ----
// A client calls HOOK_TOOL for each of its hook events, so that no process is started for it. These calls are taken off the
// connection before the protocol layer sees them: its checks would take longer than answering (see performance.md in
// docs/internals), and an agent waits for each of its hooks. adapters/hooks/connection-hook.ts handles them.

type Meta = Readonly<Record<string, unknown>> | undefined;

/** The event in the parameters of a `tools/call`. */
function hookCall(args: unknown, meta: Meta): HookCall {
  const thread = meta?.['threadId'];
  return { args: (args ?? {}) as HookCall['args'], thread_id: typeof thread === 'string' ? thread : null };
}

/** In Claude Code and in Codex: the field that holds the id of a call by the model. Calls of hooks have none. */
const MODEL_CALL_IDS = ['claudecode/toolUseId', 'callId'];

/** The client reads the text of the result as the output of a hook. It would pass an empty text on to its model. */
function hookResult(output: string, isModern: boolean): CallToolResult {
  const content = [{ type: 'text' as const, text: output === '' ? '{}' : output }];
  return isModern ? { resultType: 'complete', content } : { content };
}

/** Answers the hook calls of one connection; `send` writes to the client. */
export function hookRoute(onHook: ConnectionHook, send: (message: JSONRPCMessage) => Promise<void>) {
  /** Calls in progress, by the id of their request. */
  const calls = new Map<unknown, AbortController>();

  function answer(id: string | number, hook: HookCall, isModern: boolean): void {
    const call = new AbortController();
    calls.set(id, call);
    onHook(hook, call.signal)
      .then(
        (output) => ({ jsonrpc: '2.0' as const, id, result: hookResult(output, isModern) }),
        // A failed hook lets the tool run; the client shows its user the reason.
        (error: unknown) => ({
          jsonrpc: '2.0' as const,
          id,
          error: { code: -32000, message: String(error) },
        }),
      )
      // A call that its client has cancelled gets no answer.
      .then((response) => (call.signal.aborted ? undefined : send(response)))
      // The connection is gone, and nobody waits for the answer.
      .catch(() => undefined)
      .finally(() => calls.delete(id));
  }

  return {
    /** True for a client's hook call and for its cancellation: nobody else may see them. */
    takes(message: JSONRPCMessage): boolean {
      if (!('method' in message)) return false;
      const { method, params = {} } = message;
      if (method === 'notifications/cancelled') {
        const call = calls.get(params['requestId']);
        call?.abort();
        return call !== undefined;
      }
      if (method !== 'tools/call' || !('id' in message) || params['name'] !== HOOK_TOOL) return false;
      const meta = params['_meta'] as Meta;
      if (MODEL_CALL_IDS.some((name) => meta?.[name] !== undefined)) return false;
      answer(message.id, hookCall(params['arguments'], meta), envelopeOf(message) !== null);
      return true;
    },
    /** Ends the calls that wait, because the connection has ended. */
    end(): void {
      for (const call of calls.values()) call.abort(CUT_OFF);
    },
  };
}

// ---- The transport ----
// MCP on two streams: each message is one line of JSON (modelcontextprotocol.io/specification, "stdio"). The SDK's own
// transport checks its whole schema first, which takes a tenth of the server's side of a call, silently drops invalid messages,
// and copies a long message once for each chunk.

/** In bytes. A question that is too long is refused with a sentence; only an absurd length ends the connection. */
export const LONGEST_MESSAGE: number = 16 * 1024 * 1024;

const NEWLINE = 10;

/** MCP's stdio transport, one line of JSON per message. */
export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  /** Called for an invalid line, which is answered, and for one that is too long, which ends the connection. */
  onerror?: (error: Error) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  /** The beginning of a line that is not complete yet. */
  #begun: Buffer[] = [];
  #begun_bytes = 0;
  #open = false;
  /** Resolves when a slow reader has taken what was written. */
  #drained: Promise<void> | null = null;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#open = true;
    this.#input.on('data', this.#read);
    this.#input.on('error', this.#fail);
  }

  async send(message: JSONRPCMessage | Refusal): Promise<void> {
    if (this.#output.write(`${JSON.stringify(message)}\n`)) return;
    this.#drained ??= new Promise<void>((resolve) => this.#output.once('drain', resolve)).finally(() => {
      this.#drained = null;
    });
    await this.#drained;
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#input.off('data', this.#read);
    this.#input.off('error', this.#fail);
    this.#input.pause();
    this.#begun = [];
    this.onclose?.();
  }

  readonly #fail = (error: Error): void => this.onerror?.(error);

  readonly #read = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && this.#open; end = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, end));
      from = end + 1;
    }
    if (!this.#open || from === chunk.length) return;
    this.#begun.push(chunk.subarray(from));
    this.#begun_bytes += chunk.length - from;
    if (this.#begun_bytes <= LONGEST_MESSAGE) return;
    this.#fail(new Error(`A message is longer than ${LONGEST_MESSAGE} bytes: the connection is closed.`));
    void this.close();
  };

  /** Handles a line, given its last chunk. */
  #take(end: Buffer): void {
    const line = this.#begun.length === 0 ? end : Buffer.concat([...this.#begun, end]);
    this.#begun = [];
    this.#begun_bytes = 0;
    // Some clients send a byte order mark first.
    const text = line.toString().replace(/^\uFEFF/, '');
    if (text.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      this.#fail(error as Error);
      this.#refuse(notJson());
      return;
    }
    for (const envelope of readEnvelopes(value)) {
      if (!this.#open) return;
      if ('message' in envelope) {
        this.onmessage?.(envelope.message);
        continue;
      }
      this.#fail(new Error(`A line was refused: ${envelope.refusal.error.message}`));
      this.#refuse(envelope.refusal);
    }
  }

  #refuse(refusal: Refusal): void {
    // A client that is gone needs no answer.
    this.send(refusal).catch(() => undefined);
  }
}
