/** An agent's connection to `hive mcp`, which may die at any time and is opened again with the next call. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { Failure, failureOf, lost, within } from '../failures.ts';
import type { Environment, Host, Installation, Running } from '../installation.ts';

/** Longer than a write waits for the store. */
const CALL_MS = 9_000;

export type Result = Readonly<Record<string, unknown>>;

export interface McpLine {
  /**
   * @throws Failure with the code of the error; `lost` when the process went away or was silent; `interrupted` when
   * the agent's turn is to stop and the tool did nothing.
   */
  call(tool: string, args?: Record<string, unknown>): Promise<Result>;
  end(): Promise<void>;
}

export function mcpLine(
  installation: Installation,
  worker: string,
  args: readonly string[],
  env: Environment,
  /** How long a call may take. */
  limit_ms = CALL_MS,
  host: Host = 'own',
): McpLine {
  let line: { client: Client; running: Running; gone: Promise<never> } | null = null;

  async function connect(): Promise<NonNullable<typeof line>> {
    const running = await installation.start(worker, ['mcp', ...args], { env, host });
    const { stdin, stdout } = running.child;
    const gone = running.exited.then(() => Promise.reject(lost('hive mcp went away')));
    gone.catch(() => undefined);
    const client = new Client({ name: worker, version: '1.0.0' });
    // Lines in, lines out: the same at both ends.
    const connecting = client.connect(new StdioServerTransport(stdout, stdin));
    connecting.catch(() => undefined);
    try {
      await within(limit_ms, 'initialize', Promise.race([connecting, gone]));
    } catch (error) {
      await drop(running);
      throw error instanceof Failure ? error : lost(String(error));
    }
    return { client, running, gone };
  }

  async function drop(running: Running): Promise<void> {
    line = null;
    installation.kill(running.pid);
    await running.exited;
  }

  return {
    async call(tool, given = {}) {
      line ??= await connect();
      const { client, running, gone } = line;
      const request = client.request(
        { method: 'tools/call', params: { name: tool, arguments: given } },
        CallToolResultSchema,
        { timeout: 2 * limit_ms },
      );
      request.catch(() => undefined);
      try {
        const result = await within(limit_ms, tool, Promise.race([request, gone]));
        if (result.isError === true) throw failureOf(textOf(result.content));
        return resultOf(result.structuredContent ?? {});
      } catch (error) {
        if (error instanceof Failure && error.code !== 'lost') throw error;
        await drop(running);
        throw error instanceof Failure ? error : lost(String(error));
      }
    },
    async end() {
      if (line === null) return;
      const { running } = line;
      line = null;
      running.child.stdin.end();
      await running.exited;
    },
  };
}

/** Stopped, with nothing else to report. */
function resultOf(result: Result): Result {
  const { status, interrupted_by, note, next, ...rest } = result;
  if (status === 'interrupted' && Object.keys(rest).length === 0)
    throw new Failure('interrupted', `By ${interrupted_by} (${note}): ${next}`);
  return result;
}

function textOf(content: readonly { type: string; text?: unknown }[]): string {
  return content.map((part) => String(part.text ?? '')).join('\n');
}
