/** What the real Claude Code lets through of a tool's arguments, and how long it lets a call of a coordinator wait. */
import { describe, expect, test } from 'vitest';
import { seated, whenGranted } from '../support/coordinators.ts';
import { hive as call, type ModelRequest, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { askIdIn, openWorld } from './support/world.ts';

const done = { text: 'done' };

/** The result of the last call, as the model read it. The client may say something of its own after it. */
function lastResult(request: ModelRequest | undefined): string {
  const results = request?.messages.map((message) => JSON.stringify(message)).filter(hasResult) ?? [];
  return results.at(-1)?.replaceAll('\\', '') ?? '';
}

const hasResult = (message: string): boolean => message.includes('"tool_result"');

describe('the arguments that a model gives', () => {
  test('may be spelled in another way, or null', async () => {
    const world = await openWorld();
    const model = await startModel(({ messages }, step) => {
      if (step === 1)
        return {
          calls: [call('hivemind_ask_async', { question: 'Go on?', options: null, multiSelect: null })],
        };
      return step === 2 ? { calls: [call('hivemind_poll', { 'ask-id': askIdIn(messages) })] } : done;
    });
    await runClaude({ ...world, model }, 'go');
    expect(lastResult(model.requests[2])).toMatch(/"ask_id":"ask-\w+","status":"pending"/);
  });

  test('if they are misspelled, the model reads how to call', async () => {
    const world = await openWorld();
    const model = await startModel((_request, step) =>
      step === 1 ? { calls: [call('hivemind_poll', { ask: 'ask-0000000000000000' })] } : done,
    );
    await runClaude({ ...world, model }, 'go');
    expect(lastResult(model.requests[1])).toContain('Call hivemind_poll {"ask_id":"ask-0000000000000000"}.');
  });
});

describe('a coordinator waits for a question', () => {
  const coordinator = { role: 'coordinator', rules: ['mcp__hive__hivemind_await_ask'] } as const;

  test.each<[string, number, Record<string, string>, RegExp]>([
    ['as long as it asked to, in one call', 30_000, {}, /"timed_out":true,"waited_ms":30000/],
    [
      'no longer than its client lets a call run',
      60_000,
      { MCP_TOOL_TIMEOUT: '8000' },
      /"timed_out":false,"waited_ms":4000,"next":"[^"]*Call again with timeout_ms 56000/,
    ],
  ])('%s', async (_how, timeout_ms, env, result) => {
    const world = await openWorld();
    const model = await startModel((_request, step) =>
      step === 1 ? { calls: [call('hivemind_await_ask', { timeout_ms })] } : done,
    );
    const ran = runClaude({ ...world, model, ...coordinator, env: { ...env, ...seated() } }, 'go');
    await whenGranted(world.hive);
    await ran;
    expect(lastResult(model.requests[1])).toMatch(result);
  });
});
