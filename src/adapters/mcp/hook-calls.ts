/** Hooks over the connection: how to distinguish a client's call from a model's, and what it gets back. Shared with the bridge. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
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
export function hookCall(args: unknown, meta: Meta): HookCall {
  const thread = meta?.['threadId'];
  return { args: (args ?? {}) as HookCall['args'], thread_id: typeof thread === 'string' ? thread : null };
}

/** What a model reads if it calls the hook tool. */
export const NOT_FOR_MODELS: string = `${HOOK_TOOL} is for the hooks of your client, not for you. Nothing was done.`;

/** Everything that clients report about a hook's call: where progress goes, and in Codex, whose event it is. */
const OF_A_HOOK: ReadonlySet<string> = new Set(['progressToken', 'threadId']);

/** Whether a model makes this call. A client gives the id of a model's call in `_meta` (`claudecode/toolUseId`, `callId`). */
export function isModelCall(meta: Meta): boolean {
  return Object.keys(meta ?? {}).some((name) => !OF_A_HOOK.has(name));
}

/** The client reads the text of the result as the output of a hook. It would pass an empty text on to its model. */
export function hookResult(output: string): CallToolResult {
  return { content: [{ type: 'text', text: output === '' ? '{}' : output }] };
}
