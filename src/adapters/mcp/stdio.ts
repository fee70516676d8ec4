/** MCP on stdio: one process, one connection, until the client closes our stdin or asks us to stop. */
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { LineTransport } from './line-transport.ts';

/** The one connection of a process. */
export interface StdioConnection {
  /**
   * Serves it from now on, in place of the server before, if there was one: the client's greeting is told to it again,
   * and the client notices nothing. Resolves when the connection has ended.
   */
  serve(server: McpServer): Promise<void>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
}

/** Claude Code ends a child with SIGINT, Codex with EOF or SIGTERM: `stop` covers both. */
export function openStdio(input: Readable, output: Writable, stop: AbortSignal): StdioConnection {
  const inner = new LineTransport(input, output);
  const greeting: JSONRPCMessage[] = [];
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  input.once('end', end);
  input.once('close', end);
  // A client that is gone leaves a broken pipe; there is nobody left to tell.
  output.once('error', end);
  stop.addEventListener('abort', end, { once: true });
  let started = false;

  async function connect(server: McpServer): Promise<void> {
    const again = [...greeting];
    const answered = new Set(again.flatMap((message) => ('id' in message ? [message.id] : [])));
    const transport: Transport = {
      async start() {
        if (!started) await inner.start();
        started = true;
      },
      async send(message) {
        // The client has had its answer to the greeting from the server before.
        if ('id' in message && !('method' in message) && answered.delete(message.id)) return;
        await inner.send(message);
      },
      close: () => inner.close(),
    };
    // The transport gives up on a message longer than its buffer, and would leave us running deaf.
    server.server.onclose = end;
    inner.onmessage = (message) => {
      if ('method' in message && GREETS.has(message.method)) greeting.push(message);
      transport.onmessage?.(message);
    };
    inner.onclose = () => transport.onclose?.();
    inner.onerror = (error) => transport.onerror?.(error);
    await server.connect(transport);
    for (const message of again) transport.onmessage?.(message);
  }

  return {
    ended,
    async serve(server) {
      await connect(server);
      await ended;
      await server.close();
    },
  };
}

const GREETS: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized']);
