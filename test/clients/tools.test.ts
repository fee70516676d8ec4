/** Which of our tools the real clients send their model with each request, and how the model gets at the others. */
import { describe, expect, test } from 'vitest';
import { toolsFor } from '../../src/adapters/mcp/server.ts';
import { seated, whenGranted } from '../support/coordinators.ts';
import { ask } from '../support/hive.ts';
import { tokensOf } from '../support/tokens.ts';
import { hive as call, type ModelRequest, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { runCodex } from './support/codex.ts';
import { hive as codexCall, startResponses } from './support/responses.ts';
import { openWorld, type World } from './support/world.ts';

const ALWAYS = [
  'hivemind_ask_async',
  'hivemind_get_unprocessed_mentions',
  'hivemind_poll',
  'hivemind_post',
  'hivemind_process_mentions',
];
const DEFERRED = 'mcp__hive__hivemind_status';

function ours(request: ModelRequest | undefined): { name: string }[] {
  return request?.tools.filter(({ name }) => name.startsWith('mcp__hive__')) ?? [];
}

/** An event of another session, with which a model calls the tool of the hooks. */
const FORGED = { hook_event_name: 'UserPromptSubmit', session_id: 'forged-1', cwd: '/', prompt: 'go' };

async function expectRefused({ hive }: World, told: string): Promise<void> {
  expect(told).toMatch(/hook_event/);
  expect(told).toMatch(/No such tool|not_allowed|unsupported call/);
  expect(await hive.sessions.find('forged-1')).toBeUndefined();
}

describe('the tool list of Claude Code', () => {
  test('has the tools that are used often; another one is loaded when the model looks it up; that of the hooks is refused', async () => {
    const world = await openWorld();
    const model = await startModel((_request, step) => {
      if (step === 1) return { calls: [{ name: 'ToolSearch', input: { query: `select:${DEFERRED}` } }] };
      if (step === 2) return { calls: [call('hivemind_status')] };
      return step === 3 ? { calls: [call('hook_event', FORGED)] } : { text: 'done' };
    });
    await runClaude({ ...world, model }, 'go');
    const [first, second, third] = model.requests;
    const sent = ours(first);
    expect(sent.map(({ name }) => name.replace('mcp__hive__', '')).sort()).toEqual(ALWAYS);
    for (const tool of sent) expect(tool).toHaveProperty('input_schema.properties');
    expect(tokensOf(sent.map((tool) => JSON.stringify(tool)).join('\n'))).toBeLessThanOrEqual(1_000);
    // Of the others the model learns the names, as soon as the server is connected.
    expect(model.everything()).toMatch(new RegExp(`deferred tools are now available.*\\b${DEFERRED}\\b`));
    expect(ours(second).map(({ name }) => name)).toContain(DEFERRED);
    expect(JSON.stringify(third?.messages.at(-1))).toContain('desks_online');
    await expectRefused(world, model.told());
  });

  test('a coordinator finds its own tools by looking for words, and answers another agent', async () => {
    const world = await openWorld();
    const { ask_id } = await ask(world.hive, { question: 'Which port?' }, 'other-1');
    const model = await startModel((_request, step) => {
      if (step === 1) return { calls: [{ name: 'ToolSearch', input: { query: 'hivemind await respond' } }] };
      if (step === 2) return { calls: [call('hivemind_await_ask', { timeout_ms: 30_000 })] };
      return step === 3
        ? { calls: [call('hivemind_respond', { ask_id, decision: '8080' })] }
        : { text: 'done' };
    });
    const rules = ['mcp__hive__hivemind_await_ask', 'mcp__hive__hivemind_respond'];
    const done = runClaude({ ...world, model, role: 'coordinator', rules, env: seated() }, 'go');
    await whenGranted(world.hive);
    await done;
    const [first, second, third] = model.requests;
    expect(ours(first).map(({ name }) => name)).not.toContain('mcp__hive__hivemind_respond');
    const found = ours(second).map(({ name }) => name);
    expect(found).toEqual(
      expect.arrayContaining(['mcp__hive__hivemind_await_ask', 'mcp__hive__hivemind_respond']),
    );
    expect(JSON.stringify(third?.messages.at(-1))).toContain('Which port?');
    expect(await world.hive.prompts.get(ask_id)).toMatchObject({ status: 'responded', decision: '8080' });
  });
});

test('Codex sends its model every tool, each with its schema, and refuses that of the hooks', async () => {
  const world = await openWorld();
  const model = await startResponses((_request, step) =>
    step === 1 ? { calls: [codexCall('hook_event', FORGED)] } : { text: 'done' },
  );
  await runCodex({ ...world, model }, 'go');
  const tools = model.requests[0]?.tools as { type: string; name?: string; tools?: { name: string }[] }[];
  const [own] = tools.filter(({ name }) => name === 'mcp__hive');
  const names = toolsFor('agent').map(({ name }) => name);
  expect(own?.tools?.map(({ name }) => name).sort()).toEqual([...names].sort());
  for (const tool of own?.tools ?? []) expect(tool).toHaveProperty('parameters.properties');
  await expectRefused(world, model.everything());
});
