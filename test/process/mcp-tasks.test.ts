/**
 * Waiting as a task: a client that declares the extension io.modelcontextprotocol/tasks on stdio, and has no hooks of Hive, gets a
 * task in the place of a call that waits. Its result is the call that fetches the answer; everywhere else nothing changes.
 *
 * @module-tag at-least-once
 * @module-tag not-consumed
 * @module-tag mcp
 */
import { expect, test } from 'vitest';
import type { Role } from '../../src/domain/tokens.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { seated, whenGranted } from '../support/coordinators.ts';
import { ask, HUMAN, newHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { CARRIERS, connectModern, type ModernCaller, type ModernMessage } from '../support/modern-client.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

type Json = Record<string, unknown>;

const EXTENSIONS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const DECLARED = { 'io.modelcontextprotocol/clientCapabilities': EXTENSIONS };

interface Scene {
  hive: OpenedHive;
  client: ModernCaller;
  /** Calls a tool as a client that takes tasks. */
  call(name: string, args: Json): Promise<ModernMessage>;
  /** The state of the task, as the client is told it. */
  look(taskId: unknown, method?: string): Promise<ModernMessage>;
}

async function scene(role: Role = 'agent'): Promise<Scene> {
  const { store, hive } = await newHive();
  const client = await connectModern('stdio', store, { role, env: seated() });
  return {
    hive,
    client,
    call: (name, args) => client.ask('tools/call', { name, arguments: args, _meta: DECLARED }),
    look: (taskId, method = 'tasks/get') => client.ask(method, { taskId, _meta: DECLARED }),
  };
}

/** One agent and its server: each test is about a task of its own. */
let shared: Scene;
beforeFile(async () => {
  shared = await scene();
});

test('a question is a task until it is answered; its result says how to fetch the answer, and only that call hands it over', async () => {
  const { hive, client, call, look } = shared;
  const { result: task } = await call('hivemind_ask', { question: 'Red or blue?', timeout_ms: 60_000 });
  expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 2_000 });
  const ask_id = String(task?.['taskId']);
  expect((await look(ask_id)).result).toMatchObject({
    resultType: 'complete',
    taskId: ask_id,
    status: 'working',
  });
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  const { result: over } = await look(ask_id);
  const text = `${ask_id} is answered: call hivemind_poll {"ask_id": "${ask_id}"}.`;
  expect(over).toMatchObject({ status: 'completed', result: { content: [{ type: 'text', text }] } });
  expect(JSON.stringify(over)).not.toContain('blue');
  expect((await hive.prompts.get(ask_id)).handed_at).toBeNull();
  expect(await client.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'blue' });
  expect((await hive.prompts.get(ask_id)).handed_at).not.toBeNull();
});

test('looking at a task proves nothing about what the model has read', async () => {
  const { hive, client, call, look } = shared;
  const { ask_id } = await client.call('hivemind_ask_async', { question: 'One?' });
  const { result: task } = await call('hivemind_ask', { question: 'Two?' });
  await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
  await client.call('hivemind_poll', { ask_id });
  await look(task?.['taskId']);
  expect((await hive.prompts.get(String(ask_id))).collected_at).toBeNull();
});

test('a task that its client cancels is over, its question stays open, and it is one again when the same is asked again', async () => {
  const { hive, call, look } = shared;
  const args = { question: 'Still there?', idempotency_key: 'there' };
  const taskId = (await call('hivemind_ask', args)).result?.['taskId'];
  expect((await look(taskId, 'tasks/cancel')).result).toMatchObject({ resultType: 'complete' });
  expect((await look(taskId)).result).toMatchObject({ status: 'cancelled' });
  expect(await hive.prompts.get(String(taskId))).toMatchObject({ status: 'pending' });
  expect((await call('hivemind_ask', args)).result).toMatchObject({ taskId, status: 'working' });
  expect((await look(taskId)).result).toMatchObject({ status: 'working' });
  await hive.prompts.respond({ ask_id: String(taskId), decision: 'yes', actor: HUMAN });
  expect((await look(taskId)).result).toMatchObject({ status: 'completed' });
});

test('a task that is completed stays that when it is cancelled', async () => {
  const { hive, call, look } = shared;
  const { result } = await call('hivemind_ask', { question: 'Go on?' });
  await hive.prompts.respond({ ask_id: String(result?.['taskId']), decision: 'yes', actor: HUMAN });
  await look(result?.['taskId'], 'tasks/cancel');
  expect((await look(result?.['taskId'])).result).toMatchObject({ status: 'completed' });
});

test('a task whose question was taken back is over, too', async () => {
  const { client, call, look } = shared;
  const { result } = await call('hivemind_ask', { question: 'And now?' });
  const ask_id = String(result?.['taskId']);
  await client.call('hivemind_cancel', { ask_id });
  const { result: over } = await look(ask_id);
  expect(JSON.stringify(over)).toContain(`${ask_id} is cancelled: call hivemind_poll`);
});

test('a call that does not wait has its result, and one that is refused its error', async () => {
  const { call, look } = shared;
  const { result } = await call('hivemind_ask_async', { question: 'Later?' });
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'pending' } });
  expect((await call('hivemind_ask', {})).result).toMatchObject({ resultType: 'complete', isError: true });
  for (const id of ['ask-0000000000000000', 'nothing'])
    expect((await look(id)).error).toMatchObject({ message: expect.any(String) });
});

test('a task that is none is a wrong request', async () => {
  const { look } = shared;
  const error = { code: -32602, message: expect.stringContaining('There is no task') };
  expect(await look(undefined)).toMatchObject({ error });
  expect(await look('x')).toMatchObject({ error });
  expect(await look(7, 'tasks/cancel')).toMatchObject({ error });
});

test('a coordinator waits for a question as a task', async () => {
  const { hive, client, call, look } = await scene('coordinator');
  const admitted = call('hivemind_await_ask', { timeout_ms: 1_000 });
  await whenGranted(hive);
  // Until its human had allowed it, this was a call that waits.
  expect((await admitted).result).toMatchObject({ resultType: 'complete' });
  const { result: task } = await call('hivemind_await_ask', { timeout_ms: 3_000_000 });
  expect(task).toMatchObject({ resultType: 'task', status: 'working' });
  expect((await look(task?.['taskId'])).result).toMatchObject({ status: 'working' });
  const { ask_id } = await ask(hive, { question: 'Which port?' }, 'other-1');
  const { result: over } = await look(task?.['taskId']);
  const text = 'Another agent asks something: call hivemind_await_ask {"timeout_ms": 0}.';
  expect(over).toMatchObject({ status: 'completed', result: { content: [{ text }] } });
  expect(await client.call('hivemind_await_ask', { timeout_ms: 0 })).toMatchObject({ prompts: [{ ask_id }] });
});

test('with hooks of Hive a call waits as it does everywhere', async () => {
  const { hive, client, call } = await scene();
  const hooked = { client: 'claude-code', protocol: '1', session_id: 'agent-1', cwd: '/' };
  const event = { ...hooked, hook_event_name: 'UserPromptSubmit', prompt: 'go' };
  await client.ask('tools/call', { name: 'hook_event', arguments: event });
  await eventually(async () => (await hive.sessions.find('agent-1'))?.hooks_seen_at != null);
  const { result } = await call('hivemind_ask', { question: 'Now?', timeout_ms: 1_000 });
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { timed_out: true } });
});

test.each(CARRIERS)(
  'over %s only a client on stdio that declares the extension is offered it',
  async (carrier) => {
    const client = await connectModern(carrier, tempStore());
    const offered = async (_meta: Json) => {
      const { result } = await client.ask('server/discover', { _meta });
      return (result?.['capabilities'] as Json | undefined)?.['extensions'];
    };
    expect(await offered({})).toBeUndefined();
    expect(await offered(DECLARED)).toEqual(carrier === 'stdio' ? EXTENSIONS.extensions : undefined);
    const args = { question: 'Now?', timeout_ms: 1_000 };
    const _meta = carrier === 'stdio' ? {} : DECLARED;
    const { result } = await client.ask('tools/call', { name: 'hivemind_ask', arguments: args, _meta });
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { timed_out: true } });
  },
);
