/** An idle Codex in its terminal, hosted by Codex' own daemon, is woken by an answer or a mention through `codex queue`. */
import { describe, expect, test } from 'vitest';
import { eventsOf, HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { openCodex } from './support/codex-terminal.ts';
import { hive as call, startResponses } from './support/responses.ts';
import { askIdIn, isMain, mention, openWorld } from './support/world.ts';

describe('an answer for an idle Codex', () => {
  test('begins a turn that says what to call, and comes as the result of that call', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const model = await startResponses(({ input }, step) => {
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };
      if (!model.told().includes('<task-notification>')) return { text: `reply ${step}` };
      return { calls: [call('hivemind_poll', { ask_id: askIdIn(input) })] };
    });
    const codex = await openCodex({ ...rest, model });
    await codex.say('first words');
    await codex.until(/reply \d[\s\S]*Worked for/, 20_000);
    const [prompt] = (await hive.prompts.list({ limit: 1 })).items;
    const ask_id = prompt?.ask_id ?? '';
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await codex.until(/is answered: call hivemind_poll[\s\S]*reply \d[\s\S]*Worked for/, 20_000);
    expect(model.everything().replaceAll('\\', '')).toContain('"decision":"blue"');
    expect(await eventsOf(hive, 'session/woken')).toHaveLength(1);
  });
});

describe('a mention of an idle Codex', () => {
  test('begins a turn that reads and clears it, although the session has never called a tool of Hive', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const model = await startResponses((_request, step) => {
      if (step === 2) return { calls: [call('hivemind_get_unprocessed_mentions')] };
      if (step === 3) return { calls: [call('hivemind_process_mentions', { all: true })] };
      return { text: `reply ${step}` };
    });
    const codex = await openCodex({ ...rest, model });
    await codex.say('first words');
    await codex.until(/reply 1/, 20_000);
    const idle = async () =>
      (await hive.sessions.list({ state: 'alive' })).filter(
        ({ session_id, state }) => isMain(session_id) && state === 'idle',
      );
    await eventually(async () => (await idle()).length === 1, 20_000);
    await mention(hive, isMain);
    await codex.until(/Claude-other mentioned you \[mention-[\s\S]*reply 4/, 20_000);
    const { items } = await hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ status: 'processed', processed_via: 'mcp' }]);
    expect(model.everything()).toContain('must not be treated as approval');
    expect(await eventsOf(hive, 'session/woken')).toHaveLength(1);
  });
});
