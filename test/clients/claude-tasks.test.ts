/** Claude Code in its terminal, as installed without hooks: a question that it waits for is a task, and its answer wakes it. */
import { expect, test } from 'vitest';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { hive as call, startModel } from './support/anthropic.ts';
import { openClaude } from './support/claude-terminal.ts';
import { expectNoFurtherTurn } from './support/idle-claude.ts';
import { askIdIn, openWorld } from './support/world.ts';

test('the idle session is woken by the result of the task, and the answer comes by the call that it names', async () => {
  const { hive, ...world } = await openWorld();
  const model = await startModel(({ messages }, step) => {
    if (step === 1) return { calls: [call('hivemind_ask', { question: 'Red or blue?' })] };
    if (!model.told().includes('is answered: call hivemind_poll')) return { text: `reply ${step}` };
    return { calls: [call('hivemind_poll', { ask_id: askIdIn(messages) })] };
  });
  const claude = await openClaude({ ...world, model, way: null });
  await claude.say('first words');
  const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
  const isBlocked = async (): Promise<boolean> => typeof (await pending())?.blocked_since === 'string';
  await eventually(async () => model.requests.length === 2 || (await isBlocked()), 60_000, 'the question');
  // A client that did not hear from its server within three seconds speaks the older revision, which has no tasks.
  const isTask = !(await isBlocked());
  if (isTask) await claude.until(/reply 2/);
  const ask_id = (await pending())?.ask_id ?? '';
  expect((await hive.prompts.get(ask_id)).handed_at).toBeNull();
  await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
  if (isTask) {
    await eventually(() => model.requests.length === 3, 60_000, 'the task wakes it');
    expect(JSON.stringify(model.requests[2]?.messages)).not.toContain('blue\\"');
  }
  const last = isTask ? 4 : 2;
  await claude.until(new RegExp(`reply ${last}`));
  expect(model.everything().replaceAll('\\', '')).toContain('"decision":"blue"');
  await expectNoFurtherTurn(claude, last);
  expect((await hive.prompts.get(ask_id)).carrier).toMatch(/^mcp:/);
});
