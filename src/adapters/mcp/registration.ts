/** What every MCP server of ours is, with a store behind it or without. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  McpError,
  type ServerNotification,
  type ServerRequest,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { HiveError } from '../../domain/errors.ts';
import type { Role } from '../../domain/tokens.ts';
import { VERSION } from '../../version.ts';
import { INSTRUCTIONS } from './instructions.ts';
import type { Tool } from './tool.ts';
import { hiddenFrom, toolsFor } from './tools.ts';

/** Checks forms that a client fills in, of which we send none: the SDK's own takes 5 ms of each start. */
const madeAtNeed: jsonSchemaValidator = {
  getValidator: (schema) => new AjvJsonSchemaValidator().getValidator(schema),
};

/** A server without tools. */
export function newMcpServer(): McpServer {
  return new McpServer(
    { name: 'hive', version: VERSION },
    { instructions: INSTRUCTIONS, capabilities: { tools: {} }, jsonSchemaValidator: madeAtNeed },
  );
}

/** How a tool shows itself to a client. */
function configOf({ title, description, input, readOnly }: Tool): {
  title: string;
  description: string;
  inputSchema: Tool['input'];
  annotations: ToolAnnotations;
  _meta: Record<string, unknown>;
} {
  return {
    title,
    description,
    inputSchema: input,
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: false,
      idempotentHint: readOnly,
      openWorldHint: false,
    },
    // Claude Code may hide tools behind a search; these are few, and wanted unasked.
    _meta: { 'anthropic/alwaysLoad': true },
  };
}

/** What a call brings beside its arguments. */
export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Runs a tool with the arguments as the client wrote them. */
export type RunTool = (tool: Tool, written: unknown, extra: CallExtra) => Promise<CallToolResult>;

/**
 * Lists the tools of a role and runs them; a call of another role's tool is told how to get that role. The SDK runs a
 * tool only with the arguments that its schema knows, and drops the others before anybody sees them; so the calls come
 * here as they were written.
 */
export function offerTools(server: McpServer, role: Role, isRemote: boolean, run: RunTool): void {
  const tools = toolsFor(role);
  const hidden = hiddenFrom(role);
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  for (const tool of tools) {
    server.registerTool(tool.name, configOf(tool), (args: unknown, extra) => run(tool, args, extra));
  }
  server.server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = known.get(params.name);
    if (tool !== undefined) return run(tool, params.arguments, extra);
    if (!hidden.has(params.name)) return unknownTool(params.name);
    // Listed, it would cost every agent its tokens; unexplained, the model could only guess.
    const client = server.server.getClientVersion()?.name ?? '';
    return refusal({ code: 'not_allowed', message: howToCoordinate(params.name, client, isRemote) });
  });
}

function unknownTool(name: string): CallToolResult {
  const { message } = new McpError(ErrorCode.InvalidParams, `Tool ${name} not found`);
  return { isError: true, content: [{ type: 'text', text: message }] };
}

/** A refusal of ours as the model reads it. */
export function refusal({ code, message }: Pick<HiveError, 'code' | 'message'>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `${code}: ${message}` }] };
}

function howToCoordinate(tool: string, client: string, isRemote: boolean): string {
  const set = isRemote
    ? 'your human makes a token with that role: hive token make NAME --role coordinator'
    : /claude/i.test(client)
      ? 'your human runs: hive init claude --role coordinator'
      : /codex/i.test(client)
        ? 'your human runs: hive init codex --role coordinator'
        : 'your human starts the server of your client with: hive mcp --role coordinator';
  return `${tool} is for coordinators, and this server runs with the role "agent". To get it, ${set}. It holds from the next session on. Do not change that yourself; ask your human.`;
}

/**
 * A server whose store could not be opened: a process that just ended would leave the model without a word, and
 * without tools. Each call tries again; as long as that fails it says why.
 */
export function createRefusingServer(role: Role, open: () => Promise<HiveError | null>): McpServer {
  const server = newMcpServer();
  const refuse = async (): Promise<CallToolResult> => {
    const error = await open();
    if (error === null) {
      const message = 'The store could not be opened until now; it is open again. Call once more.';
      return refusal({ code: 'store_unavailable', message });
    }
    const message = `${error.message} Hive answers nothing until then; each call tries again. If it stays so, tell your human.`;
    return refusal({ code: error.code, message });
  };
  offerTools(server, role, false, refuse);
  return server;
}
