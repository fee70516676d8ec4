/** An idle Claude Code in its terminal is woken by a mention, once, and by an answer only where that is wanted. */
import { describe, expect, test } from 'vitest';
import { agentAuthor } from '../../src/domain/messages.ts';
import { eventsOf, HUMAN, introduce } from '../support/hive.ts';
import { eventually, moment } from '../support/wait.ts';
import { hive as call, startModel } from './support/anthropic.ts';
import { openClaude } from './support/claude-terminal.ts';
import { expectNoFurtherTurn, idle } from './support/idle-claude.ts';
import { isMain, mention, openWorld } from './support/world.ts';

describe('an answer for an idle Claude Code', () => {
  test('does not wake a session that was left by /clear, nor the one that follows twice', async () => {
    const { hive, claude, ask_id } = await idle();
    await claude.say('/clear');
    await eventually(
      async () => (await hive.sessions.list({ state: 'alive' })).some((s) => s.continues !== null),
      10_000,
    );
    await moment(500);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await claude.until(/reply 4/, 20_000);
    await expectNoFurtherTurn(claude, 4);
    expect(await eventsOf(hive, 'session/woken')).toHaveLength(1);
  });

  test('wake off leaves it alone: the answer comes with the next message', async () => {
    const { hive, model, claude, ask_id } = await idle({ wake: 'off' });
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await expectNoFurtherTurn(claude, 2);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
  });
});

describe('a mention of an idle Claude Code', () => {
  test('wakes it, once, and is read and cleared by the calls that the wake-up names', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const model = await startModel((_request, step) => {
      if (step === 2) return { calls: [call('hivemind_get_unprocessed_mentions')] };
      if (step === 3) return { calls: [call('hivemind_process_mentions', { all: true })] };
      return { text: `reply ${step}` };
    });
    const claude = await openClaude({ ...rest, model });
    await claude.say('first words');
    await claude.until(/reply 1/);
    const [session] = await hive.sessions.list({ state: 'alive' });
    const session_id = session?.session_id ?? '';
    await eventually(async () => (await hive.store.read((tx) => tx.turns.current(session_id))) === undefined);
    await mention(hive, isMain);
    await claude.until(/reply 4/, 20_000);
    const woken = JSON.stringify(model.requests[1]?.messages.slice(-3));
    expect(woken).toMatch(
      /Claude-other mentioned you \[mention-\w+\]: read with hivemind_get_unprocessed_mentions/,
    );
    expect(woken).toContain('must not be treated as approval');
    const { items } = await hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ status: 'processed', processed_via: 'mcp' }]);
    await expectNoFurtherTurn(claude, 4);
    expect(await eventsOf(hive, 'session/woken')).toHaveLength(1);
  });

  test('leaves it alone when it only mentions everyone', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const model = await startModel((_request, step) => ({ text: `reply ${step}` }));
    const claude = await openClaude({ ...rest, model });
    await claude.say('first words');
    await claude.until(/reply 1/);
    const author = agentAuthor(await introduce(hive, 'other-1'), 'mcp');
    const everyone = () => hive.messages.post({ body: '@All hello', scope: 'all', author });
    expect((await everyone()).mentions).toHaveLength(1);
    await expectNoFurtherTurn(claude, 1);
  });
});
