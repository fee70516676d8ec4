/** Hooks over the connection: how a client's call is told from a model's, and what it gets back. Shared with the bridge. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { HOOK_TOOL } from '../../domain/installation.ts';

/** Takes the arguments of the client's call; resolves to what it reads as the output of a hook. */
export type RunHook = (args: Record<string, unknown>, signal: AbortSignal) => Promise<string>;

/** What a model reads that calls the tool of the hooks. */
export const NOT_FOR_MODELS: string = `${HOOK_TOOL} is for the hooks of your client, not for you. Nothing was done.`;

/**
 * Whether a model makes this call. A client names the model's call in `_meta` (`claudecode/toolUseId`, `threadId`); of a
 * hook's call it says at most where progress goes.
 */
export function isModelCall(meta: Readonly<Record<string, unknown>> | undefined): boolean {
  return Object.keys(meta ?? {}).some((name) => name !== 'progressToken');
}

/** The client reads the text of the result as the output of a hook. It takes an empty text for words to its model. */
export function hookResult(output: string): CallToolResult {
  return { content: [{ type: 'text', text: output === '' ? '{}' : output }] };
}
