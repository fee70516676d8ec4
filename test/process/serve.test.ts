/** MCP over HTTP: calls that work, and callers that are refused. */

import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { HIVE } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { answerRequests, seated } from '../support/coordinators.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { freePort } from '../support/postgres.ts';
import {
  connectHttp,
  INITIALIZE,
  rawRequest,
  type Served,
  serve,
  serveHere,
  serveNew,
  serveWith,
} from '../support/serve.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
const requestHeaders = (token: string): Record<string, string> => ({
  ...bearer(token),
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
});

describe('a remote agent', () => {
  test('asks and polls as the agent of its token, and the answer wakes its long poll', async () => {
    const { served, hive } = await serveNew();
    const agent = await connectHttp(served);
    const asked = await agent.call('hivemind_ask_async', { question: 'From afar?' });
    expect(asked['agent']).toMatch(/^remote-/);
    const waiting = agent.call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 20_000 });
    await hive.prompts.respond({ ask_id: String(asked['ask_id']), decision: 'yes', actor: HUMAN });
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'yes' });
    expect((await hive.prompts.get(String(asked['ask_id']))).session_id).toMatch(/^token:default:remote-/);
  });

  test('cannot become another agent by its own claims', async () => {
    const served = await serve(tempStore());
    const init = await rawRequest(served.url, { headers: bearer(served.token), body: INITIALIZE });
    expect(init.status).toBe(200);
    const hive = await openTestHive(served.store);
    const agent = await connectHttp(served);
    await agent.call('hivemind_status');
    expect((await hive.sessions.list()).map((session) => session.machine)).toEqual(['token:default']);
  });

  test("of one token cannot use another's session, nor answer another's prompt", async () => {
    const served = await serve(tempStore());
    const human = shell(served.store);
    const other = (await human.hive('token', 'make', 'other', '--json')).json().secret;
    const asker = await connectHttp(served);
    const asked = await asker.call('hivemind_ask_async', { question: 'Mine?' });
    const intruder = await connectHttp({ url: served.url, token: other });
    await expect(
      intruder.call('hivemind_respond', { ask_id: asked['ask_id'], decision: 'yes' }),
    ).rejects.toThrow(/not_allowed.* hive token make NAME --role coordinator/);
    await expect(intruder.call('hivemind_cancel', { ask_id: asked['ask_id'] })).rejects.toThrow(
      'not_allowed',
    );
  });

  test('coordinates with a token that says so, never its own prompts', async () => {
    const served = await serveWith(tempStore(), seated());
    const secret = (
      await shell(served.store).hive('token', 'make', 'boss', '--role', 'coordinator', '--json')
    ).json().secret;
    const asked = await (await connectHttp(served)).call('hivemind_ask_async', { question: 'Which?' });
    const boss = await connectHttp({ url: served.url, token: secret });
    // Its human is asked, as for any coordinator.
    await expect(
      boss.call('hivemind_respond', { ask_id: asked['ask_id'], decision: 'this' }),
    ).rejects.toThrow(/Your human was asked whether you may be one/);
    expect(await answerRequests(await openTestHive(served.store))).toBe(1);
    expect(await boss.call('hivemind_respond', { ask_id: asked['ask_id'], decision: 'this' })).toMatchObject({
      accepted: true,
    });
    const own = await boss.call('hivemind_ask_async', { question: 'And mine?' });
    await expect(boss.call('hivemind_respond', { ask_id: own['ask_id'], decision: 'yes' })).rejects.toThrow(
      'not_allowed',
    );
    // Nor what another session of its token asks.
    const twin = await connectHttp({ url: served.url, token: secret });
    const twins = await twin.call('hivemind_ask_async', { question: 'And its?' });
    await expect(boss.call('hivemind_respond', { ask_id: twins['ask_id'], decision: 'yes' })).rejects.toThrow(
      'not_allowed',
    );
  });
});

describe('who is refused', () => {
  const refusals: [string, number, (served: Served) => Parameters<typeof rawRequest>[1]][] = [
    ['no token', 401, () => ({ body: INITIALIZE })],
    ['a wrong token', 401, () => ({ headers: bearer('hive_wrong'), body: INITIALIZE })],
    [
      'a token with other credentials around it',
      401,
      ({ token }) => ({ headers: { Authorization: `Basic ${token}` }, body: INITIALIZE }),
    ],
    [
      'a foreign Host',
      403,
      ({ token }) => ({ headers: { ...bearer(token), Host: 'evil.example' }, body: INITIALIZE }),
    ],
    [
      'a foreign Origin',
      403,
      ({ token }) => ({ headers: { ...bearer(token), Origin: 'https://evil.example' }, body: INITIALIZE }),
    ],
    [
      'an opaque Origin',
      403,
      ({ token }) => ({ headers: { ...bearer(token), Origin: 'null' }, body: INITIALIZE }),
    ],
    ['another path', 404, ({ token }) => ({ headers: bearer(token), path: '/' })],
    ['a path with tricks', 400, ({ token }) => ({ headers: bearer(token), path: '/mcp/../../etc/passwd' })],
    ['a body that is no JSON', 400, ({ token }) => ({ headers: bearer(token), body: '{' })],
    [
      'a session that never was',
      404,
      ({ token }) => ({
        headers: { ...bearer(token), 'Mcp-Session-Id': 'connection-none' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      }),
    ],
    [
      'a call without a session',
      400,
      ({ token }) => ({ headers: bearer(token), body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }),
    ],
  ];
  test('are none that reach it by a name that it was given, however either is written', async () => {
    const served = await serve(tempStore(), '--allow-host', 'MyBox.Example', '--allow-host', 'fd00:0::1');
    for (const name of ['mybox.example', 'MYBOX.example:80', '[fd00::1]', '[::1]'])
      expect(
        await rawRequest(served.url, { headers: { ...bearer(served.token), Host: name }, body: INITIALIZE }),
        name,
      ).toMatchObject({ status: 200 });
  });

  test('are those without a token, from elsewhere, or with a request that is none', async () => {
    const served = await serve(tempStore());
    for (const [what, status, request] of refusals)
      expect.soft((await rawRequest(served.url, request(served))).status, what).toBe(status);
  });

  test('a body of a gigabyte is refused by its declared length, before it is read', async () => {
    const served = await serve(tempStore());
    const { hostname, port } = new URL(served.url);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${served.token}\r\nContent-Length: 1073741824\r\n\r\n{`,
        );
      });
      socket.setEncoding('utf8').once('data', (text) => {
        socket.destroy();
        resolve(String(text));
      });
      socket.once('error', reject);
    });
    expect(reply).toContain(' 413 ');
  });

  test('a revoked token, at once, also in its open session', async () => {
    const served = await serve(tempStore());
    const agent = await connectHttp(served);
    await agent.call('hivemind_status');
    await shell(served.store).hive('token', 'revoke', 'default');
    await expect(agent.call('hivemind_status')).rejects.toThrow(/This token is unknown here or was revoked/);
    expect((await rawRequest(served.url, { body: INITIALIZE })).body).toContain('A token is required');
  });

  test('a client that sends its headers drop by drop is dropped', async () => {
    const served = await serve(tempStore());
    const { hostname, port } = new URL(served.url);
    // The client would continue for ever.
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write('POST /mcp HTTP/1.1\r\n'));
      const drops = setInterval(() => socket.write('X-A: b\r\n'), 500);
      socket.on('error', () => undefined);
      socket.resume().once('close', () => {
        clearInterval(drops);
        resolve();
      });
    });
  });

  test('requests beyond the rate of a token', async () => {
    const served = await serve(tempStore());
    const request = () => rawRequest(served.url, { headers: bearer(served.token), body: '{}' });
    // A busy machine may need several times as long for them as the rate allows.
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 90 }, request));
      return answers.some(({ status }) => status === 429);
    });
  });
});

describe('a session', () => {
  /** A server that closes what is not in use when it looks, and how to let it look. */
  async function scene() {
    const hive = await openTestHive();
    const { secret: token } = await tokensOf(hive).make({ name: 'far', agent: 'far-1' });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, mcp } = await serveHere(hive, { idle_ms: 0 });
    const look = () => vi.advanceTimersByTime(30_000);
    return { hive, url, token, mcp, look };
  }

  test('with a call in progress is not closed, however long that takes', async () => {
    const { hive, url, token, look } = await scene();
    const agent = await connectHttp({ url, token });
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'From afar?' });
    const waiting = agent.call('hivemind_poll', { ask_id, wait_ms: 20_000 });
    await eventually(async () => (await hive.prompts.get(String(ask_id))).blocked_since !== null);
    look();
    await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'yes' });
  });

  test('is in use while its stream is open, and is closed some time after that', async () => {
    const { hive, url, token, mcp, look } = await scene();
    const begun = await fetch(url, { method: 'POST', headers: requestHeaders(token), body: INITIALIZE });
    const id = begun.headers.get('mcp-session-id') ?? '';
    const leaving = new AbortController();
    const headers = { ...requestHeaders(token), 'Mcp-Session-Id': id };
    const stream = await fetch(url, { headers, signal: leaving.signal });
    await begun.text();
    const closed = () => {
      look();
      return mcp.sessions === 0;
    };
    const connections = () => hive.store.read((tx) => tx.sessions.connections('token:far'));
    expect([stream.status, closed()]).toEqual([200, false]);
    expect(await connections()).toHaveLength(1);
    leaving.abort();
    await eventually(closed);
    await eventually(async () => (await connections()).length === 0);
  });
});

describe('tokens', () => {
  test('are in a file that only their owner can read, and in the store only as digests', async () => {
    const served = await serve(tempStore());
    expect(statSync(served.store.replace(/[^/]*$/, 'token')).mode & 0o777).toBe(0o600);
    const hive = await openTestHive(served.store);
    expect(JSON.stringify(await tokensOf(hive).list())).not.toContain(served.token);
  });

  test('are not shown to an agent', async () => {
    const served = await serve(tempStore());
    const ran = await shell(served.store).as({ CLAUDECODE: '1' }).hive('token', 'show');
    expect(ran.code).not.toBe(0);
    expect(ran.out).toBe('');
  });

  test('are listed, or it says that there are none', async () => {
    const person = shell(tempStore());
    expect((await person.hive('token', 'list')).err).toContain('There are no tokens.');
    await person.hive('token', 'make', 'box', '--agent', 'Builder');
    const [headings, row] = (await person.hive('token', 'list')).out.split('\n');
    expect(headings).toMatch(/^TOKEN +AGENT +ROLE +PROJECTS +MADE +STATE$/);
    expect(row).toMatch(/^box +Builder +agent +- .* valid$/);
  });

  test('the first one is printed as JSON, too', async () => {
    const person = shell(tempStore());
    const secret = (await person.hive('token', 'make', 'default')).out.trim();
    expect((await person.hive('token', 'show', '--json')).json()).toEqual({ name: 'default', secret });
  });

  test('rotate: the old secret is invalid, the new one works', async () => {
    const served = await serve(tempStore());
    const fresh = (await shell(served.store).hive('token', 'rotate', 'default')).out.trim();
    await expect(connectHttp(served)).rejects.toThrow();
    await (await connectHttp({ url: served.url, token: fresh })).call('hivemind_status');
  });

  test('that was revoked is not rotated: another of its name can be made', async () => {
    const person = shell(tempStore());
    await person.hive('token', 'make', 'ada');
    await person.hive('token', 'revoke', 'ada');
    expect(await person.hive('token', 'rotate', 'ada')).toMatchObject({
      code: 1,
      out: '',
      err: 'hive: The token "ada" was revoked. Make another of this name with: hive token make ada\n',
    });
    expect((await person.hive('token', 'make', 'ada')).code).toBe(0);
  });

  test.each([
    ['role', ['--role', 'coordinater'], /'coordinater' is invalid/],
    [
      'project',
      ['--project', '/nowhere/here'],
      /--project \/nowhere\/here is not a directory\. No token was made/,
    ],
    ['project', ['--project', HIVE], /bin\/hive is not a directory\. No token was made/],
  ])('are not made for a %s that does not exist', async (_what, options, err) => {
    const person = shell(tempStore());
    expect(await person.hive('token', 'make', 'ada', ...options)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(err),
    });
    expect((await person.hive('token', 'list')).err).toContain('There are no tokens.');
  });
});

test('what is not a port is refused', async () => {
  expect(await shell(tempStore()).hive('serve', '--port', 'abc')).toMatchObject({
    code: 2,
    err: 'hive: --port abc is not a port. Give a number from 0 to 65535.\n',
  });
});

test.each([
  ['a file that is missing', '/nowhere/x.pem', /--cert \/nowhere\/x\.pem cannot be read \(ENOENT/],
  ['something else', import.meta.filename, /are not a certificate in PEM and its key/],
])('%s is refused as a certificate', async (_what, file, err) => {
  const ran = await shell(tempStore()).hive('serve', '--port', '0', '--cert', file, '--key', file);
  expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringMatching(err) });
});

test('a server that shuts down lets its long polls return first', async () => {
  const served = await serve(tempStore());
  const agent = await connectHttp(served);
  const asked = await agent.call('hivemind_ask_async', { question: 'Before you go?' });
  const waiting = agent.call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 20_000 });
  // Answered in order: the poll waits by now.
  await agent.ping();
  const ended = await served.child.kill('SIGTERM');
  expect(await waiting).toMatchObject({ status: 'pending' });
  expect(ended).toEqual({ code: 0, signal: null });
});

describe('a sidecar that serves', () => {
  test('admits remote agents next to its desk, and ends with it', async () => {
    const store = tempStore();
    const port = await freePort();
    const sidecar = await startSidecar(store, { args: ['--serve', String(port)] });
    const url = `http://127.0.0.1:${port}/mcp`;
    await eventually(async () => (await rawRequest(url, {}).catch(() => null))?.status === 401);
    const token = (await shell(store).hive('token', 'show')).out.trim();
    const agent = await connectHttp({ url, token });
    await agent.call('hivemind_ask_async', { question: 'From afar?', urgency: 'low' });
    await sidecar.seen(({ method, params }) => method === 'hivemind-ask' && params.question === 'From afar?');
    expect((await sidecar.end()).code).toBe(0);
    await expect(rawRequest(url, {})).rejects.toThrow(/ECONNREFUSED/);
  });

  test('stays a desk when its port is taken, and notifies the human', async () => {
    const store = tempStore();
    const served = await serve(store);
    const sidecar = await startSidecar(store, { args: ['--serve', new URL(served.url).port] });
    const notice = await sidecar.seen(({ method }) => method === 'desk/notice');
    expect(notice.params.text).toMatch(
      /This Emacs does not serve agents on other machines: Cannot listen on 127\.0\.0\.1/,
    );
    expect((await sidecar.request('prompt/list', {})).prompts).toEqual([]);
  });
});
