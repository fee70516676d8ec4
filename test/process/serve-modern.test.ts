/**
 * MCP 2026-07-28 over HTTP, and over stdio to another machine.
 *
 * @module-tag at-least-once
 * @module-tag not-consumed
 * @module-tag mcp
 * @module-tag http
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { HUMAN, openTestHive, untilPending } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { envelope, modernHeaders, overHttp } from '../support/modern-client.ts';
import { connectHttp, rawRequest, type Served, serve, serveHere } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { describeModernContract } from './modern-contract.ts';

type Json = Record<string, unknown>;

describeModernContract('HTTP');
describeModernContract('the bridge');

const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: envelope() } };
const CALL = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'hivemind_status', arguments: {}, _meta: envelope() },
};

describe('a request', () => {
  let served: Served;
  beforeFile(async () => {
    served = await serve(tempStore());
  });

  test.each([
    ['the version is missing', LIST, { 'MCP-Protocol-Version': undefined }, -32020],
    ['the version is another', LIST, { 'MCP-Protocol-Version': '2025-11-25' }, -32020],
    ['the method is missing', LIST, { 'Mcp-Method': undefined }, -32020],
    ['the method is another', LIST, { 'Mcp-Method': 'tools/call' }, -32020],
    ['the name is missing', CALL, { 'Mcp-Name': undefined }, -32020],
    ['the name is another', CALL, { 'Mcp-Name': 'hivemind_poll' }, -32020],
    ['the envelope is missing', { ...LIST, params: {} }, {}, -32602],
    [
      'the capabilities are missing',
      withEnvelope({ 'io.modelcontextprotocol/clientCapabilities': undefined }),
      {},
      -32602,
    ],
    ['the client is no object', withEnvelope({ 'io.modelcontextprotocol/clientInfo': 'me' }), {}, -32602],
  ])('is refused where %s', async (_what, request, changed, code) => {
    const { url, token } = served;
    const params = request.params as Json;
    const all = { ...modernHeaders(token, request.method, params), ...changed };
    const headers = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
    const { status, body } = await rawRequest(url, { headers, body: JSON.stringify(request) });
    expect([status, JSON.parse(body)]).toMatchObject([400, { jsonrpc: '2.0', id: 7, error: { code } }]);
  });
});

function withEnvelope(changed: Json) {
  return { ...LIST, params: { _meta: { ...envelope(), ...changed } } };
}

test('a name that fits no header comes as base64; an unknown method is not found; a notification is accepted', async () => {
  const { url, token } = await serve(tempStore());
  const headers = modernHeaders(token, 'tools/call', CALL.params);
  const encoded = `=?base64?${Buffer.from('hivemind_status').toString('base64')}?=`;
  const post = async (message: object, changed: Record<string, string>): Promise<number> =>
    (await rawRequest(url, { headers: { ...headers, ...changed }, body: JSON.stringify(message) })).status;
  expect(await post(CALL, { 'Mcp-Name': encoded })).toBe(200);
  expect(await post({ ...LIST, method: 'tools/dance' }, { 'Mcp-Method': 'tools/dance' })).toBe(404);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  expect(await post(cancelled, { 'Mcp-Method': cancelled.method })).toBe(202);
});

test('a call that waits becomes a stream, because a client may give up where no head of an answer comes', async () => {
  const hive = await openTestHive();
  const { secret } = await tokensOf(hive).make({ name: 'far', agent: 'far-1' });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url } = await serveHere(hive);
  const params = { name: 'hivemind_ask', arguments: { question: 'One?' }, _meta: envelope() };
  const responding = fetch(url, {
    method: 'POST',
    headers: modernHeaders(secret, 'tools/call', params),
    body: JSON.stringify({ ...CALL, params }),
  });
  const [{ ask_id } = expect.fail()] = await untilPending(hive);
  vi.advanceTimersByTime(30_000);
  const response = await responding;
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  expect(await response.text()).toMatch(/^: \n\nevent: message\ndata: .*"decision":"yes"/);
});

test('a token that is revoked ends what it has begun', async () => {
  const store = tempStore();
  const served = await serve(store);
  const hive = await openTestHive(store);
  const client = overHttp(served);
  const { ask_id } = await client.call('hivemind_ask_async', { question: 'One?' });
  const notifications = { resourceSubscriptions: [`hive://prompts/${String(ask_id)}`] };
  const followed = client.begin('subscriptions/listen', { notifications });
  await eventually(() => followed.messages.length === 1, 10_000, 'the acknowledgement');
  await tokensOf(hive).revoke('default');
  expect(await followed.answer()).toMatchObject({ result: { resultType: 'complete' } });
  const { status } = await rawRequest(served.url, {
    headers: modernHeaders(served.token, 'tools/list', {}),
    body: JSON.stringify(LIST),
  });
  expect(status).toBe(401);
});

test('one token has as many clients of both revisions as it may have sessions', async () => {
  const served = await serve(tempStore());
  await connectHttp(served);
  const statuses: number[] = [];
  for (let count = 0; count < 101; count++) {
    const clientInfo = { name: `client-${count}`, version: '1' };
    const meta = { ...envelope(), 'io.modelcontextprotocol/clientInfo': clientInfo };
    const body = JSON.stringify({ ...LIST, params: { _meta: meta } });
    let status = 429;
    // The rate of one token is limited as well; its refusal has another sentence.
    await eventually(async () => {
      const reply = await rawRequest(served.url, {
        headers: modernHeaders(served.token, 'tools/list', {}),
        body,
      });
      status = reply.status;
      return !reply.body.includes('slow down');
    });
    statuses.push(status);
  }
  expect([statuses.filter((status) => status === 200).length, statuses.at(-1)]).toEqual([99, 429]);
});
