/**
 * The MCP server of one connection, for any transport: every tool with the role that sees it, who is calling, how a call
 * runs, and how an error becomes a result that the model can read. A call goes from here to `handle` of its tool, in the
 * file of its capability (prompts.ts), and from there to the service of the same name in application/.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { z } from 'zod';
import { beside } from '../../application/background.ts';
import type { Caller, CallerEvidence } from '../../application/callers.ts';
import { createDeliveryTracker, mcpCarrier } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import { HiveError } from '../../domain/errors.ts';
import { HOOK_TOOL, initName } from '../../domain/installation.ts';
import { isRemote, type Session } from '../../domain/sessions.ts';
import { cleanDeep, cleanText } from '../../domain/text.ts';
import type { Role } from '../../domain/tokens.ts';
import { VERSION } from '../../version.ts';
import { coordinatorPromptTools } from './coordinating.ts';
import { mentionTools } from './mentions.ts';
import { messageTools } from './messages.ts';
import { offerTasks, TASK } from './modern-tasks.ts';
import { outreachTools } from './outreach.ts';
import { promptTools } from './prompts.ts';
import { offerResources } from './resources.ts';
import { sessionTools } from './sessions.ts';
import { statusTools } from './status.ts';
import {
  listed,
  longestWait,
  noSuchTool,
  ownedFor,
  rightCall,
  runInTurn,
  sentences,
  type TakenArguments,
  type Tool,
  type ToolCall,
  takeArguments,
  withClaim,
} from './tool.ts';
import { coordinatorTurnTools } from './turns.ts';

/** The evidence that stays the same for the life of a connection; the rest comes with each call. */
export interface Connection extends Omit<CallerEvidence, 'meta' | 'client'> {
  /** False for a remote client: the session that it names is only a claim, and its token identifies it. */
  trusts_meta: boolean;
  /** Aborted when this process should end: calls that wait return what they have. */
  stopping: AbortSignal;
  /** Over HTTP: whether the token still admits this connection. It is checked before a result is sent. */
  stillAdmitted?: () => Promise<boolean>;
  /** How long the client lets a call run, if the human set that. */
  tool_timeout_ms?: number | null;
  /** Called with the client's name once it has introduced itself. */
  onClient?: (client: string) => void;
  /** Called with the calling session at each call. */
  onCaller?: (session: Session) => void;
}

/** Records a connection for the hooks. The agent keeps its tools even if the store cannot be written now. */
export function announce(
  { callers, log }: Hive,
  connection: Omit<Parameters<Hive['callers']['openConnection']>[0], 'pid'>,
): Promise<void> {
  const failure = 'A connection could not be recorded: the mention gate does not hold its session.';
  const open = (): Promise<void> => callers.openConnection({ ...connection, pid: process.pid });
  return beside(log, failure, open, {}, 'error');
}

/** A server for one connection with the tools of its role, not yet connected to a transport. */
export function createMcpServer(hive: Hive, connection: Connection, role: Role): McpServer {
  const server = newMcpServer();
  const clientName = (): string => server.server.getClientVersion()?.name ?? '';
  async function resolve(given: Record<string, unknown>): Promise<Caller> {
    const meta = connection.trusts_meta ? given : metaFromHooks(given);
    return hive.callers.resolve({ ...connection, meta, client: clientName() });
  }
  server.server.oninitialized = () => connection.onClient?.(server.server.getClientVersion()?.name ?? '');
  const callerOf = async (meta: Record<string, unknown>) => (await resolve(meta)).session;
  const { caughtUp } = offerResources(server, hive, callerOf);
  const carrier = mcpCarrier(connection.connection_id);
  const tracker = createDeliveryTracker(hive.delivery, carrier);
  const { begun } = offerTasks(server, hive, { tools: toolsFor(role), callerOf });
  offerTools(server, { role, isRemote: isRemote(connection.machine) }, async (tool, written, extra) => {
    const delivery = tracker.begin();
    let taken: TakenArguments | null = null;
    let claims = false;
    try {
      taken = takeArguments(tool, written);
      const meta = extra._meta ?? {};
      const { session, advice, turn } = await resolve(meta);
      connection.onCaller?.(session);
      const args = withClaim(tool, taken, session);
      claims = args !== taken.args;
      // Another call over this connection proves that the client read what was returned before. A proof that cannot be
      // written now is written later; it must not keep the agent from continuing.
      await beside(hive.log, 'It could not be recorded that answers were read.', () => delivery.prove());
      const hand = async (ask_ids: readonly string[]) => {
        await checkAdmission(connection);
        return delivery.hand(ask_ids, session.session_id);
      };
      const progress = progressReporter(meta['progressToken'], extra.sendNotification);
      const local = { client: clientName(), env: connection.trusts_meta ? connection.env : null };
      const longest_wait_ms = longestWait({
        ...local,
        hears_progress: meta['progressToken'] !== undefined,
        tool_timeout_ms: connection.tool_timeout_ms ?? null,
      });
      const ofRun = () => hive.runOfAsk({ ...askOfRun(connection, meta), session_id: session.session_id });
      const limits = { longest_wait_ms, owned_ms: ownedFor(local) };
      const { waits } = delivery;
      const call = { hive, session, advice, carrier, hand, waits, progress, ...limits, caughtUp, ofRun };
      const ends = [extra.signal, connection.stopping];
      // With hooks of ours the client needs no task: they deliver the answer and wake the session.
      const takes_task = meta[TASK] === true && session.hooks_seen_at === null;
      let task: string | null = null;
      const result = await runInTurn({ hive, turn, ends }, async (turn_id, ends) => {
        const whole = {
          ...call,
          turn_id,
          // Created only when used: few tools wait for anything.
          get signal() {
            return AbortSignal.any([...ends]);
          },
        };
        if (takes_task) task = (await tool.waiting?.begin(args as never, whole)) ?? null;
        return task === null ? tool.handle(args as never, whole) : {};
      });
      // A result that arrives after the token was revoked is not sent; `dropped` (below) undoes the hand-over.
      await checkAdmission(connection);
      // A call that its client has cancelled gets no answer.
      if (extra.signal.aborted) await delivery.dropped();
      else delivery.returned();
      // A turn that must stop gets that result instead.
      return task === null || 'interrupted_by' in result ? toResult(noted(result, taken)) : begun(task);
    } catch (error) {
      await delivery.dropped().catch(() => undefined);
      return toErrorResult(error, hive, tool, { note: taken?.note ?? null, claims });
    }
  });
  return server;
}

/** The part of a call that shows its run: only a client on this machine has its environment. */
function askOfRun({ trusts_meta, env }: Connection, meta: Readonly<Record<string, unknown>>) {
  const id = meta['claudecode/toolUseId'];
  return { env: trusts_meta ? env : null, call_id: typeof id === 'string' ? id : null };
}

/** @throws HiveError `not_allowed` when the token of this connection was revoked during the call. */
async function checkAdmission({ stillAdmitted }: Connection): Promise<void> {
  if (stillAdmitted === undefined || (await stillAdmitted())) return;
  throw new HiveError(
    'not_allowed',
    'The token of this connection was revoked. Ask your human for a new one.',
  );
}

/**
 * The parts of `_meta` that count from a remote client: the id of the call, or the session and turn that Codex names. Each only
 * selects among what hooks of the same token have recorded.
 */
const OF_HOOKS: readonly string[] = [
  'claudecode/toolUseId',
  'sessionId',
  'threadId',
  'x-codex-turn-metadata',
];

function metaFromHooks(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => OF_HOOKS.includes(name)));
}

/** Claude Code and Codex give the model only the structured part; the text is for clients that do not know it. */
function toResult(result: Record<string, unknown>): CallToolResult {
  const structuredContent = cleanDeep(withoutNulls(result)) as Record<string, unknown>;
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

/** A field without a value tells a model nothing and costs it tokens. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

/** The result with a note about ignored arguments. */
function noted(result: Record<string, unknown>, { ignored, note }: TakenArguments): Record<string, unknown> {
  if (note === null) return result;
  return { ...result, ignored_arguments: ignored, next: sentences(String(result['next'] ?? ''), note) };
}

/**
 * A domain error becomes a result with its code and sentence; any other is a fault of ours, which is logged and reported as such.
 * `claims`: the caller's claim was put before one of its texts.
 */
function toErrorResult(
  error: unknown,
  hive: Hive,
  tool: Tool,
  { note, claims }: Pick<TakenArguments, 'note'> & { claims: boolean },
): CallToolResult {
  if (error instanceof HiveError) {
    const isOfText = claims && error.details['field'] === tool.claim;
    return refusal({
      code: error.code,
      message: sentences(
        ended(cleanText(error.message)),
        isOfText ? CLAIM_COUNTS : null,
        rightCall(error, tool),
        note,
      ),
    });
  }
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

const CLAIM_COUNTS = 'The line with the name that you claim is put before it and counts too.';

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function progressReporter(token: unknown, send: CallExtra['sendNotification']): ToolCall['progress'] {
  let progress = 0;
  return async (message) => {
    if (typeof token !== 'string' && typeof token !== 'number') return;
    progress += 1;
    await send({ method: 'notifications/progress', params: { progressToken: token, progress, message } });
  };
}

// ---- Servers with and without a store ----

/** Validates forms filled in by a client, which we never send; creating the SDK's own would cost 5 ms of each start. */
export const validatorOnDemand: jsonSchemaValidator = {
  getValidator: (schema) => new AjvJsonSchemaValidator().getValidator(schema),
};

/** A server without tools. */
function newMcpServer(): McpServer {
  return new McpServer(
    { name: 'hive', version: VERSION },
    { instructions: INSTRUCTIONS, capabilities: { tools: {} }, jsonSchemaValidator: validatorOnDemand },
  );
}

/** The surroundings of a call. */
type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/**
 * Lists the tools of a role and runs them: `run` gets the arguments as the client wrote them. A call of another role's tool is
 * answered with how to get that role. The SDK would pass a tool only the arguments in its schema and drop the others silently, so
 * calls are handled here as the client wrote them.
 */
function offerTools(
  server: McpServer,
  { role, isRemote }: { role: Role; isRemote: boolean },
  run: (tool: Tool, written: unknown, extra: CallExtra) => Promise<CallToolResult>,
): void {
  const tools = toolsFor(role);
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(listed) }));
  server.server.setRequestHandler(callToolRequest, async ({ params }, extra) => {
    // The client's own hook calls do not come this far (stdio.ts).
    if (params.name === HOOK_TOOL) return refusal({ code: 'not_allowed', message: NOT_FOR_MODELS });
    const tool = known.get(params.name);
    if (tool !== undefined) return run(tool, params.arguments, extra);
    // A model may have read about a tool that its role does not see.
    if (!FOR_COORDINATORS.some(({ name }) => name === params.name))
      return refusal(noSuchTool(params.name, tools));
    // Listing it would cost every agent tokens; without an explanation the model could only guess.
    const client = server.server.getClientVersion()?.name ?? '';
    return refusal({ code: 'not_allowed', message: howToCoordinate(params.name, client, isRemote) });
  });
}

/** The refusal for a model that calls the hook tool. */
const NOT_FOR_MODELS: string = `${HOOK_TOOL} is for the hooks of your client, not for you. Nothing was done.`;

/**
 * The SDK's own, which also accepts `arguments: null` for no arguments, and all arguments as one text, which some models write.
 * A value without names becomes an unknown argument, so that the model reads how to call; the SDK would send its own error.
 */
const callToolRequest = CallToolRequestSchema.extend({
  params: CallToolRequestSchema.shape.params.extend({
    arguments: z.preprocess(
      (given) => named((typeof given === 'string' ? objectIn(given) : given) ?? undefined),
      z.record(z.string(), z.unknown()).optional(),
    ),
  }),
});

function named(given: unknown): unknown {
  const isNamed = given === undefined || (typeof given === 'object' && !Array.isArray(given));
  return isNamed ? given : { arguments: given };
}

function objectIn(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** A refusal as the model reads it. */
export function refusal({ code, message }: Pick<HiveError, 'code' | 'message'>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `${code}: ${message}` }] };
}

function howToCoordinate(tool: string, client: string, isRemote: boolean): string {
  const named = initName(client);
  const set = isRemote
    ? 'your human makes a token with that role: hive token make NAME --role coordinator'
    : named === null
      ? 'your human starts the server of your client with: hive mcp --role coordinator'
      : `your human runs: hive init ${named} --role coordinator`;
  return `${tool} is for coordinators, and this server runs with the role "agent". To get it, ${set}. It takes effect with the next session. Do not change it yourself; ask your human.`;
}

/**
 * A server whose store could not be opened. A process that simply ended would leave the model without an explanation
 * and without tools. Each call tries again, and reports the reason as long as that fails.
 */
export function createRefusingServer(role: Role, open: () => Promise<HiveError | null>): McpServer {
  const server = newMcpServer();
  const refuse = async (): Promise<CallToolResult> => {
    const error = await open();
    if (error === null) {
      const message = 'The store could not be opened until now; it is open again. Repeat the call.';
      return refusal({ code: 'store_unavailable', message });
    }
    const message = `${error.message} Hive cannot answer until then; each call tries again. If it keeps failing, tell your human.`;
    return refusal({ code: error.code, message });
  };
  offerTools(server, { role, isRemote: false }, refuse);
  return server;
}

// ---- All tools, with the role that sees them ----

const FOR_EVERY_AGENT: readonly Tool[] = [
  ...promptTools,
  ...statusTools,
  ...messageTools,
  ...mentionTools,
  ...sessionTools,
  ...outreachTools,
];
const FOR_COORDINATORS: readonly Tool[] = [...coordinatorPromptTools, ...coordinatorTurnTools];

/** The tools that this role sees. */
export function toolsFor(role: Role): readonly Tool[] {
  return role === 'coordinator' ? [...FOR_EVERY_AGENT, ...FOR_COORDINATORS] : FOR_EVERY_AGENT;
}

// ---- Instructions ----

/** The instructions that a model reads about the server, before it sees a tool. */
const INSTRUCTIONS = `Hive connects you with your human, who answers when it suits them.
Ask with hivemind_ask_async, go on with work that does not depend on it, and check with hivemind_poll. "expired" and "cancelled" are no decision: silence is never consent. An open question stays open: do not ask it twice.
If a mention holds your tool calls, read it (hivemind_get_unprocessed_mentions), then answer (hivemind_post with reply_to) or clear it (hivemind_process_mentions).
In the background, hivemind_ping_user reaches your human, hivemind_report_updates your main session.
"next" in each result says what to do.`;
