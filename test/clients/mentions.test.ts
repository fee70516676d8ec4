/** Client suite 2: a mention arrives while the real client runs. */
import { describe, expect, test } from 'vitest';
import { CLIENTS } from './support/both.ts';
import { isMain, mention, openWorld } from './support/world.ts';

describe.each(CLIENTS)('a mention that arrives during a run of $name', ({ name, run }) => {
  test('denies each command of the next batch with its text, until the model has processed it', async () => {
    const world = await openWorld();
    const { session_id, told } = await run(world, async (step) => {
      switch (step) {
        case 1:
          return { calls: [{ hive: 'hivemind_status' }] };
        case 2:
          await mention(world.hive, isMain);
          return {
            calls: [
              { shell: 'echo ran-$((1+1))' },
              { hive: 'hivemind_status' },
              { shell: 'echo ran-$((2+1))' },
            ],
          };
        case 3:
          return { calls: [{ hive: 'hivemind_process_mentions', input: { all: true } }] };
        case 4:
          return { calls: [{ shell: 'echo ran-$((3+1))' }] };
        default:
          return { text: 'done' };
      }
    });
    expect(told[2]?.match(/Please review auth/g)).toHaveLength(2);
    if (name === 'Codex') expect(told[2]?.match(/Command blocked by PreToolUse hook/g)).toHaveLength(2);
    expect(told[2]).toContain('hivemind_process_mentions');
    expect(told[2]).not.toMatch(/ran-\d/);
    // A tool of ours is never held: it answered within the same batch.
    expect(told[2]).toContain('desks_online');
    expect(told[4]).toContain('ran-4');
    expect(told[4]).toContain('tool calls are allowed again');
    const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ session_id, status: 'processed', denials: 2 }]);
  });
});
