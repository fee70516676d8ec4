/**
 * Frames: limits on what is sent to Emacs, and a reader for what comes from it. Frames to Emacs stay under 256 KB: its
 * JSON-RPC library works inside a process filter, where large frames are slow and, in bursts, have killed connections
 * (measured).
 */
import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';
import type { Page } from '../../application/ports.ts';
import { likenessOf } from '../../domain/likeness.ts';
import { permissionDigest } from '../../domain/permissions.ts';
import { orderKey, type Prompt } from '../../domain/prompts.ts';

export const FRAME_BYTES: number = 240 * 1024;
/** How many characters of a context a notification carries; prompt/get returns the whole. */
const LISTED_CONTEXT = 2_000;

/** A prompt without the fields that only the store needs. */
type WirePrompt = Omit<Prompt, 'fingerprint' | 'carrier'> & {
  /** Its place among the pending ones: compare as text (`orderKey`). */
  order_key: string;
  context_truncated?: true;
  /** For a permission: sent back with the answer once all of it was displayed. */
  digest?: string;
  /** For a pending prompt: equal for those that one decision may answer together. */
  alike?: string;
};

/** A prompt as lists and notifications carry it. */
export function listed(prompt: Prompt): WirePrompt {
  return toWire(prompt, LISTED_CONTEXT, FRAME_BYTES);
}

/** The whole prompt. Its longest texts are cut only when escapes make it larger than a frame. */
export function fitFrame(prompt: Prompt, budget: number = FRAME_BYTES): WirePrompt {
  return toWire(prompt, Number.POSITIVE_INFINITY, budget);
}

function toWire(prompt: Prompt, longestContext: number, budget: number): WirePrompt {
  const { fingerprint: _, carrier: __, ...wire } = prompt;
  const context = wire.context === null ? null : cut(wire.context, longestContext);
  const digest = wire.kind === 'permission' && { digest: permissionDigest(prompt) };
  const alike = likenessOf(prompt);
  const order_key = orderKey(prompt);
  const fitting = fitted(
    { ...wire, order_key, context, ...digest, ...(alike !== null && { alike }) },
    budget,
  );
  return fitting.context === prompt.context ? fitting : { ...fitting, context_truncated: true };
}

/** The value itself, or with its longest texts cut until it fits: the last resort for text that escapes make larger. */
export function fitted<T>(value: T, budget: number = FRAME_BYTES): T {
  let fitting = value;
  for (let longest = LONGEST_CUT; bytes(fitting) > budget && longest >= SHORTEST_CUT; longest /= 2)
    fitting = shorten(value, longest);
  return fitting;
}

const LONGEST_CUT = 64 * 1024;
/** Longer than any id. */
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

/** How many are read at once; a frame rarely holds more. */
const CHUNK = 50;

/**
 * A page of at most `limit` things, each converted by `shape`. It has fewer when more would not fit into one frame, but
 * at least one if there is one.
 */
export async function fitPage<Thing, Wire>(
  list: (limit: number, cursor: string | null) => Promise<Page<Thing>>,
  shape: (thing: Thing) => Wire,
  limit: number,
  first: string | null = null,
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
    // When the page was cut, only the list itself has the cursor for the rest.
    if (taken > 0) cursor = (await list(taken, cursor)).next_cursor;
    return { items: fitting, next_cursor: cursor };
  } while (cursor !== null && fitting.length < limit);
  return { items: fitting, next_cursor: cursor };
}

/** In bytes: the room for things in a reply, which has other fields too. */
export const PAGE_BYTES: number = FRAME_BYTES - 2_000;

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

// ---- Reading frames ----
// Frames with a Content-Length header. The reader recovers after broken ones: vscode-jsonrpc's own takes what follows a
// bad header for the next header, and waits for ever for a wrong length. Recovery works because valid JSON has no raw
// line break inside a string, so a header can only be a header.

/** The longest allowed answer stays below this, however it is escaped. */
export const LONGEST_FRAME: number = 4 * 1024 * 1024;
const LONGEST_HEADER = 4 * 1024;
const MARK = 'Content-Length:';
const HEADER_START = /^Content-Length:[ \t]*\d+[ \t]*\r\n/i;
const HEADER = /^(?:[\w-]+:[^\r\n]*\r\n)+\r\n$/;
const END_OF_HEADER = '\r\n\r\n';

interface FrameReaderOptions {
  /** Returns the message for the listener from the JSON of a frame; null when it has been dealt with. */
  sift: (content: unknown) => Message | null;
  /** Called once for every stretch of input that is not a frame of JSON. */
  refuse: (why: string) => void;
}

/** Reads frames from a stream, and skips broken ones. */
export class FrameReader extends AbstractMessageReader {
  readonly #input: Readable;
  readonly #options: FrameReaderOptions;
  #buffer: Buffer = Buffer.alloc(0);
  /** The length of the next body; null while a header is expected. */
  #length: number | null = null;
  /** True between a broken frame and the next header. */
  #lost = false;

  constructor(input: Readable, options: FrameReaderOptions) {
    super();
    this.#input = input;
    this.#options = options;
  }

  listen(callback: DataCallback): Disposable {
    const onData = (chunk: Buffer): void => {
      this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
      while (this.#step(callback));
    };
    this.#input.on('data', onData);
    return { dispose: () => void this.#input.off('data', onData) };
  }

  /** Takes one header or body from the buffer; false when it needs more input. */
  #step(callback: DataCallback): boolean {
    if (this.#buffer.length === 0) return false;
    if (this.#lost) return this.#findHeader();
    return this.#length === null ? this.#takeHeader() : this.#takeBody(this.#length, callback);
  }

  #takeHeader(): boolean {
    const end = this.#buffer.subarray(0, LONGEST_HEADER).indexOf(END_OF_HEADER);
    if (end === -1) {
      const begun = this.#buffer.toString('latin1', 0, LONGEST_HEADER);
      // Bytes that do not even begin like a header will not become one by waiting.
      return begun.length === LONGEST_HEADER || !/^[\w-]*(?::|$)/.test(begun)
        ? this.#lose('no header')
        : false;
    }
    const header = this.#buffer.toString('latin1', 0, end + END_OF_HEADER.length);
    const length = HEADER.test(header)
      ? /^Content-Length:[ \t]*(\d+)[ \t]*\r$/im.exec(header)?.[1]
      : undefined;
    if (length === undefined) return this.#lose('no header with a Content-Length');
    this.#buffer = this.#buffer.subarray(header.length);
    if (Number(length) > LONGEST_FRAME) return this.#lose(`longer than ${LONGEST_FRAME} bytes`);
    this.#length = Number(length);
    return true;
  }

  #takeBody(length: number, callback: DataCallback): boolean {
    if (this.#buffer.length < length) {
      // A header inside the body: the length was too large and covers part of the next frame.
      return headerIn(this.#buffer) === -1 ? false : this.#lose('shorter than its Content-Length');
    }
    let content: unknown;
    try {
      content = JSON.parse(this.#buffer.toString('utf8', 0, length));
    } catch {
      return this.#lose('no JSON');
    }
    this.#buffer = this.#buffer.subarray(length);
    this.#length = null;
    const message = this.#options.sift(content);
    if (message !== null) callback(message);
    return true;
  }

  #lose(why: string): boolean {
    this.#lost = true;
    this.#length = null;
    this.#options.refuse(why);
    return true;
  }

  #findHeader(): boolean {
    const start = headerIn(this.#buffer);
    if (start === -1) {
      // The last bytes may be the beginning of a header.
      this.#buffer = this.#buffer.subarray(Math.max(0, this.#buffer.length - LONGEST_MARK));
      return false;
    }
    this.#buffer = this.#buffer.subarray(start);
    this.#lost = false;
    return true;
  }
}

const LONGEST_MARK = MARK.length + 20;

/** The start of a complete Content-Length line in these bytes; -1 when there is none. */
function headerIn(buffer: Buffer): number {
  let start = buffer.indexOf(MARK);
  while (start !== -1 && !HEADER_START.test(buffer.toString('latin1', start, start + LONGEST_MARK)))
    start = buffer.indexOf(MARK, start + 1);
  return start;
}
