/** Which of our tools the real Claude Code sends its model with each request, and how the model gets at the others. */
import { describe, expect, test } from 'vitest';
import { tokensOf } from '../support/tokens.ts';
import { hive as call, type ModelRequest, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { openWorld } from './support/world.ts';

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

describe('the tool list of Claude Code', () => {
  test('has the tools of every day; another is loaded when the model looks it up', async () => {
    const world = await openWorld();
    const model = await startModel((_request, step) => {
      if (step === 1) return { calls: [{ name: 'ToolSearch', input: { query: `select:${DEFERRED}` } }] };
      return step === 2 ? { calls: [call('hivemind_status')] } : { text: 'done' };
    });
    await runClaude({ ...world, model }, 'go');
    const [first, second, third] = model.requests;
    const sent = ours(first);
    expect(sent.map(({ name }) => name.replace('mcp__hive__', '')).sort()).toEqual(ALWAYS);
    for (const tool of sent) expect(tool).toHaveProperty('input_schema.properties');
    expect(tokensOf(sent.map((tool) => JSON.stringify(tool)).join('\n'))).toBeLessThanOrEqual(1_000);
    // Of the others the model knows the names.
    expect(JSON.stringify(first?.messages)).toContain(DEFERRED);
    expect(ours(second).map(({ name }) => name)).toContain(DEFERRED);
    expect(JSON.stringify(third?.messages.at(-1))).toContain('desks_online');
  });
});
