/** MCP on stdio: one process, one connection, until the client closes our stdin or asks us to stop. */
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

/** A question that is far too long is refused with a sentence; only what is absurd ends the connection. */
const LONGEST_MESSAGE = 16 * 1024 * 1024;

/** Resolves when the connection has ended. Claude Code ends a child with SIGINT, Codex with EOF or SIGTERM: `stop` covers both. */
export async function serveStdio(
  server: McpServer,
  { input, output, stop }: { input: Readable; output: Writable; stop: AbortSignal },
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
    // A client that is gone leaves a broken pipe; there is nobody left to tell.
    output.once('error', () => resolve());
    stop.addEventListener('abort', () => resolve(), { once: true });
    // The transport gives up on a message longer than its buffer, and would leave us running deaf.
    server.server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(input, output, { maxBufferSize: LONGEST_MESSAGE }));
  await closed;
  await server.close();
}
