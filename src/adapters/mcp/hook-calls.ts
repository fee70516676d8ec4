/**
 * Hooks over the connection: how to distinguish a client's call from a model's, and what it gets back. They are taken off
 * the connection before the protocol layer sees them: its checks would take longer than answering (docs/performance.md),
 * and an agent waits for each of its hooks.
 */
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { HOOK_TOOL } from '../../domain/installation.ts';

/** A hook event as it comes over the connection. */
export interface HookCall {
  /** The fields of the event. */
  args: Readonly<Record<string, unknown>>;
  /** Codex: the agent whose event it is, a subagent's own id. */
  thread_id: string | null;
}

/** Handles an event; resolves to what the client reads as the output of a hook. */
export type RunHook = (call: HookCall, signal: AbortSignal) => Promise<string>;

type Meta = Readonly<Record<string, unknown>> | undefined;

/** The event in the parameters of a `tools/call`. */
function hookCall(args: unknown, meta: Meta): HookCall {
  const thread = meta?.['threadId'];
  return { args: (args ?? {}) as HookCall['args'], thread_id: typeof thread === 'string' ? thread : null };
}

/** What a model reads if it calls the hook tool. */
export const NOT_FOR_MODELS: string = `${HOOK_TOOL} is for the hooks of your client, not for you. Nothing was done.`;

/** Everything that clients report about a hook's call: where progress goes, and in Codex, whose event it is. */
const OF_A_HOOK: ReadonlySet<string> = new Set(['progressToken', 'threadId']);

/** Whether a model makes this call. A client gives the id of a model's call in `_meta` (`claudecode/toolUseId`, `callId`). */
function isModelCall(meta: Meta): boolean {
  return Object.keys(meta ?? {}).some((name) => !OF_A_HOOK.has(name));
}

/** The client reads the text of the result as the output of a hook. It would pass an empty text on to its model. */
function hookResult(output: string): CallToolResult {
  return { content: [{ type: 'text', text: output === '' ? '{}' : output }] };
}

/** Answers the hook calls of one connection. */
export interface HookRoute {
  /** True for a client's hook call and for its cancellation: nobody else may see them. */
  takes(message: JSONRPCMessage): boolean;
  /** Ends the calls that wait, because the connection has ended. */
  end(): void;
}

/** The hook calls of a connection; `send` writes to the client. */
export function hookRoute(onHook: RunHook, send: (message: JSONRPCMessage) => Promise<void>): HookRoute {
  /** Calls in progress, by the id of their request. */
  const calls = new Map<unknown, AbortController>();

  function answer(id: string | number, params: Readonly<Record<string, unknown>>, meta: Meta): void {
    const call = new AbortController();
    calls.set(id, call);
    onHook(hookCall(params['arguments'], meta), call.signal)
      .then(
        (output) => ({ jsonrpc: '2.0' as const, id, result: hookResult(output) }),
        // A failed hook lets the tool run; the client shows the reason to its user.
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
    takes(message) {
      if (!('method' in message)) return false;
      const { method, params = {} } = message;
      if (method === 'notifications/cancelled') {
        const call = calls.get(params['requestId']);
        call?.abort();
        return call !== undefined;
      }
      if (method !== 'tools/call' || !('id' in message) || params['name'] !== HOOK_TOOL) return false;
      const meta = params['_meta'] as Meta;
      if (isModelCall(meta)) return false;
      answer(message.id, params, meta);
      return true;
    },
    end() {
      for (const call of calls.values()) call.abort();
    },
  };
}
