/** The agents of Codex that a mention reaches beside the one that works: a subagent, and one that is idle. */
import { describe, expect, test } from 'vitest';
import { prefer } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { runCodex } from './support/codex.ts';
import { openCodex } from './support/codex-terminal.ts';
import { hive as call, shell, startResponses } from './support/responses.ts';
import { isMain, isSubagent, mention, openWorld } from './support/world.ts';

describe('a mention that arrives during a run of Codex', () => {
  test('holds the subagent that it addresses, and not its parent', async () => {
    const world = await openWorld();
    const steps: string[] = [];
    const spawn = { name: 'spawn_agent', namespace: 'multi_agent_v1', arguments: { message: 'SUBTASK' } };
    const model = await startResponses(async ({ input }) => {
      const calls = input.filter(({ type }) => type === 'function_call');
      const isSub =
        !JSON.stringify(calls[0] ?? input).includes('spawn_agent') &&
        JSON.stringify(input).includes('SUBTASK');
      const turn = calls.length;
      const said = JSON.stringify(
        input.slice(input.findLastIndex(({ type }) => type === 'function_call') + 1),
      );
      steps.push(`${isSub ? 'sub' : 'main'} ${turn}: ${said}`);
      if (!isSub) {
        const id = /agent_id[\\":]+([0-9a-f-]{36})/.exec(JSON.stringify(input))?.[1];
        switch (turn) {
          case 0:
            return { calls: [spawn] };
          case 1:
            return {
              calls: [
                {
                  name: 'wait_agent',
                  namespace: 'multi_agent_v1',
                  arguments: { targets: [id], timeout_ms: 30_000 },
                },
              ],
            };
          case 2:
            return { calls: [shell('echo main-$((1+1))')] };
          default:
            return { text: 'done' };
        }
      }
      switch (turn) {
        case 0:
          return { calls: [call('hivemind_status')] };
        case 1:
          await mention(world.hive, isSubagent);
          return { calls: [shell('echo sub-$((1+1))')] };
        case 2:
          return { calls: [call('hivemind_process_mentions', { all: true })] };
        case 3:
          return { calls: [shell('echo sub-$((2+1))')] };
        default:
          return { text: 'sub done' };
      }
    });
    await runCodex({ ...world, model }, 'go');
    const sub = steps.filter((step) => step.startsWith('sub'));
    expect(sub[2]).toContain('Please review auth');
    expect(sub[2]).not.toMatch(/sub-\d/);
    expect(sub[4]).toContain('sub-3');
    expect(steps.find((step) => step.startsWith('main 3'))).toContain('main-2');
    expect(steps.filter((step) => step.startsWith('main')).join()).not.toContain('Please review auth');
    const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ status: 'processed' }]);
    expect(items[0]?.session_id).toMatch(/:/);
  });
});

test('a message typed at Codex carries the mentions of an idle agent, and a line in the terminal says so', async () => {
  const world = await openWorld();
  const { hive, ...rest } = world;
  await prefer(hive, { wake: 'off' });
  const model = await startResponses((_request, step) => ({ text: `reply ${step}` }));
  const codex = await openCodex({ ...rest, model });
  await codex.say('first words');
  await codex.until(/reply 1/, 20_000);
  await eventually(
    async () => (await hive.sessions.list({ state: 'alive' })).some(({ state }) => state === 'idle'),
    20_000,
  );
  await mention(hive, isMain);
  await codex.say('go on');
  await codex.until(/your message carried 1 mention to the agent, from Claude-other[\s\S]*reply \d/, 20_000);
  expect(model.everything()).toContain('Please review auth');
});
