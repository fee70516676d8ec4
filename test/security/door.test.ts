/**
 * Hostile HTTP at the door of `hive serve`, before anybody knows whose a request is. Bytes are sent as they are, as no client would.
 *
 * @module-tag untrusted
 * @module-tag guards-end
 * @module-tag http
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { openInbox, pairDevice, serveInbox } from '../support/inbox.ts';
import { serve } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

interface Sent {
  socket: Socket;
  /** The bytes that have come back, as text. */
  readonly said: string;
  readonly ended: boolean;
}

function send(url: string, text: string): Sent {
  const { hostname, port } = new URL(url);
  let said = '';
  let ended = false;
  const socket = connect(Number(port), hostname, () => socket.write(text, 'latin1'));
  onTestFinished(() => void socket.destroy());
  socket.setEncoding('latin1').on('data', (more: string) => {
    said += more;
  });
  socket
    .on('error', () => undefined)
    .on('close', () => {
      ended = true;
    });
  return {
    socket,
    get said() {
      return said;
    },
    get ended() {
      return ended;
    },
  };
}

/** Everything that comes back until the server ends the connection. */
async function answerTo(url: string, text: string): Promise<string> {
  const sent = send(url, text);
  await eventually(() => sent.ended, 30_000, 'the end of the connection');
  return sent.said;
}

const statusesOf = (said: string): string[] =>
  [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code = '']) => code);

/** The head of a call that needs no session, without a length. */
const callHead = (url: string): string =>
  `POST /inbox/challenge HTTP/1.1\r\nHost: ${new URL(url).host}\r\nOrigin: ${new URL(url).origin}\r\nContent-Type: application/json\r\n`;

test.each([
  [
    'Content-Length with Transfer-Encoding',
    'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'Transfer-Encoding with Content-Length',
    'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n',
  ],
  ['two Content-Lengths', 'Content-Length: 2\r\nContent-Length: 70\r\n\r\n{}'],
  ['two Content-Lengths that are the same', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}'],
  ['a list as Content-Length', 'Content-Length: 2, 2\r\n\r\n{}'],
  ['a sign in Content-Length', 'Content-Length: +2\r\n\r\n{}'],
  ['another Transfer-Encoding', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
  ['chunked that is not the last', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
  ['a space before the colon', 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
  ['a folded header', 'X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}'],
  ['a folded Transfer-Encoding', 'Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'],
  ['a line that ends with LF alone', 'X: a\nContent-Length: 2\r\n\r\n{}'],
  ['a line that ends with CR alone', 'X: a\rContent-Length: 2\r\n\r\n{}'],
  ['chunks that end with LF alone', 'Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n'],
  ['LF in an extension of a chunk', 'Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\n{}\r\n0\r\n\r\n'],
  ['a chunk of an absurd size', 'Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}'],
  ['NUL in a header', 'X: a\0b\r\nContent-Length: 2\r\n\r\n{}'],
  ['two Hosts', 'Host: evil.example\r\nContent-Length: 2\r\n\r\n{}'],
])(
  'a request that a proxy may read in another way is refused, and nothing behind it is taken: %s',
  async (_what, rest) => {
    const { url } = await serveInbox(await openTestHive());
    const smuggled = `GET /inbox/smuggled HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`;
    const said = await answerTo(url, `${callHead(url)}${rest}${smuggled}`);
    expect(statusesOf(said)).toEqual(['400']);
    expect(said).toMatch(/\r\n\r\n[A-Z][^\r\n]+\.$/);
    expect(said).not.toContain('smuggled');
  },
);

test('an answer that has begun is not followed by the sentence about a bad request behind it', async () => {
  const { hive, url } = await openInbox();
  const { 'Hive-Session': session } = await (await pairDevice(hive, url)).session();
  const head = `GET /inbox/events HTTP/1.1\r\nHost: ${new URL(url).host}\r\nHive-Session: ${session}\r\n\r\n`;
  const stream = send(url, head);
  await eventually(() => stream.said.includes('text/event-stream'));
  stream.socket.write('NONSENSE\r\n\r\n');
  await eventually(() => stream.ended, 30_000, 'the end of the stream');
  expect(statusesOf(stream.said)).toEqual(['200']);
});

describe('a path has one form, so that a proxy that passes on /inbox alone passes on nothing else', () => {
  test.each([
    '/inbox/../mcp',
    '/inbox/%2e%2e/mcp',
    '/inbox/.%2E/mcp',
    '/inbox\\..\\mcp',
    '/inbox/./events',
    '//evil.example/inbox',
    'http://evil.example/inbox',
    '*',
    '/inbox#a',
    '/inbox/"<script>"',
  ])('%s is refused', async (path) => {
    const { url } = await serveInbox(await openTestHive());
    const said = await answerTo(url, `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
    expect(statusesOf(said)).toEqual(['400']);
    expect(said).toContain('shortest form');
  });

  test.each([
    '/inbox%2f..%2fmcp',
    '/inbox/..%2f..%2fetc%2fpasswd',
    '/inbox/%00',
    '/inbox/__proto__',
    '/inbox/%5c..%5cmcp',
  ])('%s is a file that does not exist', async (path) => {
    const { url } = await serveInbox(await openTestHive());
    const head = `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`;
    expect(statusesOf(await answerTo(url, head))).toEqual(['404']);
  });

  test('a NUL in it is no request', async () => {
    const { url } = await serveInbox(await openTestHive());
    const said = await answerTo(url, `GET /inbox/\0 HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
    expect(statusesOf(said)).toEqual(['400']);
  });
});

describe('a Host that is more than a name and a port is refused', () => {
  test.each([
    'evil.example@127.0.0.1',
    '127.0.0.1/evil.example',
    '127.0.0.1#.evil.example',
    'localhost?.evil.example',
    'localhost\\.evil.example',
    'localhost,evil.example',
    'http://localhost',
    'local%68ost',
    'localhost:1:2',
    'localhost evil.example',
  ])('%s', async (host) => {
    const { url } = await serveInbox(await openTestHive());
    const said = await answerTo(url, `GET /inbox HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(statusesOf(said)).toEqual(['400']);
    expect(said).toContain('a name and a port');
  });

  test.each(['localhost.', 'evil.localhost', '[::1%25lo]', ''])(
    '%j is not a name of this server',
    async (host) => {
      const { url } = await serveInbox(await openTestHive());
      const said = await answerTo(url, `GET /inbox HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(statusesOf(said)[0]).toMatch(/^40[03]$/);
    },
  );
});

test.each(['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PATCH'])(
  '%s reaches nothing',
  async (method) => {
    const { url } = await serveInbox(await openTestHive());
    for (const path of ['/inbox', '/inbox/call', '/inbox/events']) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`;
      expect(statusesOf(await answerTo(url, head))).toEqual(['404']);
    }
  },
);

test.each([
  'BREW /inbox HTTP/1.1',
  'CONNECT evil.example:80 HTTP/1.1',
  'PRI * HTTP/2.0',
  'GET /inbox HTTP/9.9',
])('%s ends the connection', async (line) => {
  const { url } = await serveInbox(await openTestHive());
  const said = await answerTo(url, `${line}\r\nHost: ${new URL(url).host}\r\n\r\n`);
  expect(statusesOf(said).filter((status) => status !== '400')).toEqual([]);
});

describe('what is too large is refused with a sentence before it has come', () => {
  const end = '\r\n\r\n';
  test.each([
    ['a header', (host: string) => `GET /inbox HTTP/1.1\r\nHost: ${host}\r\nX: ${'a'.repeat(17_000)}${end}`],
    ['a path', (host: string) => `GET /inbox/${'a'.repeat(17_000)} HTTP/1.1\r\nHost: ${host}${end}`],
    [
      'headers',
      (host: string) =>
        `GET /inbox HTTP/1.1\r\nHost: ${host}\r\n${`a:${'b'.repeat(100)}\r\n`.repeat(180)}\r\n`,
    ],
    // None of these ever ends.
    ['a longer path', () => `GET /inbox/${'a'.repeat(800_000)}`],
    [
      'more cookies than a browser has',
      (host: string) => `GET /inbox HTTP/1.1\r\nHost: ${host}\r\nCookie: ${'a'.repeat(800_000)}`,
    ],
  ])('%s', async (_what, head) => {
    const { url } = await serveInbox(await openTestHive());
    const said = await answerTo(url, head(new URL(url).host));
    expect(statusesOf(said)).toEqual(['431']);
    expect(said).toContain('too large: at most 16384 bytes, and 737640 of cookies.');
  });

  test('many headers, of which none is dropped', async () => {
    const { url } = await serveInbox(await openTestHive());
    const headers = `${'a:\r\n'.repeat(300)}Origin: https://evil.example\r\n`;
    const said = await answerTo(url, `GET /inbox HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${headers}\r\n`);
    expect(statusesOf(said)).toEqual(['431']);
    expect(said).toContain('too many headers: at most 200.');
  });

  // None of these bodies ever ends.
  test.each([
    ['a body, by its length', 'Content-Length: 1000000000\r\n\r\n{'],
    ['a body in chunks', `Transfer-Encoding: chunked\r\n\r\n4000\r\n${'a'.repeat(0x4000)}`],
  ])('%s', async (_what, rest) => {
    const { url } = await serveInbox(await openTestHive());
    const said = await answerTo(url, `${callHead(url)}${rest}`);
    expect(statusesOf(said)).toEqual(['413']);
    expect(said).toContain('The request is too large: at most 8192 bytes.');
  });

  test('extensions of chunks', async () => {
    const { url } = await serveInbox(await openTestHive());
    const rest = `Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(40_000)}`;
    const said = await answerTo(url, `${callHead(url)}${rest}`);
    expect(statusesOf(said)).toEqual(['413']);
    expect(said).toContain('extensions');
  });
});

describe('requests that never finish', () => {
  const UNFINISHED: [string, (url: string) => string][] = [
    ['nothing at all', () => ''],
    ['headers', (url) => `GET /inbox HTTP/1.1\r\nHost: ${new URL(url).host}\r\nX: `],
    ['a body', (url) => `${callHead(url)}Content-Length: 100\r\n\r\n{`],
  ];

  test.each(UNFINISHED)('%s: each is ended by its limit, and a phone goes on', async (what, textOf) => {
    const hive = await openTestHive();
    const failed = vi.spyOn(hive.log, 'error');
    const { url, server } = await serveInbox(hive, null, undefined, { check_ms: 10 });
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 });
    const device = await pairDevice(hive, url);
    expect((await device.call('prompt/list')).status).toBe(200);
    // Not before: what the phone sends must not be too slow for it on a busy machine.
    Object.assign(server, { headersTimeout: 1, requestTimeout: 1 });
    const slow = Array.from({ length: 20 }, () => send(url, textOf(url)));
    await eventually(() => slow.every(({ ended }) => ended), 30_000, 'the end of all');
    expect(new Set(slow.map(({ said }) => statusesOf(said).join()))).toEqual(new Set(['408']));
    expect(slow[0]?.said, what).toContain('took too long');
    Object.assign(server, { headersTimeout: 10_000, requestTimeout: 30_000 });
    expect((await device.call('prompt/list')).status).toBe(200);
    // Nobody fills the log in this way either.
    expect(failed).not.toHaveBeenCalled();
  });

  test.each(UNFINISHED)(
    '%s: beyond a number, the oldest end, and never that of a phone that is in',
    async (_what, textOf) => {
      const hive = await openTestHive();
      const limits = { most_strangers: 10, headers_ms: 600_000, request_ms: 600_000 };
      const { url } = await serveInbox(hive, null, undefined, limits);
      const device = await pairDevice(hive, url);
      const { 'Hive-Session': session } = await device.session();
      const head = `GET /inbox/events HTTP/1.1\r\nHost: ${new URL(url).host}\r\nHive-Session: ${session}`;
      const stream = send(url, `${head}\r\n\r\n`);
      await eventually(() => stream.said.includes('text/event-stream'));
      const slow = Array.from({ length: 50 }, () => send(url, textOf(url)));
      await eventually(() => slow.filter(({ ended }) => !ended).length <= 10, 30_000, 'the oldest to end');
      expect((await device.call('message/post', { body: 'Still here.' })).status).toBe(200);
      await eventually(() => stream.said.includes('Still here.'), 30_000, 'the stream of the phone');
      expect(stream.ended).toBe(false);
      // A phone that comes now is let in as well.
      expect((await (await pairDevice(hive, url, { name: 'Other' })).call('prompt/list')).status).toBe(200);
    },
  );
});

test('as many clients as a server has sessions may come at once, before any of them has sent a request', async () => {
  const { url, server } = await serveInbox(await openTestHive(), null);
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const all = Array.from({ length: 500 }, () => send(url, ''));
  await eventually(() => accepted === all.length, 30_000, 'all connections');
  for (const { socket } of all) socket.write(`GET /nothing HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
  await eventually(() => all.every(({ said, ended }) => ended || said !== ''), 30_000, 'all answers');
  expect(all.filter(({ said }) => statusesOf(said).length === 1)).toHaveLength(all.length);
});

describe('requests that are sent before earlier ones are answered', () => {
  const request = (url: string): string => `GET /inbox HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`;

  test('a few are answered in order', async () => {
    const { url } = await serveInbox(await openTestHive(), null);
    const sent = send(url, request(url).repeat(8));
    await eventually(() => statusesOf(sent.said).length === 8, 30_000, 'eight answers');
    expect(sent.ended).toBe(false);
  });

  test('many end their connection, and only theirs', async () => {
    const { url } = await serveInbox(await openTestHive(), null);
    const other = send(url, request(url));
    await eventually(() => statusesOf(other.said).length === 1);
    const flood = send(url, request(url).repeat(20_000));
    // Its answers are never read.
    flood.socket.pause();
    await eventually(
      () => flood.socket.destroyed || flood.socket.errored !== null,
      30_000,
      'the end of the connection',
    );
    other.socket.write(request(url));
    await eventually(() => statusesOf(other.said).length === 2, 30_000, 'the answer to the other');
  });
});

test('hive serve has this door, for MCP and for the inbox', async () => {
  const { url } = await serve(tempStore(), '--inbox');
  const host = new URL(url).host;
  for (const path of ['/inbox/../mcp', '/inbox\\..\\mcp'])
    expect(await answerTo(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toContain('shortest form');
  for (const path of ['/inbox', '/mcp'])
    expect(await answerTo(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`)).toContain(
      'one Host',
    );
});

test('a machine that is gone without a word is noticed: the system asks over each silent connection', async () => {
  const { url } = await serve(tempStore());
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  send(url, '');
  /** The timers of the established connections of the server; those that begin with 02 ask. */
  const timers = (): string[] =>
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${port}`) === true && state === '01')
      .map(([, , , , , timer = '']) => timer);
  await eventually(() => timers().length === 1, 10_000, 'the connection');
  await eventually(() => timers()[0]?.startsWith('02:') === true, 10_000, 'its timer');
});
