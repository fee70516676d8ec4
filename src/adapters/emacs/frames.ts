/**
 * Frames to Emacs stay under 256 KB: its JSON-RPC library works inside a process filter, where large
 * frames are slow and, in bursts, have killed connections (measured).
 */
import type { Page } from '../../application/ports.ts';
import type { Prompt } from '../../domain/prompts.ts';

export const FRAME_BYTES: number = 240 * 1024;
/** How much of a context travels unasked; the whole is fetched by prompt/get. */
const LISTED_CONTEXT = 2_000;

/** A prompt without what only the store needs. */
export type WirePrompt = Omit<Prompt, 'fingerprint' | 'carrier'> & { context_truncated?: true };

/** A prompt as lists and notifications carry it. */
export function listed(prompt: Prompt): WirePrompt {
  return toWire(prompt, LISTED_CONTEXT, FRAME_BYTES);
}

/** The whole prompt; only one whose escapes swell it past a frame has its longest texts cut. */
export function fitFrame(prompt: Prompt, budget: number = FRAME_BYTES): WirePrompt {
  return toWire(prompt, Number.POSITIVE_INFINITY, budget);
}

function toWire(prompt: Prompt, longestContext: number, budget: number): WirePrompt {
  const { fingerprint: _, carrier: __, ...wire } = prompt;
  const context = wire.context === null ? null : cut(wire.context, longestContext);
  const fitting = fitted({ ...wire, context }, budget);
  return fitting.context === prompt.context ? fitting : { ...fitting, context_truncated: true };
}

/** The value itself, or with its longest texts cut as far as it takes to fit: the last resort, for what escapes swell. */
export function fitted<T>(value: T, budget: number = FRAME_BYTES): T {
  let fitting = value;
  for (let longest = LONGEST_CUT; bytes(fitting) > budget && longest >= SHORTEST_CUT; longest /= 2)
    fitting = shorten(value, longest);
  return fitting;
}

const LONGEST_CUT = 64 * 1024;
/** No id of ours is longer. */
const SHORTEST_CUT = 64;

function shorten<T>(value: T, longest: number): T {
  if (typeof value === 'string') return cut(value, longest) as T;
  if (Array.isArray(value)) return value.map((item) => shorten(item, longest)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, longest)])) as T;
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}

/** How many are read at once: seldom do more fit into a frame. */
const CHUNK = 50;

/**
 * A page of at most `limit` things, each as `shape` makes it, fewer where more would not fit one frame; at
 * least one where there is one.
 */
export async function fitPage<Thing, Wire>(
  list: (limit: number, cursor: string | null) => Promise<Page<Thing>>,
  shape: (thing: Thing) => Wire,
  limit: number,
  first: string | null,
): Promise<Page<Wire>> {
  const fitting: Wire[] = [];
  let cursor = first;
  let room = PAGE_BYTES;
  do {
    const page = await list(Math.min(CHUNK, limit - fitting.length), cursor);
    const items = page.items.map(shape);
    const sizes = items.map((item) => bytes(item) + 1);
    const count = sizes.findIndex((size) => {
      room -= size;
      return room < 0;
    });
    if (count === -1) {
      fitting.push(...items);
      cursor = page.next_cursor;
      continue;
    }
    const taken = fitting.length === 0 ? Math.max(1, count) : count;
    fitting.push(...items.slice(0, taken));
    // Where the page was cut, only the list itself can say how it goes on.
    if (taken > 0) cursor = (await list(taken, cursor)).next_cursor;
    return { items: fitting, next_cursor: cursor };
  } while (cursor !== null && fitting.length < limit);
  return { items: fitting, next_cursor: cursor };
}

/** Something stands around the things in the reply. */
export const PAGE_BYTES: number = FRAME_BYTES - 2_000;

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
