/** `hive mcp --deny`, which a run adds to Claude Code, so that it offers its questions and plans to the model (run.ts). */
import { setTimeout } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { refusal, validatorOnDemand } from '../../adapters/mcp/server.ts';
import { openStdio } from '../../adapters/mcp/stdio.ts';
import { untilAbandoned } from '../../cli/program.ts';
import { VERSION } from '../../version.ts';
import { DENYING_SERVER, DENYING_TOOL, NOT_PERMITTED } from './run.ts';

/** Serves it. It needs no store, so it starts quickly. */
export async function runDenying(): Promise<void> {
  await openStdio(process.stdin, process.stdout, untilAbandoned()).serve(createDenyingServer());
  process.exit(0);
}

/**
 * The server with only one tool, whose name makes Claude Code offer its questions and plans to the model.
 * The client calls the tool in parallel with the hook of a PermissionRequest, and the first answer wins. The hook always gives
 * an answer, so the tool denies only after the hook must have ended.
 */
function createDenyingServer(): McpServer {
  const server = new McpServer(
    { name: DENYING_SERVER, version: VERSION },
    { capabilities: { tools: {} }, jsonSchemaValidator: validatorOnDemand },
  );
  const description = 'Not for you: your client asks here for a permission.';
  const inputSchema = { type: 'object' as const, properties: {} };
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: DENYING_TOOL, description, inputSchema }],
  }));
  server.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    // The call is not from the client, which names the tool that it asks about.
    if (params.arguments?.['tool_name'] === undefined)
      return refusal({ code: 'not_allowed', message: `${description} Nothing was done.` });
    await setTimeout(HOOK_HAS_ENDED_MS, undefined, { signal }).catch(() => undefined);
    return {
      content: [{ type: 'text', text: JSON.stringify({ behavior: 'deny', message: NOT_PERMITTED }) }],
    };
  });
  return server;
}

/** Claude Code lets the hook run for ten minutes. */
const HOOK_HAS_ENDED_MS = 620_000;
