/** Messages of ACP as lines of bytes. A message that is only passed on is never decoded, and a long one is copied once. */
import type { Readable, Writable } from 'node:stream';
import { objectIn, type Raw } from '../../../domain/json.ts';
import { parseJson } from '../../../domain/json-numbers.ts';

/** One side of the proxy. */
export interface Side {
  /** The stream to read from this side. */
  input: Readable;
  /** The stream to write to this side. */
  output: Writable;
}

export type Id = string | number;

/** The id of a message; null if it has none. */
export function idOf(value: unknown): Id | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** An id as the key of a map: 1 and "1" are two ids. */
export function key(id: Id): string {
  return JSON.stringify(id);
}

/** A message; null for an invalid line or a batch, which is passed on unchanged. */
export function parse(bytes: Buffer): Raw | null {
  try {
    return objectIn(parseJson(bytes.toString('utf8')));
  } catch {
    return null;
  }
}

/** A message as its line. */
export function line(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}

const NEWLINE = 0x0a;

/** Each line of a stream with its newline, and a last line even without one. Waits until each line is consumed. */
export async function* linesOf(input: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      parts.push(bytes.subarray(from, at + 1));
      yield parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
      parts = [];
      from = at + 1;
    }
    if (from < bytes.length) parts.push(bytes.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

/** Writes to a stream; resolves when there is room for more, or the stream has ended. */
export function writeTo(output: Writable, bytes: Uint8Array | string): Promise<void> {
  if (output.destroyed || output.writableEnded || output.write(bytes)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'error'] as const) output.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error'] as const) output.once(event, done);
  });
}
