/** Client suite 1: the real Claude Code asks, works on, and the answer arrives. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { HUMAN } from '../support/hive.ts';
import { bash, hive as call, type Reply, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { askIdIn, openWorld } from './support/world.ts';

const QUESTION = { question: 'Red or blue?', options: ['red', 'blue'] };
const ask: Reply = { calls: [call('hivemind_ask_async', QUESTION)] };
const done: Reply = { text: 'done' };

describe('an answer to Claude Code', () => {
  test('is carried in by the next hook, with no poll; one that a poll has returned comes by nothing else', async () => {
    const world = await openWorld();
    const { hive } = world;
    const told: string[] = [];
    const model = await startModel(async ({ messages }, step) => {
      told.push(model.told());
      const ask_id = askIdIn(messages.at(-1));
      switch (step) {
        case 1:
        case 3:
          return ask;
        case 2:
          await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
          return { calls: [bash('echo worked on')] };
        case 4:
          await hive.prompts.respond({ ask_id, decision: 'red', comment: 'like the logo', actor: HUMAN });
          return { calls: [call('hivemind_poll', { ask_id })] };
        case 5:
          return { calls: [bash('echo worked on')] };
        default:
          return done;
      }
    });
    const result = await runClaude({ ...world, model }, 'go');
    expect(result.is_error).toBe(false);
    expect(told[2]).toContain('worked on');
    expect(told[2]).toMatch(/Answer to ask-.*blue\. By ada via emacs/);
    expect(told[4]?.replaceAll('\\', '')).toContain('"decision":"red"');
    expect(told[4]).toContain('like the logo');
    // Undisturbed exactly once, and proved: what follows shows that the model went on.
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    const [polled, carried] = (await hive.prompts.list({ limit: 10 })).items;
    expect(carried).toMatchObject({ session_id: result.session_id, status: 'responded', decision: 'blue' });
    expect(polled?.carrier).toMatch(/^mcp:/);
    for (const prompt of [polled, carried]) {
      expect(prompt?.handed_at).toEqual(expect.any(String));
      expect(prompt?.collected_at).toEqual(expect.any(String));
    }
  });

  test('arrives although the MCP child was killed in between', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startModel(async ({ messages }, step) => {
      if (step === 1) return ask;
      if (step > 2) return done;
      const [connection] = await hive.store.read((tx) => tx.sessions.connections(hostname()));
      process.kill(connection?.pid ?? 0, 'SIGKILL');
      await hive.prompts.respond({ ask_id: askIdIn(messages), decision: 'blue', actor: HUMAN });
      return { calls: [bash('echo worked on')] };
    });
    const result = await runClaude({ ...world, model }, 'go');
    expect(result.is_error).toBe(false);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ session_id: result.session_id, decision: 'blue' });
    expect(prompt?.collected_at).toEqual(expect.any(String));
    // Its human is told once that hooks may not have run.
    const lost = (await hive.notices.list(10)).filter(({ data }) => data['notice'] === 'server_lost');
    expect(lost).toMatchObject([{ session_id: prompt?.session_id }]);
  });
});
