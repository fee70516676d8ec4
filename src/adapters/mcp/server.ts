/**
 * The MCP server of one connection, whatever the transport: who is calling, what a call's way in and out
 * looks like, and how an error becomes a result the model can read. Which tools there are, tools.ts says.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { createDeliveryTracker, mcpCarrier } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import type { CallerEvidence } from '../../application/identity.ts';
import type { Caller } from '../../application/sessions.ts';
import { HiveError } from '../../domain/errors.ts';
import { LONGEST_WAIT_MS } from '../../domain/prompts.ts';
import type { Session } from '../../domain/sessions.ts';
import { cleanDeep } from '../../domain/text.ts';
import type { Role } from '../../domain/tokens.ts';
import { VERSION } from '../../version.ts';
import { coordinatorPromptTools } from './coordinating.ts';
import { mentionTools } from './mentions.ts';
import { messageTools } from './messages.ts';
import { outreachTools } from './outreach.ts';
import { promptTools } from './prompts.ts';
import { offerResources } from './resources.ts';
import { sessionTools } from './sessions.ts';
import { statusTools } from './status.ts';
import type { Tool, ToolCall } from './tool.ts';
import { coordinatorTurnTools, inTurn } from './turns.ts';

/** What is fixed for the life of a connection; the rest of the evidence comes with each call. */
export interface Connection extends Omit<CallerEvidence, 'meta' | 'client'> {
  /** Off for a remote client: what it tells of its session is only a claim, the token says who it is. */
  trusts_meta: boolean;
  /** Aborted when this process is to end: calls that wait return what they have. */
  stopping: AbortSignal;
  /** Told with each call who it is that calls. */
  onCaller?: (session: Session) => void;
}

/** A server for one connection with the tools of its role, not yet connected to a transport. */
export function createMcpServer(hive: Hive, connection: Connection, role: Role): McpServer {
  const server = newMcpServer();
  async function resolve(given: Record<string, unknown>): Promise<Caller> {
    const client = server.server.getClientVersion()?.name ?? '';
    const meta = connection.trusts_meta ? given : toldByHooks(given);
    return hive.sessions.resolveCaller({ ...connection, meta, client });
  }
  offerResources(server, hive, async (meta) => (await resolve(meta)).session);
  const carrier = mcpCarrier(connection.connection_id);
  const tracker = createDeliveryTracker(hive.delivery, carrier);
  for (const tool of toolsFor(role)) {
    server.registerTool(tool.name, configOf(tool), async (args: unknown, extra): Promise<CallToolResult> => {
      const errand = tracker.begin();
      try {
        const meta = extra._meta ?? {};
        const { session, advice, turn } = await resolve(meta);
        connection.onCaller?.(session);
        // That the client calls again over this connection proves that it read what was returned before.
        // A proof that cannot be written now is written later; it must not keep the agent from reading on.
        await errand.prove().catch((error: unknown) => {
          hive.log.warn('What was read could not be recorded.', { error: String(error) });
        });
        const hand = (ask_ids: readonly string[]) => errand.hand(ask_ids, session.session_id);
        const progress = progressReporter(meta['progressToken'], extra.sendNotification);
        const call = { hive, session, advice, carrier, hand, progress };
        const ends = [extra.signal, connection.stopping];
        const result = await inTurn({ hive, turn, ends }, (turn_id, ends) =>
          tool.handle(args as never, {
            ...call,
            turn_id,
            // Few tools wait for anything.
            get signal() {
              return AbortSignal.any([...ends]);
            },
          }),
        );
        // A call that its client has cancelled is not answered.
        if (extra.signal.aborted) await errand.dropped();
        else errand.returned();
        return toResult(result);
      } catch (error) {
        await errand.dropped().catch(() => undefined);
        return toErrorResult(error, hive);
      }
    });
  }
  return server;
}

/** Which call it is a remote client may say: only a hook of the same token can have recorded it. */
function toldByHooks(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const name = 'claudecode/toolUseId';
  return name in meta ? { [name]: meta[name] } : {};
}

/** Claude Code and Codex give the model only the structured part; the text is for clients that know no other. */
function toResult(result: Record<string, unknown>): CallToolResult {
  const structuredContent = cleanDeep(result);
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

/** A domain error is a result with its code and sentence; anything else is a fault of ours, logged and said so. */
function toErrorResult(error: unknown, hive: Hive): CallToolResult {
  if (error instanceof HiveError) return refusal(error);
  hive.log.error('A tool call failed.', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return {
    isError: true,
    content: [
      {
        type: 'text',
        text: 'internal: Hive failed on this call; its log (stderr) says why. Nothing was acknowledged.',
      },
    ],
  };
}

type SendNotification = (notification: {
  method: 'notifications/progress';
  params: { progressToken: string | number; progress: number; message: string };
}) => Promise<void>;

function progressReporter(token: unknown, send: SendNotification): ToolCall['progress'] {
  let progress = 0;
  return async (message) => {
    if (typeof token !== 'string' && typeof token !== 'number') return;
    progress += 1;
    await send({ method: 'notifications/progress', params: { progressToken: token, progress, message } });
  };
}

// ---------------------------------------------------------------------------
// What every MCP server of ours is, with a store behind it or without.

/** Checks forms that a client fills in, of which we send none: the SDK's own takes 5 ms of each start. */
const madeAtNeed: jsonSchemaValidator = {
  getValidator: (schema) => new AjvJsonSchemaValidator().getValidator(schema),
};

/** A server without tools. */
function newMcpServer(): McpServer {
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

/** A refusal of ours as the model reads it. */
function refusal({ code, message }: Pick<HiveError, 'code' | 'message'>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `${code}: ${message}` }] };
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
  for (const tool of toolsFor(role)) server.registerTool(tool.name, configOf(tool), refuse);
  return server;
}

// ---------------------------------------------------------------------------
// Every tool on one screen, with the role that sees it.

const FOR_EVERY_AGENT: readonly Tool[] = [
  ...promptTools,
  ...statusTools,
  ...messageTools,
  ...mentionTools,
  ...sessionTools,
  ...outreachTools,
];
const FOR_COORDINATORS: readonly Tool[] = [...coordinatorPromptTools, ...coordinatorTurnTools];

function toolsFor(role: Role): readonly Tool[] {
  return role === 'coordinator' ? [...FOR_EVERY_AGENT, ...FOR_COORDINATORS] : FOR_EVERY_AGENT;
}

// ---------------------------------------------------------------------------
// instructions

/** What a model is told about the server as a whole, before it sees a tool. */
const INSTRUCTIONS = `Hive connects you with your human, who answers from their editor when it suits them.
- To ask: hivemind_ask_async. It returns an ask_id at once and never blocks. Go on with work that does not depend on the answer.
- To get the answer: hivemind_poll with the ask_id. When you can do nothing else, poll with wait_ms ${LONGEST_WAIT_MS} and repeat; otherwise poll between steps, no oftener than retry_after_ms says.
- "pending" is no answer, and "expired" or "cancelled" carry no decision: never take silence for consent.
- Do not ask the same thing twice: an open question stays open. Give an idempotency_key where you might repeat yourself.
- Other agents and your human can mention you in a shared buffer. Then your tool calls are held until you have read it (hivemind_get_unprocessed_mentions) and answered (hivemind_post with reply_to) or cleared it (hivemind_process_mentions).
- A session in the background reaches its human with hivemind_ping_user (rationed), and before it stops tells the session behind it with hivemind_report_updates. Something worth a page: hivemind_send_card.
- Every result has a field "next" that says what to do now.`;
