/** The Stop guard against the real Claude Code: it holds, a report clears it, it ends, and a Stop that waits says where the answer is. */
import { describe, expect, test } from 'vitest';
import { HUMAN, noticesOf } from '../support/hive.ts';
import { eventually, moment } from '../support/wait.ts';
import { bash, hive as call, type Reply, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { openClaude } from './support/claude-terminal.ts';
import { askIdIn, openWorld, openWorldWithDesk } from './support/world.ts';

const PING = { message: 'Deployed.' };
const REPORT = { message: 'All is up.' };
/** The words that Claude Code writes before the sentence of a Stop hook; none of them disowns it. */
const FEEDBACK = /<system-reminder>\\nStop hook additional context: (?=You showed your human)/g;

describe('Claude Code in the background', () => {
  const done: Reply = { text: 'done' };

  test('is held for what it showed, reports, and stops; the main session reads the report', async () => {
    const world = await openWorldWithDesk();
    const model = await startModel(({ messages }, step) => {
      if (step === 1) return { calls: [call('hivemind_ping_user', PING)] };
      const held = JSON.stringify(messages.at(-1)).includes('have not reported it');
      return held ? { calls: [call('hivemind_report_updates', REPORT)] } : done;
    });
    const { session_id, is_error } = await runClaude({ ...world, model }, 'go');
    expect(is_error).toBe(false);
    expect(model.everything().match(FEEDBACK)).toHaveLength(1);
    expect(await noticesOf(world.hive)).toEqual([]);
    const { items } = await world.hive.outreach.list({ session_id, limit: 10 });
    expect(items.map(({ kind, source }) => [kind, source])).toEqual([
      ['report', 'bg'],
      ['ping', 'bg'],
    ]);
    // The next session of the project, attended as far as Hive knows, is the one behind.
    const reader = await startModel((_request, step) =>
      step === 1 ? { calls: [bash('echo worked on')] } : done,
    );
    await runClaude({ ...world, model: reader, env: { HIVE_SOURCE: 'main' } }, 'go on');
    expect(reader.everything().match(/All is up\./g)).toHaveLength(1);
    expect((await world.hive.outreach.list({ kind: 'report', limit: 1 })).items[0]?.status).toBe('delivered');
  });

  test('that ignores it may stop after three holds, and the human is told', async () => {
    const world = await openWorldWithDesk();
    const model = await startModel((_request, step) =>
      step === 1 ? { calls: [call('hivemind_ping_user', PING)] } : done,
    );
    await runClaude({ ...world, model }, 'go');
    expect(model.everything().match(FEEDBACK)).toHaveLength(3);
    expect(await noticesOf(world.hive)).toEqual([
      expect.stringMatching(/^\[bg\] .* stopped with unreported output .*: ping "Deployed\."\.$/),
    ]);
  });

  test('waits with its Stop for the human, goes on by itself, and gets the answer as the result of a poll', async () => {
    const world = await openWorld({ stop_wait: 60 });
    const { hive } = world;
    const model = await startModel(({ messages }, step) => {
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };
      return step === 3 ? { calls: [call('hivemind_poll', { ask_id: askIdIn(messages) })] } : done;
    });
    const run = runClaude({ ...world, model }, 'go');
    await eventually(() => model.requests.length === 2, 30_000, 'the end of its turn');
    await moment(3_000);
    const ask_id = askIdIn(model.requests[1]?.messages);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await run;
    expect(model.requests).toHaveLength(4);
    const held = JSON.stringify(model.requests[2]?.messages.at(-1)).replaceAll('\\', '');
    expect(held).toContain(
      `Stop hook additional context: An answer is waiting: call hivemind_poll {"ask_id": "${ask_id}"}`,
    );
    expect(held).not.toContain('blue');
    expect(model.told().replaceAll('\\', '')).toContain('"decision":"blue"');
    expect(model.everything()).not.toContain('no message, answer or approval');
    const { collected_at, carrier } = await hive.prompts.get(ask_id);
    expect(collected_at).toEqual(expect.any(String));
    expect(carrier).toMatch(/^mcp:/);
  });
});

describe('Claude Code in its terminal', () => {
  const done = (step: number): Reply => ({ text: `reply ${step}` });

  test('shows that an answer is waiting and no problem, and its model fetches it', async () => {
    const { hive, ...rest } = await openWorld();
    const model = await startModel(async ({ messages }, step) => {
      const ask_id = askIdIn(messages);
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };
      // It comes too late for the hook after that call.
      if (step === 2) await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
      return step === 3 ? { calls: [call('hivemind_poll', { ask_id })] } : done(step);
    });
    const claude = await openClaude({ ...rest, model });
    await claude.say('first words');
    const screen = (await claude.until(/reply 4/, 30_000)).join('\n');
    expect(screen).toMatch(/Stop hook says: An answer is waiting: call hivemind_poll/);
    expect(screen).not.toContain('problem');
    expect(model.everything().replaceAll('\\', '')).toContain('"decision":"blue"');
  });
});
