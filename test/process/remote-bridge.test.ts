/**
 * The bridge to another machine: what it carries, what happens when that machine restarts or is gone, and its refusals.
 *
 * @module-tag at-least-once
 * @module-tag http
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { createAuthority } from '../support/certificates.ts';
import { childEnvironment, outputOf, spawnHive, watchesBell } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { httpProxy } from '../support/http-proxy.ts';
import { connectBridge, FAR, NO_STORE, tokenFileOf } from '../support/remote.ts';
import { serve, serveNew } from '../support/serve.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

describe('the bridge', () => {
  test('carries a question there and its answer back', async () => {
    const { served, hive } = await serveNew();
    const agent = await connectBridge(served);
    const asked = await agent.call('hivemind_ask_async', { question: 'From afar?' });
    const waiting = agent.call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 20_000 });
    await eventually(() => watchesBell(served.child.pid, served.store));
    await hive.prompts.respond({ ask_id: String(asked['ask_id']), decision: 'yes', actor: HUMAN });
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'yes' });
  });

  test('reports Esc in the terminal of its client, which only the transcript there shows', async () => {
    const { served, hive } = await serveNew();
    const agent = await connectBridge(served);
    const transcript_path = join(tempFolder(), 'session.jsonl');
    const session = { client: 'claude-code', protocol: '1', session_id: 'far-1', cwd: '/', transcript_path };
    const say = (prompt_id: string) =>
      agent.client.callTool({
        name: 'hook_event',
        arguments: { ...session, prompt_id, hook_event_name: 'UserPromptSubmit', prompt: 'go' },
      });
    const turn = () => hive.store.read((tx) => tx.turns.last(FAR));
    await say('p1');
    await say('p2');
    const content = [{ type: 'text', text: '[Request interrupted by user]' }];
    const pressed = (promptId: string): string =>
      `${JSON.stringify({ type: 'user', promptId, timestamp: new Date().toISOString(), message: { content } })}\n`;
    writeFileSync(transcript_path, pressed('p1'));
    appendFileSync(transcript_path, pressed('p2'));
    await eventually(async () => (await turn())?.state !== 'in_progress', 20_000, 'the end of the turn');
    expect(await turn()).toMatchObject({
      client_turn_id: 'p2',
      state: 'aborted',
      abort_reason: 'interrupted',
      by: 'terminal',
    });
    expect((await hive.sessions.find(FAR))?.state).toBe('idle');
  });

  test('begins a new session when the other side has restarted', async () => {
    const store = tempStore();
    const first = await serve(store);
    const agent = await connectBridge(first);
    const asked = await agent.call('hivemind_ask_async', { question: 'Still there?' });
    await first.child.kill('SIGTERM');
    const away = agent.call('hivemind_status');
    await serve(store, '--port', new URL(first.url).port);
    expect(await away).toHaveProperty('desks_online');
    expect(await agent.call('hivemind_poll', { ask_id: asked['ask_id'] })).toMatchObject({
      status: 'pending',
    });
  });

  test('answers a call whose server died, instead of leaving it open', async () => {
    const store = tempStore();
    const first = await serve(store);
    const agent = await connectBridge(first);
    const asked = await agent.call('hivemind_ask_async', { question: 'Still there?' });
    const waiting = agent
      .call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 25_000 })
      .catch((error: unknown) => String(error));
    // The server has the call: its agent counts as blocked by the question.
    const hive = await openTestHive(store);
    await eventually(async () => (await hive.prompts.get(String(asked['ask_id']))).blocked_since !== null);
    await first.child.kill('SIGKILL');
    await serve(store, '--port', new URL(first.url).port);
    expect(await waiting).toMatch(/lost|It is not known whether this was done/);
    expect(await agent.call('hivemind_poll', { ask_id: asked['ask_id'] })).toMatchObject({
      status: 'pending',
    });
  });

  test('answers a call that is accepted over a session which was found to be gone in the meantime', async () => {
    const served = await serve(tempStore());
    const proxy = await httpProxy(served.url);
    const agent = await connectBridge({ ...served, url: proxy.url });
    const asked = await agent.call('hivemind_ask_async', { question: 'Still there?' });
    const held: ServerResponse[] = [];
    proxy.answering((_request, text, response) => {
      if (text.includes('hivemind_poll')) held.push(response);
      else if (text.includes('hivemind_status')) {
        proxy.answering(null);
        response.writeHead(404).end();
      } else return false;
      return true;
    });
    const polled = agent
      .call('hivemind_poll', { ask_id: asked['ask_id'] })
      .catch((error: unknown) => String(error));
    await eventually(() => held.length === 1);
    expect(await agent.call('hivemind_status')).toHaveProperty('desks_online');
    held[0]?.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    expect(await polled).toContain('It is not known whether this was done');
  });

  test('has a session again soon after the other side has restarted, because the mention gate needs one', async () => {
    const store = tempStore();
    const first = await serve(store);
    await (await connectBridge(first)).call('hivemind_status');
    await first.child.kill('SIGTERM');
    const hive = await openTestHive(store);
    const connections = () => hive.store.read((tx) => tx.sessions.connections('token:default'));
    expect(await connections()).toEqual([]);
    await serve(store, '--port', new URL(first.url).port);
    await eventually(async () => (await connections()).length === 1, 20_000, 'the session');
  });

  test('follows on what its client has subscribed to, and lets it look at what it may have missed', async () => {
    const store = tempStore();
    const first = await serve(store);
    const hive = await openTestHive(store);
    const { client, call } = await connectBridge(first);
    const updated: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri);
    });
    const [left = '', kept = ''] = await Promise.all(
      ['One?', 'Two?'].map(async (question) =>
        String((await call('hivemind_ask_async', { question }))['ask_id']),
      ),
    );
    const uri = (ask_id: string): string => `hive://prompts/${ask_id}`;
    for (const ask_id of [left, kept]) await client.subscribeResource({ uri: uri(ask_id) });
    await client.unsubscribeResource({ uri: uri(left) });
    await first.child.kill('SIGTERM');
    await serve(store, '--port', new URL(first.url).port);
    await eventually(() => updated.length === 1, 20_000, 'the word to look');
    for (const ask_id of [left, kept]) await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    await eventually(() => updated.length === 2, 20_000, 'the change');
    expect(updated).toEqual([uri(kept), uri(kept)]);
  });

  test.each([
    ['is cut off', (response: ServerResponse) => response.destroy()],
    ['stays silent', () => undefined],
  ])('begins a session again when the answer to its handshake %s', async (_what, fail) => {
    const served = await serve(tempStore());
    const proxy = await httpProxy(served.url);
    const agent = await connectBridge({ ...served, url: proxy.url });
    proxy.answering((_request, text, response) => {
      if (text.includes('"initialize"')) {
        proxy.answering(null);
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
        fail(response);
      } else response.writeHead(404).end();
      return true;
    });
    expect(await agent.call('hivemind_status')).toHaveProperty('desks_online');
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['was refused for now', (response) => response.writeHead(429).end()],
    ['a proxy could not pass on', (response) => response.writeHead(502).end()],
    ['was cut', (response) => response.destroy()],
  ])('asks again for the stream of a new session that %s', async (_what, fail) => {
    const { served, hive } = await serveNew();
    const proxy = await httpProxy(served.url);
    proxy.answering(({ method }, _text, response) => {
      if (method !== 'GET') return false;
      proxy.answering(null);
      fail(response);
      return true;
    });
    const { client, call } = await connectBridge({ ...served, url: proxy.url });
    const updated: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri);
    });
    const ask_id = String((await call('hivemind_ask_async', { question: 'One?' }))['ask_id']);
    await client.subscribeResource({ uri: `hive://prompts/${ask_id}` });
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    let count = 0;
    await eventually(async () => {
      count += 1;
      await hive.prompts.amend({ ask_id, decision: `yes, ${count}`, actor: HUMAN });
      return updated.length > 0;
    });
  });

  test('passes on why a message is refused, and that nothing was done', async () => {
    const agent = await connectBridge(await serve(tempStore()));
    const post = (args: Record<string, unknown>) => agent.call('hivemind_post', args);
    await expect(post({ body: 'x'.repeat(1_500_000) })).rejects.toThrow(
      /refused this \(413\): The request is too large: at most 1048576 bytes\. Nothing was done\./,
    );
    await expect(post({ body: 'x', numbers: Array(30_000).fill(1) })).rejects.toThrow(
      /refused this \(400\): .*20,?000.*\. Nothing was done\./,
    );
    expect(await agent.call('hivemind_read')).toMatchObject({ messages: [] });
  });

  test('says whether a call may have been done when a proxy fails', async () => {
    const served = await serve(tempStore());
    const proxy = await httpProxy(served.url);
    const agent = await connectBridge({ ...served, url: proxy.url });
    proxy.answering((_request, _text, response) => {
      response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>');
      return true;
    });
    await expect(agent.call('hivemind_status')).rejects.toThrow(
      /failed \(502\)\. It is not known whether this was done: call again later\./,
    );
  });

  test('says at once when its token is refused', async () => {
    const served = await serve(tempStore());
    await expect(connectBridge(served, 'hive_wrong')).rejects.toThrow(/refuses the token/);
  });

  test('says which certificate it does not accept, and what to do', async () => {
    const { cert, key } = createAuthority(tempFolder()).sign('server', 'IP:127.0.0.1');
    const served = await serve(tempStore(), '--cert', cert, '--key', key);
    await expect(connectBridge(served)).rejects.toThrow(
      /certificate of 127\.0\.0\.1:\d+ is not accepted here \(\w+\)\. Nothing was done\. .*NODE_EXTRA_CA_CERTS/,
    );
  });

  test('continues with a rotated token', async () => {
    const served = await serve(tempStore());
    const agent = await connectBridge(served);
    const fresh = (await shell(served.store).hive('token', 'rotate', 'default')).out.trim();
    await expect(agent.call('hivemind_status')).rejects.toThrow(/refuses the token/);
    tokenFileOf(served, fresh);
    await agent.call('hivemind_status');
  });
});

test('a bridge ends with its client', async () => {
  const served = await serve(tempStore());
  const child = spawnHive(
    ['mcp', '--url', served.url, '--token-file', tokenFileOf(served)],
    childEnvironment(NO_STORE),
  );
  child.process.stdin.end();
  await outputOf(child);
});
