/**
 * Bytes from Emacs: whatever comes, however it is cut, good frames arrive and bad ones are refused.
 *
 * @module-tag untrusted
 * @module-tag emacs
 */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { methodsWith, serveEmacs } from '../../src/adapters/emacs/connection.ts';
import { FrameReader } from '../../src/adapters/emacs/frames.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import { fuzz } from './fuzz.ts';
import { anyJson, changed, type Json, oddText } from './inputs.ts';
import { inWorld } from './world.ts';

function framed(content: string, off = 0): string {
  return `Content-Length: ${Math.max(0, Buffer.byteLength(content) + off)}\r\n\r\n${content}`;
}

/** The messages that a reader makes of the bytes, given to it in these pieces. */
function readAll(pieces: readonly Buffer[]): { messages: string[]; refused: number } {
  const input = new PassThrough();
  const messages: string[] = [];
  let refused = 0;
  const reader = new FrameReader(input, {
    sift: (content) => {
      messages.push(JSON.stringify(content));
      return null;
    },
    refuse: () => {
      refused += 1;
    },
  });
  const listening = reader.listen(() => undefined);
  for (const piece of pieces) input.emit('data', piece);
  listening.dispose();
  return { messages, refused };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

/** Not a frame: it has no unfinished header, so it does not swallow the frame after it. */
const garbage: fc.Arbitrary<string> = fc.oneof(
  oddText.filter((text) => !/content-length/i.test(text)),
  anyJson.map((value) => framed(`${JSON.stringify(value)}x`)),
  anyJson.map((value) => framed(JSON.stringify(value), 1_000)),
  anyJson.map((value) => `Content-Length: -3\r\n\r\n${JSON.stringify(value)}`),
  fc.constant('Content-Length: 99999999999\r\n\r\n{}'),
);

/**
 * Keys without an escape: after some hundred thousand objects, JSON.parse of Node 24.21 was seen to read the key
 * "\\u0000" as a backslash (seed 15060234). No field of ours has such a name.
 */
const keyless = fc.oneof(oddText, fc.array(oddText, { maxLength: 3 }), fc.integer(), fc.constant(null));
const plainKey = fc.stringMatching(/^[a-z_]{1,8}$/);

fuzz('framing: good frames arrive among garbage, wherever the bytes are cut', 400, () =>
  fc.property(
    fc.array(fc.tuple(fc.option(garbage), fc.dictionary(plainKey, keyless, { maxKeys: 3 })), {
      maxLength: 6,
    }),
    fc.array(fc.nat(20_000), { maxLength: 12 }),
    (parts, places) => {
      const bytes = Buffer.from(
        parts.map(([bad, good], n) => `${bad ?? ''}${framed(JSON.stringify({ n, good }))}`).join(''),
      );
      const whole = readAll([bytes]);
      const wanted = parts.map(([, good], n) => JSON.stringify({ n, good }));
      const missing = wanted.filter((message) => !whole.messages.includes(message));
      if (missing.length > 0) throw new Error(`Lost: ${missing.join(' ')}; read: ${JSON.stringify(whole)}`);
      const pieces = readAll(cut(bytes, places));
      if (JSON.stringify(pieces.messages) !== JSON.stringify(whole.messages))
        throw new Error(`Cut, it reads differently: ${JSON.stringify(pieces)} and ${JSON.stringify(whole)}`);
    },
  ),
);

fuzz('framing: any bytes at all', 300, () =>
  fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat(400)), (bytes, places) => {
    readAll(cut(Buffer.from(bytes), places));
  }),
);

const extensions = await emacsExtensions();

const request = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.constantFrom(1, 'a', 2 ** 40),
  method: fc
    .constantFrom(...Object.keys(methodsWith(extensions)))
    .filter((method) => method !== 'doctor/run'),
  params: anyJson,
}) as fc.Arbitrary<Json>;

fuzz('framing: invalid requests get an error that Hive defines, and the connection stays open', 25, () =>
  fc.asyncProperty(
    fc.array(fc.oneof(changed(request), request), { minLength: 1, maxLength: 8 }),
    (messages) =>
      inWorld(async ({ hive, log }) => {
        const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
        const here = { seat: 'ada@test', human: 'ada', pid: process.pid, check: async () => undefined };
        const options = { ...here, input, output, stop: stop.signal, extensions };
        const served = serveEmacs(hive, { ...options, ending: () => undefined });
        let said = '';
        const alive = new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`No answer any more. It said: ${said}`)), 10_000);
          output.setEncoding('utf8').on('data', (text: string) => {
            said += text;
            if (!said.includes('"id":"good"')) return;
            clearTimeout(timer);
            resolve();
          });
        });
        const hello = { protocol_version: 1, client: { name: 'fuzz', version: '1' } };
        const all = [{ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: hello }, ...messages];
        const good = { jsonrpc: '2.0', id: 'good', method: 'prompt/list', params: { status: 'pending' } };
        try {
          for (const message of all) input.write(framed(JSON.stringify(message)));
          // A message that ends the connection, as `shutdown` does, ends it for the good one, too.
          if (messages.some((message) => /"(?:shutdown|exit)"/.test(JSON.stringify(message)))) return;
          input.write(framed(JSON.stringify(good)));
          await alive;
          if (/"code":-32603/.test(said)) throw new Error(`A bug of Hive: ${log.lines.join('\n')}`);
        } finally {
          stop.abort();
          await served;
          alive.catch(() => undefined);
        }
      }),
  ),
);
