/**
 * The envelopes that clients write around a call, line by line: null for what they leave out, a byte order mark, a batch, an odd
 * id. Every request gets an answer, over stdio and over HTTP.
 *
 * @module-tag untrusted
 * @module-tag mcp
 */
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import { openStdio } from '../../src/adapters/mcp/stdio.ts';
import { openTestHive } from '../support/hive.ts';
import { agentConnection } from '../support/mcp-in-process.ts';
import { envelope } from '../support/modern-client.ts';
import { serve } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

interface Answer {
  id: unknown;
  result?: Record<string, unknown>;
  error?: { code: number };
}

/** A client that writes lines as it likes. */
async function rawClient() {
  const hive = await openTestHive();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const serving = openStdio(input, output, stop.signal).serve(
    createMcpServer(hive, agentConnection(), 'agent'),
  );
  onTestFinished(async () => {
    stop.abort();
    await serving;
  });
  const answers: Answer[] = [];
  output.on('data', (chunk) => {
    for (const line of String(chunk).split('\n')) if (line !== '') answers.push(JSON.parse(line));
  });
  return {
    answers,
    write: (text: string) => input.write(`${text}\n`),
    async answered(id: unknown): Promise<Answer | undefined> {
      const found = (): Answer | undefined => answers.find((answer) => answer.id === id);
      await eventually(() => found() !== undefined, 10_000, `an answer to ${String(id)}`);
      return found();
    },
  };
}

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const poll = (id: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'hivemind_poll', arguments: {}, ...more },
});

const NULLS: [string, object][] = [
  ['params of a list', { ...LIST, params: null }],
  ['params of a ping', { ...LIST, method: 'ping', params: null }],
  ['the cursor', { ...LIST, params: { cursor: null } }],
  ['_meta of a list', { ...LIST, params: { _meta: null } }],
  ['_meta of a call', poll(2, { _meta: null })],
  ['the progress token', poll(2, { _meta: { progressToken: null } })],
  ['what a client adds to _meta', poll(2, { _meta: { threadId: null, sessionId: null } })],
  ['the arguments', poll(2, { arguments: null })],
  ['an argument', poll(2, { arguments: { wait_ms: null } })],
  ['the task', poll(2, { task: null })],
  ['a field of resources', { ...LIST, method: 'resources/list', params: { cursor: null, _meta: null } }],
];

const HELLOS: [string, object][] = [
  ['_meta', { _meta: null }],
  ['the capabilities', { capabilities: null }],
  ['one capability', { capabilities: { experimental: null, roots: { listChanged: null } } }],
  ['what it calls itself', { clientInfo: null }],
  ['its title', { clientInfo: { name: 'raw', version: '1', title: null, websiteUrl: null } }],
  ['its version', { clientInfo: { name: 'raw', version: null } }],
];

test('null is the same as nothing, on stdio', async () => {
  const { write, answered } = await rawClient();
  const params = { ...HELLO.params, _meta: null, capabilities: null, clientInfo: null };
  write(JSON.stringify({ ...HELLO, params }));
  expect(await answered(1)).toMatchObject({ result: { serverInfo: { name: 'hive' } } });
  write('{"jsonrpc":"2.0","method":"notifications/initialized","params":null}');
  write(JSON.stringify(poll(2, { arguments: null, _meta: null, task: null })));
  expect(await answered(2)).toMatchObject({ result: { structuredContent: {} } });
});

test('over HTTP it is the same', async () => {
  const served = await serve(tempStore());
  const headers = {
    Authorization: `Bearer ${served.token}`,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  };
  const post = (body: string, session?: string) =>
    fetch(served.url, {
      method: 'POST',
      headers: session === undefined ? headers : { ...headers, 'Mcp-Session-Id': session },
      body,
    });
  for (const [what, said] of HELLOS) {
    const hello = await post(JSON.stringify({ ...HELLO, params: { ...HELLO.params, ...said } }));
    expect
      .soft([what, hello.status, await hello.text()])
      .toEqual([what, 200, expect.stringContaining('serverInfo')]);
  }
  const session = (await post(`\uFEFF${JSON.stringify(HELLO)}`)).headers.get('mcp-session-id') ?? '';
  for (const [what, request] of NULLS) {
    const answer = await post(JSON.stringify(request), session);
    expect
      .soft([what, answer.status, await answer.text()])
      .toEqual([what, 200, expect.stringContaining('"result"')]);
  }
  for (const [body, id, code] of [
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 1.5, -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600],
    ['[]', null, -32600],
    ['{"id":', null, -32700],
  ] as const) {
    const refused = await post(body, session);
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
    expect(refused.status).toBe(400);
  }
  const batch = await post(`[${JSON.stringify(poll('a'))},${JSON.stringify(poll('b'))}]`, session);
  const text = await batch.text();
  for (const id of ['a', 'b']) expect(text).toContain(`"id":"${id}"`);
});

test('a byte order mark before the first message is no part of it', async () => {
  const { write, answered, answers } = await rawClient();
  write(`\uFEFF${JSON.stringify(HELLO)}`);
  expect(await answered(1)).toMatchObject({ result: { serverInfo: { name: 'hive' } } });
  expect(answers).toHaveLength(1);
});

test('each request of a batch is answered', async () => {
  const { write, answered } = await rawClient();
  write(JSON.stringify(HELLO));
  write(JSON.stringify([poll('a'), { jsonrpc: '2.0', method: 'notifications/initialized' }, poll('b'), 7]));
  for (const id of ['a', 'b']) expect(await answered(id)).toMatchObject({ result: {} });
  expect(await answered(null)).toMatchObject({ error: { code: -32600 } });
});

test('what is no message is refused with an answer, and the connection goes on', async () => {
  const { write, answered, answers } = await rawClient();
  write(JSON.stringify(HELLO));
  write(JSON.stringify(poll(1.5)));
  expect(await answered(1.5)).toMatchObject({ error: { code: -32600 } });
  write(JSON.stringify({ ...LIST, params: [] }));
  expect(await answered(2)).toMatchObject({ error: { code: -32602 } });
  write(JSON.stringify(poll('next')));
  await answered('next');
  expect(answers).toHaveLength(4);
});

const READ = { ...LIST, method: 'resources/read' };
const SUBSCRIBE = { ...LIST, method: 'resources/subscribe' };
/** A request that lacks what it needs, what is said in the older revision, and the code in the newer one. */
const WRONG: [string, { params: object; [field: string]: unknown }, string, number][] = [
  ['a call without the name of a tool', poll(2, { name: undefined }), 'needs the name of a tool', -32602],
  ['a call whose tool is a number', poll(2, { name: 5 }), 'needs the name of a tool', -32602],
  ['a resource without a uri', { ...READ, params: {} }, 'needs the uri of a resource', -32602],
  ['a resource whose uri is none', { ...READ, params: { uri: 'x' } }, 'needs the uri of a resource', -32602],
  ['a call whose task is a number', poll(2, { task: 7 }), 'Leave the task out', -32602],
  ['a page of tools', { ...LIST, params: { cursor: 'x' } }, 'the list has one page', -32602],
  [
    'a page of resources',
    { ...LIST, method: 'resources/list', params: { cursor: 7 } },
    'has one page',
    -32602,
  ],
  // Methods that only the older revision has.
  ['a subscription without a uri', { ...SUBSCRIBE, params: {} }, 'needs the uri of a resource', -32601],
  [
    'the end of one whose uri is a number',
    { ...LIST, method: 'resources/unsubscribe', params: { uri: 7 } },
    'unsubscribe needs the uri of a resource',
    -32601,
  ],
  ['a greeting without a revision', { ...HELLO, params: {} }, 'initialize needs a protocolVersion', -32601],
];

test('a request that lacks what it needs is refused with a sentence, in both revisions', async () => {
  const { write, answered } = await rawClient();
  write(JSON.stringify(HELLO));
  await answered(1);
  for (const [what, request, sentence] of WRONG) {
    write(JSON.stringify({ ...request, id: what }));
    const message = expect.stringContaining(sentence);
    expect.soft(await answered(what), what).toMatchObject({ error: { code: -32602, message } });
  }
  for (const [what, request, sentence, code] of WRONG) {
    const id = `${what}, in the newer revision`;
    write(JSON.stringify({ ...request, id, params: { ...request.params, _meta: envelope() } }));
    const said = code === -32602 ? { code, message: expect.stringContaining(sentence) } : { code };
    expect.soft(await answered(id), id).toMatchObject({ error: said });
  }
});
