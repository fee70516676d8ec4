/**
 * Broken frames: each gets a JSON-RPC error, and the connection stays open.
 *
 * @module-tag untrusted
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { describe, expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { type Frame, type RpcClient, serveInProcess } from '../support/sidecar.ts';
import { moment } from '../support/wait.ts';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

const GOOD = { jsonrpc: '2.0', id: 'good', method: 'prompt/list', params: { status: 'pending' } };

function framed(content: string, length = Buffer.byteLength(content)): string {
  return `Content-Length: ${length}\r\n\r\n${content}`;
}

async function livesOn(sidecar: RpcClient): Promise<void> {
  sidecar.frame(JSON.stringify(GOOD));
  const { result } = await sidecar.seen((frame) => frame.id === 'good');
  expect(result).toMatchObject({ prompts: [], total: 0 });
}

function errorsOf(sidecar: RpcClient): [Frame['id'], number][] {
  return sidecar.frames.flatMap(({ id, error }) => (error === undefined ? [] : [[id, error.code]]));
}

describe('a run of bytes that is not a JSON frame', () => {
  test.each([
    ['without a Content-Length', 'Content-Type: text/plain\r\n\r\n{"jsonrpc":"2.0"}'],
    ['without any header', '{"jsonrpc":"2.0","id":1,"method":"shutdown"}'],
    ['with a length that is no number', 'Content-Length: many\r\n\r\n{}'],
    ['with a negative length', 'Content-Length: -5\r\n\r\n{}'],
    ['with a length beyond all bounds', 'Content-Length: 99999999999\r\n\r\n{}'],
    ['with a length that is too short', framed('{"jsonrpc":"2.0","id":1,"method":"shutdown"}', 10)],
    ['with a length that is too long', framed('{"jsonrpc":"2.0","id":1,"method":"shutdown"}', 500)],
    ['with broken JSON', framed('{"jsonrpc":')],
    ['with no content', framed('')],
    ['with bytes that are no text', framed('\u00ff\ufffe\u0000')],
    ['with a header that does not end', `X: ${'x'.repeat(10_000)}`],
    ['of line breaks', '\r\n\r\n\r\n\r\n'],
  ])('%s is refused once', async (_how, bytes) => {
    const sidecar = await serveInProcess(await openTestHive());
    sidecar.raw(bytes);
    await livesOn(sidecar);
    expect(errorsOf(sidecar)).toEqual([[null, PARSE_ERROR]]);
  });

  test('in the middle of valid frames damages none of them', async () => {
    const sidecar = await serveInProcess(await openTestHive());
    const good = (id: string): string => framed(JSON.stringify({ ...GOOD, id }));
    sidecar.raw(`${good('a')}garbage${good('b')}${framed('{"x":', 100)}${good('c')}`);
    for (const id of ['a', 'b', 'c']) await sidecar.seen((frame) => frame.id === id);
    expect(errorsOf(sidecar)).toEqual([
      [null, PARSE_ERROR],
      [null, PARSE_ERROR],
    ]);
  });
});

test('a frame that comes byte by byte, with other headers beside the length, is a frame', async () => {
  const sidecar = await serveInProcess(await openTestHive());
  const content = JSON.stringify(GOOD);
  const frame = `Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:${content.length}\r\n\r\n${content}`;
  for (const byte of frame) {
    sidecar.raw(byte);
    if (byte === '\n') await moment(2);
  }
  await sidecar.seen((reply) => reply.id === 'good');
  expect(errorsOf(sidecar)).toEqual([]);
});

test.each([
  ['after', '%d \t'],
  ['before', '\t  %d'],
  ['on both sides of', '  %d  '],
])('a length with blanks %s it is read, also after a broken frame', async (_where, value) => {
  const sidecar = await serveInProcess(await openTestHive());
  const content = JSON.stringify(GOOD);
  const frame = `Content-Length:${value.replace('%d', String(content.length))}\r\n\r\n${content}`;
  sidecar.raw(frame);
  await sidecar.seen((reply) => reply.id === 'good');
  expect(errorsOf(sidecar)).toEqual([]);
  sidecar.raw(`Content-Length: many\r\n\r\n{}${frame.replace('"good"', '"next"')}`);
  await sidecar.seen((reply) => reply.id === 'next');
});

test('a frame whose content looks like frames is one frame', async () => {
  const sidecar = await serveInProcess(await openTestHive());
  const params = { query: 'Content-Length: 5\r\n\r\nhello' };
  sidecar.frame(JSON.stringify({ ...GOOD, id: 'inner', params }));
  await sidecar.seen((frame) => frame.id === 'inner');
  await livesOn(sidecar);
  expect(errorsOf(sidecar)).toEqual([]);
});

describe('JSON that is not a request', () => {
  test.each<[string, unknown, Frame['id'], number]>([
    ['a batch', [GOOD, GOOD], null, INVALID_REQUEST],
    ['an empty batch', [], null, INVALID_REQUEST],
    ['a number', 7, null, INVALID_REQUEST],
    ['null', null, null, INVALID_REQUEST],
    ['an object without a method', { jsonrpc: '2.0', id: 5 }, 5, INVALID_REQUEST],
    ['a method that is no text', { ...GOOD, id: 6, method: 7 }, 6, INVALID_REQUEST],
    ['an id that is none', { ...GOOD, id: { a: 1 } }, null, INVALID_REQUEST],
    ['an id that is null', { ...GOOD, id: null }, null, INVALID_REQUEST],
    ['another version', { ...GOOD, id: 7, jsonrpc: '1.0' }, 7, INVALID_REQUEST],
    ['parameters by position', { ...GOOD, id: 8, params: ['pending'] }, 8, INVALID_PARAMS],
    ['parameters of a wrong type', { ...GOOD, id: 9, params: { limit: 'x' } }, 9, INVALID_PARAMS],
    ['a parameter that is missing', { ...GOOD, id: 10, method: 'prompt/get' }, 10, INVALID_PARAMS],
    ['an unknown method', { ...GOOD, id: 11, method: 'prompt/dance' }, 11, METHOD_NOT_FOUND],
    ['a method of Object', { ...GOOD, id: 12, method: 'constructor' }, 12, METHOD_NOT_FOUND],
  ])('%s gets an error that says so', async (_what, message, id, code) => {
    const sidecar = await serveInProcess(await openTestHive());
    sidecar.frame(JSON.stringify(message));
    await livesOn(sidecar);
    expect(errorsOf(sidecar)).toEqual([[id, code]]);
    const { error } = sidecar.frames.find((frame) => frame.error !== undefined) as Frame;
    expect(error?.message).toMatch(/^invalid_input: .+/);
  });

  test.each<[string, object]>([
    ['a notification of a request method', { jsonrpc: '2.0', method: 'prompt/list', params: {} }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'dance' }],
    ['a cancellation without an id', { jsonrpc: '2.0', method: '$/cancelRequest' }],
    ['a reply that nobody waits for', { jsonrpc: '2.0', id: 99, result: {} }],
    ['an answer notification that is none', { jsonrpc: '2.0', method: 'hivemind-response', params: [1] }],
  ])('%s is not answered, as JSON-RPC says, and does no harm', async (_what, message) => {
    const sidecar = await serveInProcess(await openTestHive());
    sidecar.frame(JSON.stringify(message));
    await livesOn(sidecar);
    expect(errorsOf(sidecar)).toEqual([]);
  });

  test('a hundred thousand levels of nesting', async () => {
    const sidecar = await serveInProcess(await openTestHive());
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    sidecar.frame(`{"jsonrpc":"2.0","id":1,"method":"prompt/list","params":{"status":${deep}}}`);
    sidecar.frame(`{"jsonrpc":"2.0","id":2,"method":"desk/preferences","params":{"x":${deep}}}`);
    sidecar.frame(deep);
    await livesOn(sidecar);
    expect(errorsOf(sidecar).length).toBeGreaterThanOrEqual(2);
  });

  test('a method with a name of a megabyte is not repeated', async () => {
    const sidecar = await serveInProcess(await openTestHive());
    sidecar.frame(JSON.stringify({ ...GOOD, id: 1, method: 'x'.repeat(1_000_000) }));
    const { error } = await sidecar.seen((frame) => frame.id === 1 && frame.error !== undefined);
    expect(error?.message.length).toBeLessThan(300);
  });
});

test('a batch is refused with what to send instead', async () => {
  const sidecar = await serveInProcess(await openTestHive());
  sidecar.frame(JSON.stringify([GOOD]));
  const { error } = await sidecar.seen((frame) => frame.error !== undefined);
  expect(error?.message).toBe(
    'invalid_input: Batches are not supported: send each request in its own frame.',
  );
});

test('without parameters, or with null as Emacs sends them, a request has none', async () => {
  const sidecar = await serveInProcess(await openTestHive());
  sidecar.frame('{"jsonrpc":"2.0","id":101,"method":"prompt/list"}');
  sidecar.frame('{"jsonrpc":"2.0","id":102,"method":"prompt/list","params":null}');
  for (const id of [101, 102]) expect((await sidecar.seen((frame) => frame.id === id)).result.total).toBe(0);
});
