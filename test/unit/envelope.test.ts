/** The envelope of an MCP message: null is the same as left out, and what is no message has an answer. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Envelope, readEnvelope, readEnvelopes } from '../../src/adapters/mcp/envelope.ts';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

function messageIn(value: unknown): unknown {
  const read = readEnvelope(structuredClone(value));
  return 'message' in read ? read.message : read.refusal;
}

describe('null', () => {
  const field = fc.string().filter((name) => name !== 'arguments' && name !== '__proto__');
  const tree = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.constant(null), fc.string(), fc.integer(), tie('object')),
    object: fc.dictionary(field, tie('value'), { maxKeys: 4 }),
  }));

  test('in any field, however deep, means the same as leaving the field out', () => {
    const leftOut = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (_, one) => withoutNullFields(one)));
    fc.assert(
      fc.property(tree.object, (params) => {
        const request = { ...CALL, method: 'tools/list', params: { ...(params as object), _meta: null } };
        expect(messageIn(request)).toEqual(messageIn(leftOut(request)));
      }),
    );
  });

  test('among the arguments of a tool is left to the tool, and nowhere else', () => {
    const args = { options: null, fields: [{ name: null }] };
    const params = { name: 'x', arguments: args, _meta: { arguments: null, a: [{ b: null, c: 1 }] } };
    expect(messageIn({ ...CALL, params })).toEqual({
      ...CALL,
      params: { name: 'x', arguments: args, _meta: { a: [{ c: 1 }] } },
    });
    expect(messageIn({ ...PING, arguments: { a: null } })).toEqual(PING);
  });

  test('as the arguments themselves means that there are none', () => {
    expect(messageIn({ ...CALL, params: { name: 'x', arguments: null } })).toEqual({
      ...CALL,
      params: { name: 'x' },
    });
  });

  test.each([
    ['nothing', {}],
    ['null for everything', { capabilities: null, clientInfo: null }],
    ['null for parts of it', { capabilities: { roots: null }, clientInfo: { name: null, title: null } }],
  ])('a client that says %s about itself is still one', (_what, said) => {
    const params = { protocolVersion: '2025-06-18', ...said };
    expect(messageIn({ ...CALL, method: 'initialize', params })).toMatchObject({
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: '', version: '' } },
    });
  });

  test('beside the result of an answer is no error', () => {
    const answer = { jsonrpc: '2.0', id: 3, result: {} };
    expect(messageIn({ ...answer, error: null, method: null })).toEqual(answer);
  });

  test('as the id of a notification means that it is one', () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(messageIn({ ...notification, id: null, params: null })).toEqual(notification);
  });

  test('of a message of a hundred thousand levels is found', () => {
    let deep: unknown = { end: null };
    for (let n = 0; n < 100_000; n += 1) deep = { deep };
    const read = readEnvelope({ ...PING, params: { _meta: { deep } } });
    let inner: unknown = 'message' in read ? read.message : undefined;
    for (const name of ['params', '_meta']) inner = (inner as Record<string, unknown>)[name];
    while (typeof inner === 'object' && inner !== null && 'deep' in inner) inner = inner.deep;
    expect(inner).toEqual({});
  });
});

test.each<[string, unknown, unknown, number]>([
  ['a text', 'ping', null, -32600],
  ['an object without a method', { jsonrpc: '2.0', id: 5 }, 5, -32600],
  ['a method that is no text', { ...PING, method: 7 }, 1, -32600],
  ['another version', { ...PING, jsonrpc: '1.0' }, 1, -32600],
  ['no version', { id: 'a', method: 'ping' }, 'a', -32600],
  ['a fractional id', { ...PING, id: 1.5 }, 1.5, -32600],
  ['an id that is none', { ...PING, id: { a: 1 } }, null, -32600],
  ['a request whose id is null', { ...PING, id: null }, null, -32600],
  ['params by position', { ...PING, params: ['a'] }, 1, -32602],
  ['params that are a text', { ...PING, params: 'a' }, 1, -32602],
  ['a _meta that is a list', { ...PING, params: { _meta: [] } }, 1, -32602],
  ['a fractional progress token', { ...PING, params: { _meta: { progressToken: 0.5 } } }, 1, -32602],
  [
    'a task that is none',
    { ...PING, params: { _meta: { 'io.modelcontextprotocol/related-task': 7 } } },
    1,
    -32602,
  ],
])('what is no message is refused: %s, under the id that it has', (_what, value, id, code) => {
  const read = readEnvelope(structuredClone(value)) as Extract<Envelope, { refusal: unknown }>;
  expect(read.refusal).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
  expect(read.refusal.error.message).toMatch(/^[A-Z].*\.$/);
});

test('fields that no message has are left out, because the protocol layer would drop the whole message', () => {
  expect(messageIn({ ...PING, trace: 'x' })).toEqual(PING);
});

test('a batch is its messages in order', () => {
  expect(readEnvelopes([PING, { ...PING, id: 2 }])).toMatchObject([
    { message: { id: 1 } },
    { message: { id: 2 } },
  ]);
});

function withoutNullFields(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}
