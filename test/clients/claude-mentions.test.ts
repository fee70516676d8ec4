/** Client suite 2: a mention arrives while the real Claude Code runs. */
import { describe, expect, test } from 'vitest';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { isMain, isSubagent, mention, openWorld } from './support/world.ts';

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

  test('holds the subagent that it addresses, and not its parent', async () => {
    const world = await openWorld();
    const steps: string[] = [];
    const model = await startModel(async ({ messages }) => {
      const isSub = JSON.stringify(messages[0]).includes('SUBTASK');
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      steps.push(
        `${isSub ? 'sub' : 'main'} ${turn}: ${JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1))}`,
      );
      if (!isSub) {
        const input = {
          description: 'd',
          prompt: 'SUBTASK',
          subagent_type: 'general-purpose',
          run_in_background: false,
        };
        return turn === 0
          ? { calls: [{ name: 'Agent', input }] }
          : turn === 1
            ? { calls: [bash('echo main-$((1+1))')] }
            : { text: 'done' };
      }
      switch (turn) {
        case 0:
          return { calls: [call('hivemind_status')] };
        case 1:
          await mention(world.hive, isSubagent);
          return { calls: [bash('echo sub-$((1+1))')] };
        case 2:
          return { calls: [call('hivemind_process_mentions', { all: true })] };
        case 3:
          return { calls: [bash('echo sub-$((2+1))')] };
        default:
          return { text: 'sub done' };
      }
    });
    await runClaude({ ...world, model }, 'go');
    const sub = steps.filter((step) => step.startsWith('sub'));
    expect(sub[2]).toContain('Please review auth');
    expect(sub[2]).not.toMatch(/sub-\d/);
    expect(sub[4]).toContain('sub-3');
    expect(steps.find((step) => step.startsWith('main 2'))).toContain('main-2');
    expect(steps.filter((step) => step.startsWith('main')).join()).not.toContain('Please review auth');
    const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ status: 'processed' }]);
    expect(items[0]?.session_id).toMatch(/:/);
  });
});
