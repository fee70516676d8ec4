/**
 * Frames to Emacs stay under 256 KB: its JSON-RPC library works inside a process filter, where large
 * frames are slow and, in bursts, have killed connections (measured).
 */
import type { Page } from '../../application/ports.ts';
import type { Prompt } from '../../domain/prompts.ts';
import { fittingCount } from '../fitting.ts';

export const FRAME_BYTES: number = 240 * 1024;
/** How much of a context travels unasked; the whole is fetched by prompt/get. */
const LISTED_CONTEXT = 2_000;

export type WirePrompt = Prompt & { context_truncated?: true };

function withContext(prompt: Prompt, length: number): WirePrompt {
  const { context } = prompt;
  if (context === null || context.length <= length) return prompt;
  return { ...prompt, context: context.slice(0, length).toWellFormed(), context_truncated: true };
}

/** A prompt as lists and notifications carry it. */
export function listed(prompt: Prompt): WirePrompt {
  return fitFrame(withContext(prompt, LISTED_CONTEXT));
}

/** The whole prompt; only one whose escapes swell it past a frame loses the end of its context. */
export function fitFrame(prompt: Prompt): WirePrompt {
  const excess = bytes(prompt) - FRAME_BYTES;
  if (excess <= 0 || prompt.context === null) return prompt;
  const share = FRAME_BYTES / (FRAME_BYTES + excess);
  return fitFrame(withContext(prompt, Math.floor(prompt.context.length * share * 0.9)));
}

/** A page of at most `limit` prompts, fewer where more would not fit one frame. */
export async function fitPage(
  list: (limit: number) => Promise<Page<Prompt>>,
  limit: number,
): Promise<Page<WirePrompt>> {
  const page = await list(limit);
  const items = page.items.map(listed);
  const fitting = fittingCount(items, FRAME_BYTES);
  if (fitting === items.length) return { items, next_cursor: page.next_cursor };
  const shorter = await list(fitting);
  return { items: shorter.items.map(listed), next_cursor: shorter.next_cursor };
}

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
