/**
 * Reads frames with a Content-Length header, and finds its way again after broken ones: vscode-jsonrpc's own
 * reader takes what follows a bad header for the next header, and waits for ever for a length that was wrong.
 * It can be found again because valid JSON holds no raw line break inside a string: a header is a header.
 */
import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';

/** The longest answer that is allowed stays below this, however it is escaped. */
export const LONGEST_FRAME: number = 4 * 1024 * 1024;
const LONGEST_HEADER = 4 * 1024;
const MARK = 'Content-Length:';
const HEADER_START = /^Content-Length: *\d+\r\n/i;
const HEADER = /^(?:[\w-]+:[^\r\n]*\r\n)+\r\n$/;
const END_OF_HEADER = '\r\n\r\n';

export interface FrameReaderOptions {
  /** Says what of the JSON in a frame is a message for the listener; null for what has been dealt with. */
  sift: (content: unknown) => Message | null;
  /** Hears once of every stretch that is no frame of JSON. */
  refuse: (why: string) => void;
}

export class FrameReader extends AbstractMessageReader {
  readonly #input: Readable;
  readonly #options: FrameReaderOptions;
  #buffer: Buffer = Buffer.alloc(0);
  /** The length of the body that comes next; null while a header is expected. */
  #length: number | null = null;
  /** Between a broken frame and the next header. */
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

  /** Takes one header or body from the buffer; false when more must come first. */
  #step(callback: DataCallback): boolean {
    if (this.#buffer.length === 0) return false;
    if (this.#lost) return this.#findHeader();
    return this.#length === null ? this.#takeHeader() : this.#takeBody(this.#length, callback);
  }

  #takeHeader(): boolean {
    const end = this.#buffer.subarray(0, LONGEST_HEADER).indexOf(END_OF_HEADER);
    if (end === -1) {
      const begun = this.#buffer.toString('latin1', 0, LONGEST_HEADER);
      // What does not even begin as a header will not become one by waiting.
      return begun.length === LONGEST_HEADER || !/^[\w-]*(?::|$)/.test(begun)
        ? this.#lose('no header')
        : false;
    }
    const header = this.#buffer.toString('latin1', 0, end + END_OF_HEADER.length);
    const length = HEADER.test(header) ? /^Content-Length: *(\d+)\r$/im.exec(header)?.[1] : undefined;
    if (length === undefined) return this.#lose('no header with a Content-Length');
    this.#buffer = this.#buffer.subarray(header.length);
    if (Number(length) > LONGEST_FRAME) return this.#lose(`longer than ${LONGEST_FRAME} bytes`);
    this.#length = Number(length);
    return true;
  }

  #takeBody(length: number, callback: DataCallback): boolean {
    if (this.#buffer.length < length) {
      // A header inside the body: the length was too long, and has begun to swallow the next frame.
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

/** Where a whole Content-Length line stands in these bytes; -1 where none does. */
function headerIn(buffer: Buffer): number {
  let start = buffer.indexOf(MARK);
  while (start !== -1 && !HEADER_START.test(buffer.toString('latin1', start, start + LONGEST_MARK)))
    start = buffer.indexOf(MARK, start + 1);
  return start;
}
