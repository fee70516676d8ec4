/** Client suite 2: a mention arrives while the real Claude Code runs. */
import { describe, expect, test } from 'vitest';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { isMain, mention, openWorld } from './support/world.ts';

describe('a mention that arrives during a run of Claude Code', () => {
  test('denies each Bash of the next batch with its text, until the model has processed it', async () => {
    const world = await openWorld();
    const told: string[] = [];
    const model = await startModel(async (_request, step) => {
      told.push(model.told());
      switch (step) {
        case 1:
          return { calls: [call('hivemind_status')] };
        case 2:
          await mention(world.hive, isMain);
          return { calls: [bash('echo ran-$((1+1))'), call('hivemind_status'), bash('echo ran-$((2+1))')] };
        case 3:
          return { calls: [call('hivemind_process_mentions', { all: true })] };
        case 4:
          return { calls: [bash('echo ran-$((3+1))')] };
        default:
          return { text: 'done' };
      }
    });
    const result = await runClaude({ ...world, model }, 'go');
    expect(told[2]?.match(/Please review auth/g)).toHaveLength(2);
    expect(told[2]).toContain('hivemind_process_mentions');
    expect(told[2]).not.toMatch(/ran-\d/);
    // A tool of ours is never held: it answered within the same batch.
    expect(told[2]).toContain('desks_online');
    expect(told[4]).toContain('ran-4');
    expect(told[4]).toContain('tool calls are allowed again');
    const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ session_id: result.session_id, status: 'processed' }]);
    expect(items[0]?.denials).toBe(2);
  });
});
