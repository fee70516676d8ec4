/** Questions and inboxes as MCP resources: reading, subscribing, and notifications of changes. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

let hive: OpenedHive;
let client: Client;
let updated: string[];
beforeEach(async () => {
  hive = await openTestHive();
  await introduce(hive);
  const connection = {
    env: { CLAUDE_CODE_SESSION_ID: 'session-1', CLAUDECODE: '1' },
    connection_id: 'connection-1',
    source: null,
    project: { project: 'demo', project_dir: '/demo/.git', branch: null },
    machine: 'test',
    parent_pid: null,
    trusts_meta: true,
    stopping: new AbortController().signal,
  };
  const server = createMcpServer(hive, connection, 'agent');
  client = new Client({ name: 'claude-code', version: '1' });
  updated = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updated.push(params.uri);
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  onTestFinished(() => client.close());
});

/** The content of a resource. */
async function read(uri: string): Promise<Record<string, unknown>> {
  const { contents } = await client.readResource({ uri });
  return JSON.parse(String((contents[0] as { text?: unknown }).text)) as Record<string, unknown>;
}

test('there are two kinds, and they can be subscribed to', async () => {
  expect(client.getServerCapabilities()?.resources).toMatchObject({ subscribe: true });
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'hive://prompts/{ask_id}',
    'hive://sessions/{id}/inbox',
  ]);
});

test('a question is read with its answer, and does not count as handed over', async () => {
  const { ask_id } = await ask(hive, { question: 'Red or blue?' });
  expect(await read(`hive://prompts/${ask_id}`)).toMatchObject({
    status: 'pending',
    question: 'Red or blue?',
  });
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  expect(await read(`hive://prompts/${ask_id}`)).toMatchObject({ status: 'responded', decision: 'blue' });
  expect((await hive.prompts.get(ask_id)).handed_at).toBeNull();
  await expect(read('hive://prompts/ask-unknown')).rejects.toThrow(/There is no question ask-unknown/);
});

test('subscribers are told of each change, and nobody else is', async () => {
  const { ask_id } = await ask(hive);
  const other = await ask(hive, { question: 'Another?' });
  const uri = `hive://prompts/${ask_id}`;
  await client.subscribeResource({ uri });
  await hive.prompts.respond({ ask_id: other.ask_id, decision: 'no', actor: HUMAN });
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  await eventually(() => updated.length > 0);
  expect(new Set(updated)).toEqual(new Set([uri]));
  await client.unsubscribeResource({ uri });
  const before = updated.length;
  await hive.prompts.mark(ask_id, 'seen');
  // It is told of later changes of what it has subscribed to.
  const later = `hive://prompts/${other.ask_id}`;
  await client.subscribeResource({ uri: later });
  await hive.prompts.mark(other.ask_id, 'seen');
  await eventually(() => updated.includes(later));
  expect(updated.slice(before)).toEqual([later]);
});

test('an inbox has what is pending for its own session, and changes with it', async () => {
  const uri = 'hive://sessions/session-1/inbox';
  await client.subscribeResource({ uri });
  const author = agentAuthor(await introduce(hive, 'other-1'), 'mcp');
  const session = await hive.sessions.resolve('session-1');
  await hive.messages.post({ body: `Look @${session.handle}`, author });
  await ask(hive, { question: 'Red or blue?' });
  await eventually(() => updated.length >= 1);
  expect(await read(uri)).toMatchObject({
    prompts: [{ question: 'Red or blue?' }],
    prompt_count: 1,
    mentions: [{ from: author.handle }],
    mention_count: 1,
  });
  for (let n = 0; n < 3; n += 1) {
    const { ask_id } = await ask(hive, {});
    await hive.prompts.respond({ ask_id, decision: 'x'.repeat(30_000), actor: HUMAN });
  }
  const much = await read(uri);
  expect(much['prompts'], 'no more than a client passes on').toHaveLength(1);
  expect(much['prompt_count']).toBe(4);
  const [mention] = await hive.mentions.unprocessed('session-1', null, 1);
  expect(mention?.delivered_at).toBeNull();
  await expect(read('hive://sessions/other-1/inbox')).rejects.toThrow(/own/);
});

test('what cannot be read is refused as a wrong request, not as a fault of the server', async () => {
  const [unknown, foreign] = ['hive://prompts/ask-unknown', 'hive://sessions/other-1/inbox'];
  await expect(client.readResource({ uri: unknown })).rejects.toMatchObject({ code: -32002 });
  await expect(client.readResource({ uri: foreign })).rejects.toMatchObject({ code: -32602 });
  await expect(client.readResource({ uri: 'hive://prompts' })).rejects.toMatchObject({
    code: -32002,
    message: expect.stringContaining('There is no resource hive://prompts: read hive://prompts/ASK_ID or'),
  });
});

test('the id in the address of an inbox may have any letters', async () => {
  const store = tempStore();
  const { client } = await connectMcp({ store, env: { HIVE_AGENT: 'café' } });
  for (const id of ['café', encodeURIComponent('café')]) {
    const { contents } = await client.readResource({ uri: `hive://sessions/${id}/inbox` });
    expect(contents).toHaveLength(1);
  }
});
