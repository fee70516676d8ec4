/** WebSocket frames (RFC 6455) for a client: what it sends is masked and in one piece, what it reads may be fragmented. */

export type FrameKind = 'text' | 'ping' | 'pong' | 'close' | 'other';

export interface ReadFrame {
  kind: FrameKind;
  payload: Buffer;
}

const OPCODES: Readonly<Record<Exclude<FrameKind, 'other'>, number>> = {
  text: 0x1,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
};
const KINDS: Readonly<Record<number, FrameKind>> = { 0x1: 'text', 0x8: 'close', 0x9: 'ping', 0xa: 'pong' };

/** A longer reply is not from Codex. In bytes. */
const LONGEST = 16 * 1024 * 1024;

/** A frame with one short message. The mask is zero: it protects proxies, and a Unix socket has none. */
export function encodeFrame(kind: Exclude<FrameKind, 'other'>, content: string | Buffer): Buffer {
  const payload = Buffer.from(content);
  const { length } = payload;
  if (length > 0xffff) throw new Error(`a frame of ${length} bytes`);
  const sized = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  const head = Buffer.from([0x80 | OPCODES[kind], ...sized]);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

/** Assembles frames from chunks, and messages from fragments. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #kind: FrameKind = 'other';
  readonly #onFrame: (frame: ReadFrame) => void;

  constructor(onFrame: (frame: ReadFrame) => void) {
    this.#onFrame = onFrame;
  }

  /** @throws Error on a frame longer than any reply can be. */
  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let frame = this.#take(); frame !== null; frame = this.#take()) this.#assemble(frame);
  }

  #assemble({ final, opcode, payload }: RawFrame): void {
    // A control frame may come between the fragments of a message.
    if (opcode >= 0x8) {
      this.#onFrame({ kind: KINDS[opcode] ?? 'other', payload });
      return;
    }
    if (opcode !== 0) {
      this.#kind = KINDS[opcode] ?? 'other';
      this.#fragments = [];
    }
    this.#fragments.push(payload);
    if (final) this.#onFrame({ kind: this.#kind, payload: Buffer.concat(this.#fragments) });
  }

  #take(): RawFrame | null {
    const [first, second] = this.#rest;
    if (first === undefined || second === undefined) return null;
    const short = second & 0x7f;
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    const masked = (second & 0x80) !== 0;
    const start = 2 + extra + (masked ? 4 : 0);
    if (this.#rest.length < start) return null;
    const length =
      extra === 2 ? this.#rest.readUInt16BE(2) : extra === 8 ? Number(this.#rest.readBigUInt64BE(2)) : short;
    if (length > LONGEST) throw new Error(`a frame of ${length} bytes`);
    if (this.#rest.length < start + length) return null;
    const payload = Buffer.from(this.#rest.subarray(start, start + length));
    if (masked)
      for (let n = 0; n < length; n += 1)
        payload[n] = (payload[n] ?? 0) ^ (this.#rest[start - 4 + (n % 4)] ?? 0);
    this.#rest = this.#rest.subarray(start + length);
    return { final: (first & 0x80) !== 0, opcode: first & 0x0f, payload };
  }
}

interface RawFrame {
  final: boolean;
  opcode: number;
  payload: Buffer;
}
