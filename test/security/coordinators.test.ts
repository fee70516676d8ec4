/**
 * A coordinator answers in its human's place, so nobody becomes one by a command line (docs/internals/threat-model.md).
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag mcp
 */
import { hostname, userInfo } from 'node:os';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { asksForRole, type Prompt } from '../../src/domain/prompts.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, HIVE, readOutput, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { answerRequests, letCoordinate, seated } from '../support/coordinators.ts';
import { fireDialog, openDesk } from '../support/dialogs.ts';
import { endedProcess } from '../support/ended-process.ts';
import { ask, HUMAN, introduction, newHive, openTestHive } from '../support/hive.ts';
import { recordedEvent } from '../support/hooks.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { connectInProcess } from '../support/mcp-in-process.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

async function requests(hive: OpenedHive): Promise<Prompt[]> {
  const { items } = await hive.prompts.list({ limit: 100 });
  return items.filter(asksForRole);
}

async function answers(client: Client, ask_id: string): Promise<string> {
  const { isError, content } = await client.callTool({
    name: 'hivemind_respond',
    arguments: { ask_id, decision: 'yes' },
  });
  return isError === true ? JSON.stringify(content) : 'accepted';
}

test('an agent that starts a coordinator of its own, out of its process tree, does not answer itself', async () => {
  const { store, hive } = await newHive();
  // This test process is the agent that asks.
  const asker = await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
  const { prompt } = await hive.prompts.ask({ question: 'May I?' }, asker);
  const words = [
    { jsonrpc: '2.0', id: 1, method: 'initialize' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call' },
  ];
  const [hello, call] = words.map((message, n) => ({
    ...message,
    params:
      n === 0
        ? { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
        : { name: 'hivemind_respond', arguments: { ask_id: prompt.ask_id, decision: 'yes' } },
  }));
  for (const name of [userInfo().username, 'boss']) {
    const clean = Object.entries({ ...childEnvironment(store), ...seated(), HIVE_AGENT: name });
    const variables = clean.map(([key, value]) => `${key}=${value}`);
    const server = [process.execPath, HIVE, 'mcp', '--role', 'coordinator'];
    const args = ['--fork', 'env', '-i', ...variables, ...server];
    const child = spawnChild('setsid', args, childEnvironment(store));
    const said = readOutput(child);
    for (const message of [hello, call]) child.process.stdin.write(`${JSON.stringify(message)}\n`);
    await eventually(() => said().includes('"id":2'), 30_000, 'its answer');
    child.process.stdin.end();
    expect(said()).toContain('not_allowed');
    expect(said()).toMatch(name === 'boss' ? /Your human was asked/ : /has the name of a person/);
  }
  expect(await hive.prompts.get(prompt.ask_id)).toMatchObject({ status: 'pending', decision: null });
  // The request that the human reads names the process; the one with a person's name could not even ask.
  expect((await requests(hive)).map(({ agent }) => agent)).toEqual(['boss']);
});

test('the role is granted by a signed answer, is listed, and is gone once that is corrected', async () => {
  const hive = await openTestHive();
  const { ask_id } = await ask(hive, {}, 'other');
  const client = await connectInProcess(hive, 'coordinator', { granted: false });
  expect(await answers(client, ask_id)).toContain('Your human was asked whether you may be one');
  // Asked again, it is the same request.
  expect(await answers(client, ask_id)).toContain('has not answered yet');
  const [request] = await requests(hive);
  expect(await requests(hive)).toHaveLength(1);
  expect(request).toMatchObject({
    kind: 'permission',
    context: expect.stringContaining(`process ${process.pid}`),
  });
  await letCoordinate(hive, client);
  const sessions = await hive.sessions.list();
  expect([...(await hive.coordinators.list(sessions))]).toEqual([['agent-1', request?.ask_id]]);
  expect(await answers(client, ask_id)).toBe('accepted');
  // The agent may have read the answer to its request: the human can take it back all the same.
  await client.callTool({ name: 'hivemind_poll', arguments: { ask_id: request?.ask_id } });
  const displayed_digest = permissionDigest(request as Prompt);
  const correction = { ask_id: String(request?.ask_id), actor: HUMAN, displayed_digest };
  await hive.prompts.amend({ ...correction, decision: 'Deny' });
  const { ask_id: next } = await ask(hive, { question: 'And this?' }, 'other');
  expect(await answers(client, next)).toContain('your human does not let you be one');
  expect([...(await hive.coordinators.list(sessions))]).toEqual([]);
});

test('an answer that no registered seat signed grants nothing', async () => {
  const hive = await openTestHive();
  const { ask_id } = await ask(hive, {}, 'other');
  const client = await connectInProcess(hive, 'coordinator', { granted: false });
  await answers(client, ask_id);
  const [request] = await requests(hive);
  hive.seats.useKey('77'.repeat(32));
  await answerRequests(hive);
  expect(await hive.prompts.get(String(request?.ask_id))).toMatchObject({ decision: 'Allow' });
  expect(await answers(client, ask_id)).toContain('no seat that your human has registered signed');
});

test('a permission that an agent asks under the key of a request, in other words, grants nothing', async () => {
  const hive = await openTestHive();
  const { ask_id } = await ask(hive, {}, 'other');
  const client = await connectInProcess(hive, 'coordinator', { granted: false });
  await answers(client, ask_id);
  const [request] = await requests(hive);
  const other = await connectInProcess(hive, 'coordinator', {
    granted: false,
    connection: { env: { HIVE_AGENT: 'agent-2' }, connection_id: 'connection-2' },
  });
  const { structuredContent } = await other.callTool({
    name: 'hivemind_ask_async',
    arguments: {
      question: 'May I run the tests?',
      kind: 'permission',
      idempotency_key: request?.idempotency_key,
    },
  });
  const asked = await hive.prompts.get(String((structuredContent as { ask_id: string }).ask_id));
  const displayed_digest = permissionDigest(asked);
  await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'Allow', actor: HUMAN, displayed_digest });
  expect(await answers(other, ask_id)).toContain('not_allowed');
});

test('the role is bound to the client process that it was granted to', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive, {}, 'other');
  const boss = { store, env: { HIVE_AGENT: 'boss' } };
  const granted = await connectMcp({ ...boss, coordinates: true });
  expect(await hive.coordinators.list(await hive.sessions.list())).toHaveProperty('size', 1);
  await granted.crash();
  const coordinating = async (): Promise<number> => {
    await hive.sessions.sweep(hostname());
    return (await hive.coordinators.list(await hive.sessions.list())).size;
  };
  await eventually(async () => (await coordinating()) === 0);
  // Another process under the same name has to be granted it again.
  const next = await connectMcp({
    ...boss,
    args: ['--role', 'coordinator'],
    env: { ...boss.env, ...seated() },
  });
  expect(await answers(next.client, ask_id)).toContain('has not answered yet');
});

test('one that has the role does not lend it to a process outside of its client', async () => {
  const hive = await openTestHive();
  await connectInProcess(hive, 'coordinator');
  const session = await hive.sessions.find('agent-1');
  expect(
    (await hive.sessions.actor({ session_id: 'agent-1', handle: 'agent-1' }, 'mcp')).coordinates,
  ).toBeDefined();
  // The session is now that of a process which is not above this one.
  const stranger = spawnChild('sleep', ['60'], childEnvironment(tempStore()));
  await hive.store.write((tx) =>
    tx.sessions.upsert({ ...(session as NonNullable<typeof session>), pid: stranger.pid }),
  );
  expect(
    (await hive.sessions.actor({ session_id: 'agent-1', handle: 'agent-1' }, 'mcp')).coordinates,
  ).toBeUndefined();
  const gone = await endedProcess();
  await hive.store.write((tx) =>
    tx.sessions.upsert({ ...(session as NonNullable<typeof session>), pid: gone }),
  );
  expect(
    (await hive.sessions.actor({ session_id: 'agent-1', handle: 'agent-1' }, 'mcp')).coordinates,
  ).toBeUndefined();
});

test('a coordinator does not answer what its own process tree asks, above it or below', async () => {
  const hive = await openTestHive();
  const client = await connectInProcess(hive, 'coordinator');
  const child = spawnChild('sleep', ['60'], childEnvironment(tempStore()));
  const machine = 'test';
  const relatives: [string, object][] = [
    ['above', { pid: process.ppid }],
    ['same', { pid: process.pid }],
    ['below', { pid: child.pid }],
    ['agent-1:sub', { parent_session_id: 'agent-1' }],
    ['worker', { parent_session_id: 'agent-1' }],
  ];
  for (const [session_id, place] of relatives) {
    const session = await hive.sessions.introduce(introduction({ session_id, machine, ...place }), null);
    const { prompt } = await hive.prompts.ask({ question: `${session_id}?` }, session);
    expect(await answers(client, prompt.ask_id), session_id).toMatch(/own processes|descends from/);
  }
  const { ask_id } = await ask(hive, {}, 'other');
  const { structuredContent } = await client.callTool({
    name: 'hivemind_await_ask',
    arguments: { timeout_ms: 0 },
  });
  expect((structuredContent as { prompts: Prompt[] }).prompts.map((one) => one.ask_id)).toEqual([ask_id]);
  expect(await answers(client, ask_id)).toBe('accepted');
});

test('a coordinator answers no dialog of a client, which would tell its model that the human had answered', async () => {
  const hive = await openTestHive();
  await openDesk(hive);
  const client = await connectInProcess(hive, 'coordinator');
  for (const asked of ['PermissionRequest-AskUserQuestion', 'Elicitation-form']) {
    const { prompts, printed } = await fireDialog(hive, recordedEvent(`claude-code/${asked}.json`));
    expect(prompts.length).toBeGreaterThan(0);
    for (const { ask_id } of prompts) expect(await answers(client, ask_id)).toContain('dialog');
    const { structuredContent } = await client.callTool({
      name: 'hivemind_await_ask',
      arguments: { timeout_ms: 0 },
    });
    expect(structuredContent).toMatchObject({ prompts: [] });
    await hive.prompts.cancel(prompts[0]?.ask_id ?? '', HUMAN, 'human');
    expect(await printed).not.toContain('allow');
  }
});

test('what a session of its own processes asked stays unanswered when that session has ended', async () => {
  const hive = await openTestHive();
  const client = await connectInProcess(hive, 'coordinator');
  for (const pid of [process.pid, process.ppid]) {
    const session_id = `of ${pid}`;
    const session = await hive.sessions.introduce(introduction({ session_id, machine: 'test', pid }), null);
    const { prompt } = await hive.prompts.ask({ question: 'May I?' }, session);
    await hive.sessions.end(session_id);
    expect(await answers(client, prompt.ask_id)).toContain('not_allowed');
  }
});

test('… also when a thousand sessions have come since', async () => {
  const hive = await openTestHive();
  const client = await connectInProcess(hive, 'coordinator');
  const own = introduction({ session_id: 'own', machine: 'test', pid: process.pid });
  const { prompt } = await hive.prompts.ask({ question: 'May I?' }, await hive.sessions.introduce(own, null));
  const session = (await hive.sessions.find('own')) as Session;
  const last_seen_at = new Date(Date.parse(session.last_seen_at) + 1_000).toISOString();
  await hive.store.write(async (tx) => {
    for (let n = 0; n < 1_000; n += 1) {
      const names = { session_id: `crowd-${n}`, handle: `Crowd-${n}` };
      await tx.sessions.upsert({ ...session, ...names, pid: null, last_seen_at });
    }
  });
  expect(await answers(client, prompt.ask_id)).toContain('not_allowed');
});

test('one that waits is given the question of a session that begins later, and none of its own processes', async () => {
  const hive = await openTestHive();
  const client = await connectInProcess(hive, 'coordinator');
  const waits = client.callTool({ name: 'hivemind_await_ask', arguments: { timeout_ms: 20_000 } });
  const own = introduction({ session_id: 'own', machine: 'test', pid: process.pid });
  await hive.prompts.ask({ question: 'Mine?' }, await hive.sessions.introduce(own, null));
  const { ask_id } = await ask(hive, {}, 'other');
  const { structuredContent } = await waits;
  expect((structuredContent as { prompts: Prompt[] }).prompts.map((one) => one.ask_id)).toEqual([ask_id]);
});

test('through the library, too, an agent answers and interrupts nobody before its human lets it, and corrects nothing', async () => {
  const hive = await openTestHive();
  const { ask_id } = await ask(hive, {}, 'other');
  await hive.sessions.introduce(introduction({ session_id: 'program', pid: process.pid }), null);
  const actor = await hive.sessions.actor({ session_id: 'program', handle: 'program' }, 'library');
  await expect(hive.prompts.respond({ ask_id, decision: 'yes', actor })).rejects.toThrow(
    /Only a coordinator/,
  );
  await expect(hive.interrupts.interrupt({ session: 'other', actor })).rejects.toThrow(/Only a coordinator/);
  await hive.prompts.respond({ ask_id, decision: 'no', actor: HUMAN });
  const coordinator = { ...actor, by: HUMAN.by, coordinates: ['other'] };
  await expect(hive.prompts.amend({ ask_id, decision: 'yes', actor: coordinator })).rejects.toThrow(
    /Only a human corrects/,
  );
});

test('`hive sessions` shows who coordinates, and by which answer', async () => {
  const store = tempStore();
  await connectMcp({ store, env: { HIVE_AGENT: 'boss' }, coordinates: true });
  const person = shell(store, seated());
  const { sessions } = (await person.hive('sessions', '--json')).json();
  const { coordinator } = sessions.find(({ handle }: { handle: string }) => handle === 'boss');
  expect(coordinator).toMatch(/^ask-/);
  expect((await person.hive('sessions')).out).toContain(`coordinator (${coordinator})`);
});
