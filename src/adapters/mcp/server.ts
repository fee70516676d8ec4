/**
 * The MCP server of one connection, whatever the transport: who is calling, what a call's way in and out
 * looks like, and how an error becomes a result the model can read. Which tools there are, tools.ts says.
 */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { createCourier } from '../../application/courier.ts';
import { mcpCarrier } from '../../application/delivery.ts';
import type { Hive } from '../../application/hive.ts';
import type { CallerEvidence } from '../../application/identity.ts';
import type { Caller } from '../../application/sessions.ts';
import { HiveError } from '../../domain/errors.ts';
import { isRemote, type Session } from '../../domain/sessions.ts';
import { cleanDeep, cleanText } from '../../domain/text.ts';
import type { Role } from '../../domain/tokens.ts';
import { type TakenArguments, takeArguments } from './arguments.ts';
import { inTurn } from './interrupted.ts';
import { newMcpServer, offerTools, refusal } from './registration.ts';
import { offerResources } from './resources.ts';
import { sentences } from './result.ts';
import type { ToolCall } from './tool.ts';
import { longestWait } from './waiting.ts';

/** What is fixed for the life of a connection; the rest of the evidence comes with each call. */
export interface Connection extends Omit<CallerEvidence, 'meta' | 'client'> {
  /** Off for a remote client: what it tells of its session is only a claim, the token says who it is. */
  trusts_meta: boolean;
  /** Aborted when this process is to end: calls that wait return what they have. */
  stopping: AbortSignal;
  /** How long the client lets a call run, where the human said so. */
  tool_timeout_ms?: number | null;
  /** Called once the client has introduced itself, with its name. */
  onClient?: (client: string) => void;
  /** Told with each call who it is that calls. */
  onCaller?: (session: Session) => void;
}

/** A server for one connection with the tools of its role, not yet connected to a transport. */
export function createMcpServer(hive: Hive, connection: Connection, role: Role): McpServer {
  const server = newMcpServer();
  const clientName = (): string => server.server.getClientVersion()?.name ?? '';
  async function resolve(given: Record<string, unknown>): Promise<Caller> {
    const meta = connection.trusts_meta ? given : toldByHooks(given);
    return hive.sessions.resolveCaller({ ...connection, meta, client: clientName() });
  }
  server.server.oninitialized = () => connection.onClient?.(server.server.getClientVersion()?.name ?? '');
  const { caughtUp } = offerResources(server, hive, async (meta) => (await resolve(meta)).session);
  const carrier = mcpCarrier(connection.connection_id);
  const courier = createCourier(hive.delivery, carrier);
  offerTools(server, role, isRemote(connection.machine), async (tool, written, extra) => {
    const errand = courier.begin();
    let taken: TakenArguments | null = null;
    try {
      taken = takeArguments(tool, written);
      const { args } = taken;
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
      const longest_wait_ms = longestWait({
        client: clientName(),
        env: connection.trusts_meta ? connection.env : null,
        hears_progress: meta['progressToken'] !== undefined,
        tool_timeout_ms: connection.tool_timeout_ms ?? null,
      });
      const call = { hive, session, advice, carrier, hand, progress, longest_wait_ms, caughtUp };
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
      return toResult(noted(result, taken));
    } catch (error) {
      await errand.dropped().catch(() => undefined);
      return toErrorResult(error, hive, taken);
    }
  });
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

/** The result with what was ignored. */
function noted(result: Record<string, unknown>, { ignored, note }: TakenArguments): Record<string, unknown> {
  if (note === null) return result;
  return { ...result, ignored_arguments: ignored, next: sentences(String(result['next'] ?? ''), note) };
}

/** A domain error is a result with its code and sentence; anything else is a fault of ours, logged and said so. */
function toErrorResult(error: unknown, hive: Hive, taken: TakenArguments | null): CallToolResult {
  if (error instanceof HiveError)
    return refusal({ code: error.code, message: sentences(cleanText(error.message), taken?.note ?? null) });
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
