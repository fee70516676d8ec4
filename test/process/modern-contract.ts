/** MCP 2026-07-28, whose requests carry an envelope instead of a handshake. What it says is the same over every carrier. */
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { toolsFor } from '../../src/adapters/mcp/server.ts';
import { HUMAN, newHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import {
  connectLines,
  connectModern,
  envelope,
  type ModernCaller,
  type ModernCarrier,
  type ModernMessage,
} from '../support/modern-client.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

type Json = Record<string, unknown>;

const SERVER = { 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'hive' }) };

export function describeModernContract(carrier: ModernCarrier): void {
  describe(`over ${carrier}`, () => {
    describe('to a client that stays', () => {
      let client: ModernCaller;
      beforeFile(async () => {
        client = await connectModern(carrier, tempStore());
      });

      test('the server says what it is and what it offers', async () => {
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

      test('a subscription to nothing that is offered ends at once', async () => {
        const nothing = client.begin('subscriptions/listen', { notifications: { promptsListChanged: true } });
        expect(await nothing.answer()).toMatchObject({ result: { resultType: 'complete' } });
        expect(nothing.messages[0]).toMatchObject({ params: { notifications: {} } });
      });

      test.each([
        ['a method that the revision no longer has', 'ping', {}, -32601],
        ['a method that no revision has', 'tools/dance', {}, -32601],
        ['a subscription that wants nothing', 'subscriptions/listen', {}, -32602],
      ])('%s is refused', async (_what, method, params, code) => {
        expect((await client.ask(method, params)).error).toMatchObject({ code, message: expect.any(String) });
      });

      test('a resource that does not exist is refused with its address', async () => {
        const uri = 'hive://nothing/here';
        expect((await client.ask('resources/read', { uri })).error).toMatchObject({
          code: -32602,
          data: { uri },
        });
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
      const { store, hive } = await newHive();
      const client = await connectModern(carrier, store);
      const { ask_id } = await client.call('hivemind_ask_async', { question: 'Red or blue?' });
      const waiting = client.call('hivemind_poll', { ask_id, wait_ms: 20_000 });
      await eventually(async () => (await hive.prompts.get(String(ask_id))).blocked_since !== null);
      await hive.prompts.respond({ ask_id: String(ask_id), decision: 'blue', actor: HUMAN });
      expect(await waiting).toMatchObject({ status: 'responded', decision: 'blue' });
      expect((await hive.prompts.get(String(ask_id))).collected_at).toBeNull();
      // An answer that had to wait may have been given up, so it is said once more.
      await client.call('hivemind_poll', { ask_id });
      await client.call('hivemind_status');
      expect((await hive.prompts.get(String(ask_id))).collected_at).not.toBeNull();
    });

    test('a request that its client takes back gets no answer, and what it would have said is not lost', async () => {
      const { store, hive } = await newHive();
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
      const { store, hive } = await newHive();
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

    if (carrier !== 'HTTP')
      test('a client that does not wait for its probe and greets in the older revision has both answers, and is notified as before', async () => {
        const { store, hive } = await newHive();
        const client = await connectLines(carrier, store);
        const probe = client.begin('server/discover');
        const params = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'older', version: '1' },
        };
        expect((await client.askOlder('initialize', params)).result).toMatchObject({
          protocolVersion: '2025-11-25',
          serverInfo: { name: 'hive' },
        });
        client.notify('notifications/initialized');
        expect((await probe.answer()).result).toMatchObject({ supportedVersions: ['2026-07-28'] });
        const call = { name: 'hivemind_ask_async', arguments: { question: 'One?' } };
        const asked = await client.askOlder('tools/call', call);
        const { ask_id } = (asked.result?.['structuredContent'] ?? {}) as { ask_id: string };
        const uri = `hive://prompts/${ask_id}`;
        await client.askOlder('resources/subscribe', { uri });
        await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
        const updated = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } };
        await eventually(() => client.unasked.some((message) => isDeepStrictEqual(message, updated)));
        const connections = await hive.store.read((tx) =>
          tx.sessions.connections(carrier === 'stdio' ? hostname() : 'token:default'),
        );
        expect(connections).toHaveLength(1);
      });

    test('of two subscriptions to one question, the end of one leaves the other', async () => {
      const { store, hive } = await newHive();
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
}
