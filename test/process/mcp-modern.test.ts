/**
 * MCP 2026-07-28, whose requests carry an envelope instead of a handshake: over stdio, over HTTP, and over stdio to another
 * machine. What it says is the same as in the older revision.
 *
 * @module-tag at-least-once
 * @module-tag not-consumed
 * @module-tag sqlite
 * @module-tag mcp
 * @module-tag http
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { toolsFor } from '../../src/adapters/mcp/server.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import {
  CARRIERS,
  connectModern,
  envelope,
  type ModernMessage,
  modernHeaders,
  overHttp,
} from '../support/modern-client.ts';
import { connectHttp, rawRequest, serve, serveHere } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

type Json = Record<string, unknown>;

const SERVER = { 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'hive' }) };

describe.each(CARRIERS)('over %s', (carrier) => {
  test('the server says what it is and what it offers', async () => {
    const client = await connectModern(carrier, tempStore());
    expect((await client.ask('server/discover')).result).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } },
      instructions: expect.stringContaining('hivemind_ask_async'),
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: SERVER,
    });
  });

  test('a client needs no greeting: its first request is answered, and so are several at once', async () => {
    const client = await connectModern(carrier, tempStore());
    const [tools, templates, status] = await Promise.all([
      client.ask('tools/list'),
      client.ask('resources/templates/list'),
      client.call('hivemind_status'),
    ]);
    expect(tools.result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'private' });
    const { tools: listed = [] } = tools.result as { tools?: { name: string }[] };
    const names = listed.map(({ name }) => name);
    expect(names).toEqual(toolsFor('agent').map(({ name }) => name));
    expect(templates.result).toMatchObject({ resourceTemplates: [{ name: 'prompt' }, { name: 'inbox' }] });
    expect(status).toHaveProperty('desks_online');
  });

  test('it asks, is answered while it waits, and its next call proves that it read the answer', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const client = await connectModern(carrier, store);
    const { ask_id } = await client.call('hivemind_ask_async', { question: 'Red or blue?' });
    const waiting = client.call('hivemind_poll', { ask_id, wait_ms: 20_000 });
    await eventually(async () => (await hive.prompts.get(String(ask_id))).blocked_since !== null);
    await hive.prompts.respond({ ask_id: String(ask_id), decision: 'blue', actor: HUMAN });
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'blue' });
    expect((await hive.prompts.get(String(ask_id))).collected_at).toBeNull();
    // What had to wait may have been given up, so it is said once more.
    await client.call('hivemind_poll', { ask_id });
    await client.call('hivemind_status');
    expect((await hive.prompts.get(String(ask_id))).collected_at).not.toBeNull();
  });

  test('a request that its client takes back gets no answer, and what it would have said is not lost', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const client = await connectModern(carrier, store);
    const { ask_id } = await client.call('hivemind_ask_async', { question: 'Still there?' });
    const args = { ask_id, wait_ms: 20_000 };
    const waiting = client.begin('tools/call', { name: 'hivemind_poll', arguments: args });
    const isBlocked = async (): Promise<boolean> =>
      (await hive.prompts.get(String(ask_id))).blocked_since !== null;
    await eventually(isBlocked);
    waiting.cancel();
    await eventually(async () => !(await isBlocked()));
    await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
    expect(await client.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'yes' });
    expect(waiting.messages).toEqual([]);
  });

  test('a subscription says what it covers, then that a question has changed, until it is taken back', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const client = await connectModern(carrier, store);
    const [first, second] = await Promise.all(
      ['One?', 'Two?'].map(
        async (question) => (await client.call('hivemind_ask_async', { question }))['ask_id'],
      ),
    );
    const uri = `hive://prompts/${String(first)}`;
    const notifications = { resourceSubscriptions: [uri], promptsListChanged: true };
    const followed = client.begin('subscriptions/listen', { notifications });
    await eventually(() => followed.messages.length === 1, 10_000, 'the acknowledgement');
    const [{ method, params = {} }] = followed.messages as [ModernMessage];
    const { 'io.modelcontextprotocol/subscriptionId': id } = params['_meta'] as Json;
    expect(method).toBe('notifications/subscriptions/acknowledged');
    expect(params['notifications']).toEqual({ resourceSubscriptions: [uri] });
    for (const ask_id of [second, first])
      await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
    await eventually(() => followed.messages.length > 1, 10_000, 'the change');
    expect(followed.messages[1]).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
    });
    const read = await client.ask('resources/read', { uri });
    expect(read.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    expect(JSON.stringify(read.result)).toContain('responded');
  });

  test('of two subscriptions to one question, the end of one leaves the other', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const client = await connectModern(carrier, store);
    const { ask_id } = await client.call('hivemind_ask_async', { question: 'One?' });
    const notifications = { resourceSubscriptions: [`hive://prompts/${String(ask_id)}`] };
    const [ended, other] = [
      client.begin('subscriptions/listen', { notifications }),
      client.begin('subscriptions/listen', { notifications }),
    ];
    await eventually(() => ended.messages.length + other.messages.length === 2, 10_000, 'both');
    ended.cancel();
    // Answered after that, so the server has heard of it.
    await client.call('hivemind_status');
    await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
    await eventually(() => other.messages.length > 1, 10_000, 'the change');
    expect(ended.messages.length).toBe(1);
  });

  test('a subscription ends with an answer when the server does', async () => {
    const client = await connectModern(carrier, tempStore());
    const { ask_id } = await client.call('hivemind_ask_async', { question: 'One?' });
    const notifications = { resourceSubscriptions: [`hive://prompts/${String(ask_id)}`] };
    const followed = client.begin('subscriptions/listen', { notifications });
    await eventually(() => followed.messages.length === 1, 10_000, 'the acknowledgement');
    await client.stop();
    expect(await followed.answer()).toMatchObject({
      result: {
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/subscriptionId': expect.anything() },
      },
    });
  });

  test('a subscription to nothing that is offered ends at once', async () => {
    const client = await connectModern(carrier, tempStore());
    const nothing = client.begin('subscriptions/listen', { notifications: { promptsListChanged: true } });
    expect(await nothing.answer()).toMatchObject({ result: { resultType: 'complete' } });
    expect(nothing.messages[0]).toMatchObject({ params: { notifications: {} } });
  });

  test.each([
    ['a method that the revision no longer has', 'ping', {}, -32601],
    ['a method that no revision has', 'tools/dance', {}, -32601],
    ['a subscription that wants nothing', 'subscriptions/listen', {}, -32602],
  ])('%s is refused', async (_what, method, params, code) => {
    const client = await connectModern(carrier, tempStore());
    expect((await client.ask(method, params)).error).toMatchObject({ code, message: expect.any(String) });
  });

  test('a resource that does not exist is refused with its address', async () => {
    const client = await connectModern(carrier, tempStore());
    const uri = 'hive://nothing/here';
    expect((await client.ask('resources/read', { uri })).error).toMatchObject({
      code: -32602,
      data: { uri },
    });
  });

  test('another revision in an envelope is refused with the one that is served', async () => {
    const client = await connectModern(carrier, tempStore());
    const refused = await client.ask('tools/list', { _meta: envelope('2027-01-01') });
    // Over HTTP the header disagrees first.
    if (carrier === 'HTTP') expect(refused.error).toMatchObject({ code: -32020 });
    else
      expect(refused.error).toMatchObject({
        code: -32022,
        data: { supported: ['2026-07-28'], requested: '2027-01-01' },
      });
  });
});

test('hooks come over a connection whose client speaks the new revision, and a model cannot send one', async () => {
  const client = await connectModern('stdio', tempStore());
  const fields = { client: 'claude-code', protocol: '1', session_id: 'session-9', cwd: '/' };
  const event = {
    name: 'hook_event',
    arguments: { ...fields, hook_event_name: 'UserPromptSubmit', prompt: 'go' },
  };
  expect(await client.ask('tools/call', event)).toMatchObject({
    result: { resultType: 'complete', content: [{ type: 'text', text: '{}' }] },
  });
  const ofModel = { ...event, _meta: { 'claudecode/toolUseId': 'toolu_1' } };
  expect((await client.ask('tools/call', ofModel)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('not for you') }],
  });
});

test('clients of both revisions say the same', async () => {
  const store = tempStore();
  const [modern, older] = [await connectModern('stdio', store), await connectMcp({ store })];
  const [listed, before] = [await modern.ask('tools/list'), await older.client.listTools()];
  expect(listed.result?.['tools']).toEqual(before.tools);
  const { ask_id } = await older.call('hivemind_ask_async', { question: 'Red or blue?' });
  expect(await modern.call('hivemind_poll', { ask_id })).toEqual(
    await older.call('hivemind_poll', { ask_id }),
  );
});

describe('over HTTP', () => {
  const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: envelope() } };
  const CALL = {
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'hivemind_status', arguments: {}, _meta: envelope() },
  };

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
  ])('a request is refused where %s', async (_what, request, changed, code) => {
    const { url, token } = await serve(tempStore());
    const params = request.params as Json;
    const all = { ...modernHeaders(token, request.method, params), ...changed };
    const headers = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
    const { status, body } = await rawRequest(url, { headers, body: JSON.stringify(request) });
    expect([status, JSON.parse(body)]).toMatchObject([400, { jsonrpc: '2.0', id: 7, error: { code } }]);
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
    const asked = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0]?.ask_id;
    await eventually(async () => (await asked()) !== undefined);
    vi.advanceTimersByTime(30_000);
    const response = await responding;
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    await hive.prompts.respond({ ask_id: String(await asked()), decision: 'yes', actor: HUMAN });
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
});
