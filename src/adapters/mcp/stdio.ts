/** MCP on stdio: one process, one connection, until the client closes our stdin or asks us to stop. */
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type HookRoute, hookRoute, type RunHook } from './hook-calls.ts';

/** The one connection of a process. */
export interface StdioConnection {
  /**
   * Serves the connection with this server from now on. If it replaces another, the client's handshake is replayed to
   * it, and the client notices nothing. `onHook` handles the hook events that the client sends. Resolves when the
   * connection has ended.
   */
  serve(server: McpServer, onHook?: RunHook): Promise<void>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
}

/** Claude Code ends a child with SIGINT, Codex with EOF or SIGTERM: `stop` covers both. */
export function openStdio(input: Readable, output: Writable, stop: AbortSignal): StdioConnection {
  const inner = new LineTransport(input, output);
  const handshake: JSONRPCMessage[] = [];
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

  async function connect(server: McpServer, hooks: HookRoute | null): Promise<void> {
    const again = [...handshake];
    const answered = new Set(again.flatMap((message) => ('id' in message ? [message.id] : [])));
    const transport: Transport = {
      async start() {
        if (!started) await inner.start();
        started = true;
      },
      async send(message) {
        // The client already has the answer to its handshake from the previous server.
        if ('id' in message && !('method' in message) && answered.delete(message.id)) return;
        await inner.send(message);
      },
      close: () => inner.close(),
    };
    // The transport gives up on a message longer than its buffer; without this we would keep running without input.
    server.server.onclose = end;
    inner.onmessage = (message) => {
      if (hooks?.takes(message) === true) return;
      if ('method' in message && HANDSHAKE.has(message.method)) handshake.push(message);
      transport.onmessage?.(message);
    };
    inner.onclose = () => transport.onclose?.();
    inner.onerror = (error) => transport.onerror?.(error);
    await server.connect(transport);
    for (const message of again) transport.onmessage?.(message);
  }

  return {
    ended,
    async serve(server, onHook) {
      const hooks = onHook === undefined ? null : hookRoute(onHook, (message) => inner.send(message));
      await connect(server, hooks);
      await ended;
      hooks?.end();
      await server.close();
    },
  };
}

const HANDSHAKE: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized']);

// ---- The transport ----
// MCP on two streams: each message is one line of JSON (modelcontextprotocol.io/specification, "stdio"). The protocol
// layer checks anyway whether an object is a message. The SDK's own transport checks its whole schema first, which takes
// a tenth of the server's side of a call, and copies a long message once for each chunk.

/** In bytes. A question that is too long is refused with a sentence; only an absurd length ends the connection. */
export const LONGEST_MESSAGE: number = 16 * 1024 * 1024;

const NEWLINE = 10;

/** MCP's stdio transport, one line of JSON per message. */
export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  /** Called for a line that is not a JSON object, which is skipped, and for one that is too long, which ends the connection. */
  onerror?: (error: Error) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  /** The beginning of a line that is not complete yet. */
  #begun: Buffer[] = [];
  #begun_bytes = 0;
  #open = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#open = true;
    this.#input.on('data', this.#read);
    this.#input.on('error', this.#fail);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const taken = this.#output.write(`${JSON.stringify(message)}\n`);
    if (!taken) await new Promise<void>((resolve) => this.#output.once('drain', resolve));
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
    let message: unknown;
    try {
      message = JSON.parse(line.toString());
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    if (message !== null && typeof message === 'object' && !Array.isArray(message))
      this.onmessage?.(message as JSONRPCMessage);
    else this.#fail(new Error('A line that is not a JSON object was skipped.'));
  }
}
