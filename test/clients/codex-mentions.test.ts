/** Client suite 2 for Codex: a mention arrives while the real program runs. */
import { describe, expect, test } from 'vitest';
import { runCodex } from './support/codex.ts';
import { hive as call, shell, startResponses } from './support/responses.ts';
import { isMain, mention, openWorld } from './support/world.ts';

describe('a mention that arrives during a run of Codex', () => {
  test('denies each command of the next batch with its text, until the model has processed it', async () => {
    const world = await openWorld();
    const told: string[] = [];
    const model = await startResponses(async (_request, step) => {
      told.push(model.told());
      switch (step) {
        case 1:
          return { calls: [call('hivemind_status')] };
        case 2:
          await mention(world.hive, isMain);
          return { calls: [shell('echo ran-$((1+1))'), call('hivemind_status'), shell('echo ran-$((2+1))')] };
        case 3:
          return { calls: [call('hivemind_process_mentions', { all: true })] };
        case 4:
          return { calls: [shell('echo ran-$((3+1))')] };
        default:
          return { text: 'done' };
      }
    });
    const { thread_id } = await runCodex({ ...world, model }, 'go');
    const held = JSON.stringify(model.requests[2]?.input.slice(-4));
    expect(held.match(/Command blocked by PreToolUse hook/g)).toHaveLength(2);
    expect(held.match(/Please review auth/g)).toHaveLength(2);
    expect(held).not.toMatch(/ran-\d/);
    // A tool of ours is never held: it answered within the same batch.
    expect(held).toContain('desks_online');
    expect(told[4]).toContain('ran-4');
    expect(told[4]).toContain('tool calls are allowed again');
    const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ session_id: thread_id, status: 'processed', denials: 2 }]);
  });
});
