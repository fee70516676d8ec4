/** MCP messages as lines, in whatever pieces they arrive and with anything between them. */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineTransport, LONGEST_MESSAGE } from '../../src/adapters/mcp/stdio.ts';

interface Heard {
  messages: unknown[];
  errors: string[];
  closed: number;
}

async function listen(output = new PassThrough()) {
  const input = new PassThrough();
  const transport = new LineTransport(input, output);
  const heard: Heard = { messages: [], errors: [], closed: 0 };
  transport.onmessage = (message) => heard.messages.push(message);
  transport.onerror = (error) => heard.errors.push(error.message);
  transport.onclose = () => {
    heard.closed += 1;
  };
  await transport.start();
  const give = async (bytes: Buffer | string): Promise<void> => {
    input.write(bytes);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const answers = (): unknown[] =>
    String(output.read() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { transport, heard, give, answers };
}

const message = fc
  .dictionary(fc.string(), fc.string({ unit: 'binary' }))
  .map((params) => ({ jsonrpc: '2.0', method: 'ping', params }));
const ping = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

test('every message arrives whole and in order, in whatever pieces its bytes come', async () => {
  const given = fc.tuple(fc.array(message), fc.array(fc.nat(200)), fc.constantFrom('\n', '\r\n'));
  await fc.assert(
    fc.asyncProperty(given, async ([messages, pieces, end]) => {
      const { heard, give } = await listen();
      let bytes = Buffer.from(messages.map((one) => JSON.stringify(one) + end).join(''));
      for (const length of pieces) {
        await give(bytes.subarray(0, length));
        bytes = bytes.subarray(length);
      }
      await give(bytes);
      // Through JSON, because a lone surrogate does not survive UTF-8 and is not tested here.
      const told = messages.map((one) => JSON.parse(Buffer.from(JSON.stringify(one)).toString()));
      expect(heard).toEqual({ messages: told, errors: [], closed: 0 });
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['no JSON', 'hello', -32700],
  ['half a message', '{"id":', -32700],
  ['a number', '5', -32600],
  ['null', 'null', -32600],
  ['an empty batch', '[]', -32600],
])('%s is answered and reported, and what follows is received', async (_what, line, code) => {
  const { heard, give, answers } = await listen();
  await give(`${line}\n${ping(2)}\n`);
  expect(heard.messages).toEqual([JSON.parse(ping(2))]);
  expect(heard.errors).toHaveLength(1);
  expect(answers()).toMatchObject([{ jsonrpc: '2.0', id: null, error: { code } }]);
});

test('a byte order mark, empty lines and blanks around a message are no part of it', async () => {
  const { heard, give, answers } = await listen();
  await give(`\uFEFF${ping(1)}\n\n \t\r\n\uFEFF \n ${ping(2)} \r\n`);
  expect(heard).toMatchObject({ messages: [{ id: 1 }, { id: 2 }], errors: [] });
  expect(answers()).toEqual([]);
});

test('a batch is the messages in it, and what is no message among them is answered', async () => {
  const { heard, give, answers } = await listen();
  await give(`[${ping(1)},7,${ping(2)}]\n`);
  expect(heard.messages).toMatchObject([{ id: 1 }, { id: 2 }]);
  expect(answers()).toMatchObject([{ id: null, error: { code: -32600 } }]);
});

test('a message that is much too long closes the connection, and nothing of it is kept', async () => {
  const { heard, give } = await listen();
  await give(`${ping(1)}\n`);
  await give(Buffer.alloc(LONGEST_MESSAGE + 1, 'x'));
  await give(`\n${ping(2)}\n`);
  expect(heard.messages).toMatchObject([{ id: 1 }]);
  expect(heard.errors).toEqual([expect.stringContaining('longer than')]);
  expect(heard.closed).toBe(1);
});

test('a connection that a message closes receives nothing more', async () => {
  const { transport, heard, give } = await listen();
  transport.onmessage = (one) => {
    heard.messages.push(one);
    void transport.close();
  };
  await give(`${ping(1)}\n${ping(2)}\n`);
  expect(heard).toMatchObject({ messages: [{ id: 1 }], errors: [], closed: 1 });
});

test('output waits for a slow reader', async () => {
  const output = new PassThrough({ highWaterMark: 10 });
  const { transport } = await listen(output);
  let sent = false;
  const sending = transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' }).then(() => {
    sent = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toBe(false);
  expect(String(output.read())).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await sending;
});

test('however much waits for a slow reader, one listener waits for it', async () => {
  const output = new PassThrough({ highWaterMark: 10 });
  const { transport } = await listen(output);
  const send = (): Promise<void> => transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const _again of [1, 2]) {
    const sending = Array.from({ length: 20 }, send);
    expect(output.listenerCount('drain')).toBe(1);
    output.resume();
    await Promise.all(sending);
    output.pause();
  }
});
