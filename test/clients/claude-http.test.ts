/** The real clients on a machine without a store: our tools over HTTP, our hooks through the bridge. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN } from '../support/hive.ts';
import { NO_STORE } from '../support/remote.ts';
import { serve } from '../support/serve.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { runCodex } from './support/codex.ts';
import { hive as codexCall, shell, startResponses } from './support/responses.ts';
import { askIdIn, openWorld } from './support/world.ts';

/** A world whose store is served, with a token for it in a file. */
async function openServedWorld() {
  const world = await openWorld();
  const { url, token } = await serve(world.store);
  const token_file = join(world.folder, 'token');
  writeFileSync(token_file, token, { mode: 0o600 });
  return { world, url, token, token_file };
}

/** Answers a question once its agent waits for it. */
async function answerOnceWaited(hive: OpenedHive, ask_id: string, decision: string): Promise<void> {
  await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
  await hive.prompts.respond({ ask_id, decision, actor: HUMAN });
}

describe('Claude Code with hive serve', () => {
  test('asks, works on, is answered by the next tool, and polls', async () => {
    const { world, ...remote } = await openServedWorld();
    const { hive } = world;
    const told: string[] = [];
    const ids: string[] = [];
    let answered = Promise.resolve();
    const model = await startModel(async ({ messages }, step) => {
      told.push(model.told().replaceAll('\\', ''));
      switch (step) {
        case 1:
        case 3:
          return { calls: [call('hivemind_ask_async', { question: `Question ${step}?` })] };
        case 2:
          ids.push(askIdIn(messages.at(-1)));
          await hive.prompts.respond({ ask_id: ids[0] ?? '', decision: 'blue', actor: HUMAN });
          return { calls: [bash('echo worked')] };
        case 4:
          ids.push(askIdIn(messages.at(-1)));
          answered = answerOnceWaited(hive, ids[1] ?? '', 'green');
          return { calls: [call('hivemind_poll', { ask_id: ids[1], wait_ms: 20_000 })] };
        default:
          return { text: 'done' };
      }
    });
    const env = { HIVE_STORE: NO_STORE };
    const { is_error, session_id } = await runClaude({ ...world, model, env, remote }, 'go');
    expect(is_error).toBe(false);
    expect(told[2]).toMatch(/Answer to ask-.*blue/);
    await answered;
    expect(told[4]).toContain('"decision":"green"');
    const prompts = await Promise.all(ids.map((ask_id) => hive.prompts.get(ask_id)));
    for (const prompt of prompts) expect(prompt.collected_at).toEqual(expect.any(String));
    // Its tools and its hooks are one session, as if it were here.
    expect(prompts.map((prompt) => prompt.session_id)).toEqual([
      `token:default:${session_id}`,
      `token:default:${session_id}`,
    ]);
  });
});

describe('Codex with hive serve', () => {
  test('asks in the session of its hooks, which bring the answer', async () => {
    const { world, url, token_file } = await openServedWorld();
    const { hive } = world;
    const told: string[] = [];
    let ask_id = '';
    const model = await startResponses(async ({ input }, step) => {
      told.push(model.told());
      if (step === 1) return { calls: [codexCall('hivemind_ask_async', { question: 'Which colour?' })] };
      if (step > 2) return { text: 'done' };
      ask_id = askIdIn(input.at(-1));
      await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
      return { calls: [shell('echo worked')] };
    });
    const remote = ['--url', url, '--token-file', token_file];
    const { thread_id } = await runCodex({ ...world, store: NO_STORE, model, remote }, 'go');
    expect(told[2]).toMatch(/Answer to ask-.*blue/);
    const { session_id, collected_at } = await hive.prompts.get(ask_id);
    expect({ session_id, collected_at }).toEqual({
      session_id: `token:default:${thread_id}`,
      collected_at: expect.any(String),
    });
  });
});
