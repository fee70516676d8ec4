/** The arguments of a tool that the real Claude Code lets through, and how long it lets a call wait. */
import { describe, expect, test } from 'vitest';
import { seated, whenGranted } from '../support/coordinators.ts';
import { HUMAN } from '../support/hive.ts';
import { hive as call, type ModelRequest, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { openClaude } from './support/claude-terminal.ts';
import { askIdIn, openWorld } from './support/world.ts';

const done = { text: 'done' };

/** The result of the last call, as the model read it. The client may say something of its own after it. */
function lastResult(request: ModelRequest | undefined): string {
  const results = request?.messages.map((message) => JSON.stringify(message)).filter(hasResult) ?? [];
  return results.at(-1)?.replaceAll('\\', '') ?? '';
}

const hasResult = (message: string): boolean => message.includes('"tool_result"');

test('the arguments that a model gives may be spelled in another way, or null; if they are misspelled, it reads how to call', async () => {
  const world = await openWorld();
  const model = await startModel(({ messages }, step) => {
    switch (step) {
      case 1:
        return {
          calls: [call('hivemind_ask_async', { question: 'Go on?', options: null, multiSelect: null })],
        };
      case 2:
        return { calls: [call('hivemind_poll', { 'ask-id': askIdIn(messages) })] };
      case 3:
        return { calls: [call('hivemind_poll', { ask: 'ask-0000000000000000' })] };
      default:
        return done;
    }
  });
  await runClaude({ ...world, model }, 'go');
  expect(lastResult(model.requests[2])).toMatch(/"ask_id":"ask-\w+","status":"pending"/);
  expect(lastResult(model.requests[3])).toContain('Call hivemind_poll {"ask_id":"ask-0000000000000000"}.');
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

describe('Claude Code in its terminal', () => {
  test('gets no result in the background: a call that waits ends before that', async () => {
    const { hive, ...rest } = await openWorld();
    const model = await startModel(async ({ messages }, step) => {
      if (step === 1)
        return { calls: [call('hivemind_ask_async', { question: 'Red or blue?', wait_ms: 25_000 })] };
      if (step > 2) return { text: `reply ${step}` };
      const ask_id = askIdIn(messages);
      await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
      return { calls: [call('hivemind_poll', { ask_id, wait_ms: 25_000 })] };
    });
    const claude = await openClaude({
      ...rest,
      model,
      env: { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: '10000' },
    });
    await claude.say('first words');
    await claude.until(/reply 3/, 60_000);
    const waited = JSON.stringify(model.requests[1]?.messages).replaceAll('\\', '');
    expect(waited).toMatch(/"timed_out":false.*within 5000 ms, and this call could not wait longer/);
    const everything = model.everything().replaceAll('\\', '');
    expect(everything).toContain('"decision":"blue"');
    expect(everything).not.toMatch(/moved to the background|NOT USER INPUT/);
  });
});
