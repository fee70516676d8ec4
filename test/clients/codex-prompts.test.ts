/** Client suite 1 for Codex: the real program asks, works on, and the answer arrives. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { HUMAN } from '../support/hive.ts';
import { HOOK_WAY } from './support/claude.ts';
import { runCodex } from './support/codex.ts';
import { hive as call, type Reply, shell, startResponses } from './support/responses.ts';
import { askIdIn, openWorld } from './support/world.ts';

const QUESTION = { question: 'Red or blue?', options: ['red', 'blue'] };
const ask: Reply = { calls: [call('hivemind_ask_async', QUESTION)] };
const done: Reply = { text: 'done' };

describe('an answer to Codex', () => {
  test('is carried in by the next hook, with no poll; one that a poll has returned comes by nothing else', async () => {
    const world = await openWorld();
    const { hive } = world;
    const told: string[] = [];
    const respond = async (decision: string, comment?: string): Promise<string> => {
      const [{ ask_id } = expect.fail()] = (await hive.prompts.list({ status: 'pending', limit: 1 })).items;
      await hive.prompts.respond({ ask_id, decision, comment, actor: HUMAN });
      return ask_id;
    };
    const model = await startResponses(async (_request, step) => {
      told.push(model.told().replaceAll('\\', ''));
      switch (step) {
        case 1:
        case 3:
          return ask;
        case 2:
          await respond('blue');
          return { calls: [shell('echo worked on')] };
        case 4:
          return { calls: [call('hivemind_poll', { ask_id: await respond('red', 'like the logo') })] };
        case 5:
          return { calls: [shell('echo worked on')] };
        default:
          return done;
      }
    });
    const { thread_id } = await runCodex({ ...world, model }, 'go');
    expect(told[2]).toMatch(/Answer to ask-.*blue\. By ada via emacs/);
    expect(told[4]).toContain('"decision":"red"');
    expect(told[4]).toContain('like the logo');
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    const [polled, carried] = (await hive.prompts.list({ limit: 10 })).items;
    expect(carried).toMatchObject({ session_id: thread_id, status: 'responded', decision: 'blue' });
    expect(carried?.agent).toMatch(/^Codex-/);
    expect(polled?.carrier).toMatch(/^mcp:/);
    for (const prompt of [polled, carried]) expect(prompt?.collected_at).toEqual(expect.any(String));
  });

  test('is not lost when the MCP child was killed in between: a hook of its own carries it, or it waits for the next message', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startResponses(async ({ input }, step) => {
      if (step === 1) return ask;
      if (step > 2) return done;
      const [connection] = await hive.store.read((tx) => tx.sessions.connections(hostname()));
      process.kill(connection?.pid ?? 0, 'SIGKILL');
      await hive.prompts.respond({ ask_id: askIdIn(input), decision: 'blue', actor: HUMAN });
      return { calls: [shell('echo worked on')] };
    });
    const { thread_id } = await runCodex({ ...world, model }, 'go');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ session_id: thread_id, decision: 'blue' });
    const notices = await hive.notices.list(10);
    if (HOOK_WAY === 'process') {
      // The next hook needs no connection.
      expect(model.everything()).toMatch(/Answer to ask-.*blue/);
      expect(prompt?.collected_at).toEqual(expect.any(String));
    } else {
      // Each Stop named the call that fetches it, which nobody could make.
      expect(model.everything()).toContain('An answer is waiting: call hivemind_poll');
      expect(prompt?.collected_at).toBeNull();
      expect(notices.map(({ data }) => data['text']).join('\n')).toMatch(
        /stopped without fetching what became of ask-\w+ although it was held 3 times\. It comes with its next message/,
      );
    }
    // Its human is told once that hooks may not have run.
    const lost = notices.filter(({ data }) => data['notice'] === 'server_lost');
    expect(lost).toMatchObject([{ session_id: prompt?.session_id }]);
  });
});
