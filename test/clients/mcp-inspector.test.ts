/** Client suite 8: the MCP Inspector, from a shell, lists and calls every tool of `hive mcp`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { asksForRole } from '../../src/domain/prompts.ts';
import { childEnvironment, HIVE } from '../support/children.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { claude, SESSION } from '../support/turns.ts';

const run = promisify(execFile);
const tools = inject('tools');

test('the Inspector lists and calls every tool', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const env = childEnvironment(store);
  // It passes a server little of its environment. Each call is a separate process; HIVE_AGENT makes them one session.
  let source = 'bg';
  const inspect = async (method: string, ...more: string[]): Promise<unknown> => {
    const ours = ['env', `HIVE_STORE=${store}`, `HIVE_AGENT=inspector-${source}`, `HIVE_SOURCE=${source}`];
    const server = [...ours, process.execPath, HIVE, 'mcp', '--role', 'coordinator'];
    const args = ['--cli', ...server, '--method', method, ...more];
    return JSON.parse((await run(tools.inspector, args, { env })).stdout);
  };
  const uncalled = new Set(
    ((await inspect('tools/list')) as { tools: { name: string }[] }).tools.map(({ name }) => name),
  );
  const call = async (
    name: string,
    input: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> => {
    const given = Object.entries(input).flatMap(([key, value]) => ['--tool-arg', `${key}=${String(value)}`]);
    const reply = await inspect('tools/call', '--tool-name', name, ...given);
    const { isError, structuredContent } = reply as {
      isError?: boolean;
      structuredContent?: Record<string, unknown>;
    };
    expect(isError ?? false, `${name}: ${JSON.stringify(reply)}`).toBe(false);
    uncalled.delete(name);
    return structuredContent ?? {};
  };

  const refused = async (name: string, input: Record<string, unknown>): Promise<void> => {
    await expect(call(name, input)).rejects.toThrow(/isError:true/);
    uncalled.delete(name);
  };

  const { ask_id } = await call('hivemind_ask_async', { question: 'Red or blue?' });
  await hive.prompts.respond({ ask_id: String(ask_id), decision: 'blue', actor: HUMAN });
  expect(await call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'blue' });
  // It blocks for a second, in which nobody answers.
  const blocking = await call('hivemind_ask', { question: 'Never mind?', timeout_ms: 1_000 });
  expect(blocking).not.toHaveProperty('decision');
  await call('hivemind_note', { ask_id: blocking['ask_id'], note: 'It can wait.' });
  expect(await call('hivemind_cancel', { ask_id: blocking['ask_id'] })).toMatchObject({
    ask_id: blocking['ask_id'],
  });
  expect(await call('hivemind_status')).toMatchObject({ pending_total: 0 });

  await call('hivemind_post', { body: 'Hello everybody' });
  expect(JSON.stringify(await call('hivemind_read'))).toContain('Hello everybody');
  expect(await call('hivemind_has_unprocessed_mentions')).toMatchObject({ count: 0 });
  await call('hivemind_get_unprocessed_mentions');
  await call('hivemind_process_mentions', { all: true });
  expect(JSON.stringify(await call('hivemind_sessions'))).toContain('inspector');

  await call('hivemind_ping_user', { message: 'Built.' });
  source = 'fork';
  await call('hivemind_send_card', { title: 'Build', description: 'All green.', color: 'green' });
  await call('hivemind_report_updates', { message: 'Built and tested.' });

  await claude(hive).prompt('p1');
  const asked = await ask(hive, { question: 'May I?' });
  // Each call is another process, so none of them has the role that the human grants to one.
  const coordinating: [string, Record<string, unknown>][] = [
    ['hivemind_await_ask', { timeout_ms: 0 }],
    ['hivemind_respond', { ask_id: asked.ask_id, decision: 'yes' }],
    ['hivemind_interrupt', { session: SESSION, wait_ms: 0 }],
  ];
  for (const [name, input] of coordinating) await refused(name, input);
  expect((await hive.prompts.get(asked.ask_id)).status).toBe('pending');
  const { items } = await hive.prompts.list({ limit: 100 });
  expect(items.filter(asksForRole)).toHaveLength(coordinating.length);
  expect([...uncalled], 'tools that were not called').toEqual([]);
});
