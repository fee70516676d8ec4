/**
 * A server that somebody tries to fill: with connections, with sessions, with messages to be kept.
 *
 * @module-tag guards-end
 * @module-tag http
 */
import { type ClientRequest, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { MODERN } from '../../src/adapters/mcp/modern.ts';
import type { Token } from '../../src/domain/tokens.ts';
import { createReplayStore } from '../../src/extensions/serve/mcp-http.ts';
import { shell } from '../support/cli.ts';
import { openTestHive } from '../support/hive.ts';
import { connectHttp, INITIALIZE, rawRequest, serve, serveHere } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, moment } from '../support/wait.ts';

test('connections without a token are limited and dropped first; an agent with a token keeps its own', async () => {
  const served = await serve(tempStore());
  const { hostname, port } = new URL(served.url);
  const agent = await connectHttp(served);
  const asked = await agent.call('hivemind_ask_async', { question: 'Still there?' });
  const waiting = agent.call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 25_000 });
  const open = new Set<Socket>();
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
  });
  const strangers = await Promise.all(
    Array.from(
      { length: 260 },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(Number(port), hostname, () => resolve(socket));
          socket.once('error', reject);
          open.add(socket);
          socket.on('close', () => open.delete(socket)).resume();
        }),
    ),
  );
  expect(strangers).toHaveLength(260);
  await eventually(() => open.size <= 200, 5_000, 'the oldest to be shed');
  // Room for those who have a token: a new session, and the one that waits.
  const other = await connectHttp(served);
  await other.call('hivemind_cancel', { ask_id: asked['ask_id'] });
  expect(await waiting).toMatchObject({ status: 'cancelled' });
});

test('a token cannot use up the sessions of the others, and is told when to try again', async () => {
  const served = await serve(tempStore());
  const begin = (token: string): Promise<{ status: number; body: string }> =>
    rawRequest(served.url, { headers: { Authorization: `Bearer ${token}` }, body: INITIALIZE });
  let begun = 0;
  let refused = '';
  while (refused === '' && begun <= 100) {
    const { status, body } = await begin(served.token);
    if (status === 200) begun += 1;
    // The rate is another limit: it is over in a second.
    else if (body.includes('open sessions')) refused = body;
    else await moment(50);
  }
  expect(begun).toBe(100);
  expect(refused).toMatch(/The token \\"default\\" has 100 open sessions.*try again in \d+ s/);
  const other = (await shell(served.store).hive('token', 'make', 'other', '--json')).json().secret;
  expect((await begin(other)).status).toBe(200);
});

test('a token cannot use up the connections of the others, however long its requests last', async () => {
  const hive = await openTestHive();
  const token = (name: string): Token =>
    ({ name, agent: 'a', role: 'agent', projects: [], digest: name }) as unknown as Token;
  const tokens = {
    verify: async (secret: string) => token(secret),
    holds: async () => true,
    watch: () => () => undefined,
  };
  const { url } = await serveHere(hive, { tokens, most_requests_of_token: 3 });
  const open = new Set<ClientRequest>();
  onTestFinished(() => {
    for (const one of open) one.destroy();
  });
  const listen = (
    secret: string,
  ): Promise<{ status: number | undefined; sent: ClientRequest; body: string }> =>
    new Promise((resolve, reject) => {
      const method = 'subscriptions/listen';
      const sent = request(url, {
        method: 'POST',
        agent: false,
        headers: {
          ...{ Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
          ...{ 'MCP-Protocol-Version': MODERN, 'Mcp-Method': method },
        },
      });
      open.add(sent);
      sent.once('error', reject);
      sent.once('response', (response) =>
        response.once('data', (data) => {
          sent.off('error', reject).on('error', () => undefined);
          resolve({ status: response.statusCode, sent, body: String(data) });
        }),
      );
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const params = { notifications: { toolsListChanged: true }, _meta };
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    });
  const streams = [await listen('one'), await listen('one'), await listen('one')];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const refused = await listen('one');
  expect(refused.status).toBe(429);
  expect(refused.body).toMatch(/The token \\"one\\" has 3 requests and streams in progress/);
  expect((await listen('two')).status).toBe(200);
  streams[0]?.sent.destroy();
  await eventually(async () => (await listen('one')).status === 200, 10_000, 'room for another');
});

test('an agent cannot crowd out its own hooks with its calls, and the hooks leave room for the calls', async () => {
  const hive = await openTestHive();
  const token = { name: 't', agent: 'a', role: 'agent', projects: [], digest: 'd' } as unknown as Token;
  const tokens = { verify: async () => token, holds: async () => true, watch: () => () => undefined };
  const waiting = new Set<ServerResponse>();
  const route = async ({ response }: { response: ServerResponse }): Promise<void> => {
    waiting.add(response);
    response.writeHead(200).flushHeaders();
  };
  const limits = { burst: 3, rate: 0.001, most_requests_of_token: 2 };
  const { url } = await serveHere(hive, { tokens, ...limits, routes: { '/hook': route } });
  const headers = { Authorization: 'Bearer x' };
  const status = async (path: string): Promise<number> => {
    const abort = new AbortController();
    const sent = await fetch(new URL(path, url), {
      method: 'POST',
      headers,
      body: '{}',
      signal: abort.signal,
    });
    onTestFinished(() => abort.abort());
    return sent.status;
  };
  // Its calls are not valid, but each counts, and so does each hook that waits.
  expect([await status('/mcp'), await status('/mcp'), await status('/mcp')]).toEqual([400, 400, 400]);
  expect(await status('/mcp')).toBe(429);
  expect([await status('/hook'), await status('/hook')]).toEqual([200, 200]);
  expect(await status('/hook')).toBe(429);
  expect(waiting.size).toBe(2);
});

test('a client that is refused while it sends reads why, and uses the connection again', async () => {
  const { url } = await serveHere(await openTestHive(), {});
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let said = '';
  socket.setEncoding('utf8').on('data', (more: string) => {
    said += more;
  });
  const refusals = (): number => said.split('HTTP/1.1 401 ').length - 1;
  const body = 'x'.repeat(900_000);
  const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (const n of [1, 2]) {
    socket.write(head);
    await eventually(() => refusals() === n, 10_000, 'the refusal');
    socket.write(body);
  }
  socket.write(`GET /nothing HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await eventually(() => said.includes('HTTP/1.1 404 '), 10_000, 'the answer to the next request');
});

test('nothing is kept of a session that could not begin', async () => {
  const hive = await openTestHive();
  const token = { name: 't', agent: 'a', role: 'agent', projects: [], digest: 'd' } as unknown as Token;
  const kept: WeakRef<Token>[] = [];
  const tokens = {
    verify: async () => {
      const one = { ...token };
      kept.push(new WeakRef(one));
      return one;
    },
    holds: async () => true,
    watch: () => () => undefined,
  };
  const { url } = await serveHere(hive, { tokens });
  const headers = { Authorization: 'Bearer x', Accept: 'application/json' };
  for (let n = 0; n < 20; n += 1)
    expect((await rawRequest(url, { headers, body: INITIALIZE })).status).toBe(406);
  expect((await rawRequest(url, { headers: { Authorization: 'Bearer x' }, body: INITIALIZE })).status).toBe(
    200,
  );
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const left = (): number => kept.filter((one) => one.deref() !== undefined).length;
  // Only the session that began needs its token.
  const forgotten = (): boolean => {
    collect();
    return left() <= 2;
  };
  await eventually(forgotten, 10_000, 'the tokens of the others to be forgotten');
  expect(kept[20]?.deref()).toBeDefined();
});

test('what is kept for a client that resumes is bounded in bytes', async () => {
  const replay = createReplayStore();
  const text = 'x'.repeat(100_000);
  const ids: string[] = [];
  for (let n = 0; n < 50; n += 1)
    ids.push(await replay.storeEvent('s', { jsonrpc: '2.0', method: 'm', params: { text, n } }));
  const seen: unknown[] = [];
  // The server has forgotten this id, so it sends everything that it still keeps of the stream.
  await replay.replayEventsAfter(ids[0] ?? '', { send: async (_id, message) => void seen.push(message) });
  expect(JSON.stringify(seen).length).toBeLessThan(1.1 * 1024 * 1024);
  expect(JSON.stringify(seen.at(-1))).toContain('"n":49');
});
