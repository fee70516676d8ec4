/** Every MCP tool: its schema as an agent sees it, and one call. */
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { attended } from '../support/outreach.ts';
import { expectGolden, goldenNames } from './golden.ts';

interface Wire {
  hive: OpenedHive;
  agent: CallerInProcess;
}

async function connect(role: 'agent' | 'coordinator' = 'agent'): Promise<Wire> {
  const hive = await openTestHive();
  return { hive, agent: await callInProcess(hive, role) };
}

/** The connection of another agent. */
const SECOND = { connection_id: 'connection-2', env: { HIVE_AGENT: 'agent-2' } };

/** Calls a tool and compares arguments and result with `golden/mcp/NAME.json`. */
async function call(
  { agent }: Wire,
  tool: string,
  args: Record<string, unknown> = {},
  name = tool,
): Promise<Record<string, unknown>> {
  const result = await agent.call(tool, args).catch((error: Error) => ({ error: error.message }));
  expectGolden(`mcp/${name}`, { tool, arguments: args, result: withoutPlace(result) });
  return result;
}

/** The project is the folder that the test runs in. */
function withoutPlace<T>(result: T): T {
  return JSON.parse(
    JSON.stringify(result, (key, value: unknown) =>
      (key === 'project' || key === 'project_dir') && typeof value === 'string' ? `<${key}>` : value,
    ),
  ) as T;
}

test('the tools of an agent, and those that a coordinator has besides', async () => {
  const [agent, coordinator] = await Promise.all(
    (['agent', 'coordinator'] as const).map(async (role) => {
      const wire = await connect(role);
      return (await wire.agent.client.listTools()).tools;
    }),
  );
  expectGolden('mcp/tools-agent', agent);
  expect(coordinator?.slice(0, agent?.length)).toEqual(agent);
  expectGolden('mcp/tools-coordinator', coordinator?.slice(agent?.length));
});

test('what a model is told before it sees a tool', async () => {
  const { agent } = await connect();
  expectGolden('mcp/initialize', {
    server: agent.client.getServerVersion(),
    capabilities: agent.client.getServerCapabilities(),
    instructions: agent.client.getInstructions(),
  });
});

describe('prompts', () => {
  test('asked, polled, answered', async () => {
    const wire = await connect();
    const { ask_id } = await call(wire, 'hivemind_ask_async', {
      question: 'Which colour?',
      options: ['red', { label: 'blue', description: 'like the sky' }],
      urgency: 'low',
    });
    await call(wire, 'hivemind_poll', {}, 'hivemind_poll-pending');
    await call(wire, 'hivemind_status');
    await wire.hive.prompts.respond({
      ask_id: String(ask_id),
      decision: 'red',
      comment: 'the dark one',
      actor: HUMAN,
    });
    await call(wire, 'hivemind_poll', { ask_id });
    await call(wire, 'hivemind_poll', {}, 'hivemind_poll-nothing');
  });

  test('withdrawn, answered late', async () => {
    const wire = await connect();
    const { ask_id } = await wire.agent.call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' });
    await call(wire, 'hivemind_cancel', { ask_id });
    await call(wire, 'hivemind_cancel', { ask_id }, 'hivemind_cancel-settled');
    await wire.hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
    await call(wire, 'hivemind_poll', { ask_id }, 'hivemind_poll-late');
  });

  test('extended while it is pending', async () => {
    const wire = await connect();
    const { ask_id } = await wire.agent.call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' });
    await call(wire, 'hivemind_note', { ask_id, note: 'The tests are green now.' });
  });

  test('asked and waited for, without an answer', async () => {
    const wire = await connect();
    await call(wire, 'hivemind_ask', { question: 'Go on?', timeout_ms: 1_000, urgency: 'low' });
  });

  test("of another agent, for a coordinator; never one's own", async () => {
    const wire = await connect('coordinator');
    await call(wire, 'hivemind_await_ask', { timeout_ms: 0 }, 'hivemind_await_ask-nothing');
    const other = await callInProcess(wire.hive, 'agent', { connection: SECOND });
    const { ask_id } = await other.call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' });
    await call(wire, 'hivemind_await_ask');
    await call(wire, 'hivemind_respond', { ask_id, decision: 'yes' });
    const own = await wire.agent.call('hivemind_ask_async', { question: 'Mine?', urgency: 'low' });
    await call(wire, 'hivemind_respond', { ask_id: own['ask_id'], decision: 'yes' }, 'refusals/own-prompt');
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['empty-question', 'hivemind_ask_async', { question: ' ' }],
    ['negative-time', 'hivemind_ask_async', { question: 'Go on?', timeout_ms: -1 }],
    ['same-option-twice', 'hivemind_ask_async', { question: 'Go on?', options: ['a', 'a'] }],
    ['no-question', 'hivemind_ask_async', {}],
    ['unknown-prompt', 'hivemind_poll', { ask_id: 'nothing' }],
    ['misspelled-argument', 'hivemind_poll', { ask: 'ask-1' }],
    ['unknown-argument', 'hivemind_poll', { nothing: 'ask-1' }],
    ['two-ways', 'hivemind_poll', { ask_id: 'a', ask_ids: ['b'] }],
    ['unknown-tool', 'hivemind_dance', {}],
  ])('refusals: %s', async (why, tool, args) => {
    await call(await connect(), tool, args, `refusals/${why}`);
  });
});

test('the shared buffer, written and read', async () => {
  const wire = await connect();
  await call(wire, 'hivemind_post', { body: 'Hello @Human and @Nobody' });
  await call(wire, 'hivemind_read');
  await call(wire, 'hivemind_sessions');
  await call(wire, 'hivemind_has_unprocessed_mentions');
  await call(wire, 'hivemind_get_unprocessed_mentions');
  await call(wire, 'hivemind_process_mentions', { all: true });
});

test('reaching the human from the background, and stopping another', async () => {
  const hive = await openTestHive();
  const env = { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg' };
  const wire = { hive, agent: await callInProcess(hive, 'coordinator', { connection: { env } }) };
  await call(wire, 'hivemind_ping_user', { message: 'Anybody?' }, 'nobody-there');
  await attended(hive);
  await call(wire, 'hivemind_ping_user', { message: 'The build is green.' });
  await call(wire, 'hivemind_send_card', { title: 'Build', description: 'All green.', color: 'green' });
  await call(wire, 'hivemind_report_updates', { message: 'Built and tested.' });
  await call(wire, 'hivemind_interrupt', { session: 'nobody', wait_ms: 0 });
});

test('every tool has a golden call', async () => {
  const { agent } = await connect('coordinator');
  const { tools } = await agent.client.listTools();
  const golden = goldenNames('mcp');
  const missing = tools.filter(({ name }) => !golden.includes(name.replaceAll('_', '-')));
  expect(
    missing.map(({ name }) => name),
    'tools without a golden call',
  ).toEqual([]);
});
