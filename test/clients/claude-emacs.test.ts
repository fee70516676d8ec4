/** The real Claude Code and its human in a real Emacs: an answer, a dialog and an interrupt, typed with keys. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command, openHome } from '../support/emacs.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { COLORS, WRITES } from './support/claude-dialogs.ts';
import { expectStopped, requested, start } from './support/claude-interrupts.ts';
import { openClaude } from './support/claude-terminal.ts';
import { askIdIn, openWorld } from './support/world.ts';

const QUESTION = { question: 'Red or blue?', options: ['red', 'blue'] };

test('an answer is typed into its minibuffer', async () => {
  const home = await openHome();
  onTestFinished(() => home.close());
  const world = await openWorld({}, join(home.folder, 'store', 'hive.db'));
  const emacs = await home.emacs();
  const model = await startModel(async ({ messages }, step) => {
    if (step === 1) return { calls: [call('hivemind_ask_async', QUESTION)] };
    if (step > 2) return { text: 'done' };
    await emacs.until(/hive 1\b/);
    await command(emacs, 'hive-respond');
    await emacs.until(/asks: Red or blue\?/);
    await emacs.type('blue');
    await emacs.keys('Enter');
    await emacs.said(/Answered .+: blue \(stored\)/);
    const { status } = await world.hive.prompts.get(askIdIn(messages));
    expect(status).toBe('responded');
    return { calls: [bash('echo worked on')] };
  });
  await runClaude({ ...world, model }, 'go');
  expect(model.told()).toMatch(/Answer to ask-.*blue\. By Ada via emacs/);
  await eventually(() => home.outboxFiles().length === 0);
});

test('a question and a permission are answered there', async () => {
  const home = await openHome();
  onTestFinished(() => home.close());
  const { hive: _, ...world } = await openWorld({}, join(home.folder, 'store', 'hive.db'));
  const emacs = await home.emacs();
  const color = {
    questions: [{ question: 'Which color?', header: 'Color', options: COLORS, multiSelect: false }],
  };
  const calls = [{ name: 'AskUserQuestion', input: color }, WRITES];
  const model = await startModel((_request, step) => {
    const call = calls[step - 1];
    return call === undefined ? { text: 'all done' } : { calls: [call] };
  });
  // One person: the seat that this Emacs registers is in the file that the agent's hooks read.
  const env = { XDG_CONFIG_HOME: join(home.folder, '.config') };
  const claude = await openClaude({ ...world, model, env, allowed: null });
  await claude.say('please begin');
  for (const [question, choice] of [
    [/asks: Which color\?/, 'Blue'],
    [/asks: Run echo one > made\.txt\?/, 'Allow'],
  ] as const) {
    await emacs.until(/hive 1\b/);
    await command(emacs, 'hive-respond');
    await emacs.until(question);
    // All of the permission is displayed beside the minibuffer.
    await emacs.type(choice);
    await emacs.keys('Enter');
    await emacs.said(new RegExp(`Answered .+: ${choice} \\(stored\\)`));
  }
  await claude.until(/all done/);
  expect(model.everything()).toContain('Which color?\\"=\\"Blue');
  expect(readFileSync(join(world.folder, 'made.txt'), 'utf8')).toBe('one\n');
});

test('an interrupt is typed there: no tool of the batch runs, the turn ends, and Emacs says what was cancelled with it', async () => {
  const home = await openHome();
  onTestFinished(() => home.close());
  const emacs = await home.emacs();
  const run = await start(await openWorld({}, join(home.folder, 'store', 'hive.db')));
  const handle = await run.handle;
  await emacs.until(/hive 1/);
  await command(emacs, 'hive-interrupt');
  // The only agent that works is the default.
  await emacs.answer(/Interrupt \(default .*\):/, 'Enter');
  await emacs.until(/Reason for .* \(RET for none\)/);
  await emacs.type('wrong branch');
  await emacs.keys('Enter');
  await requested(run, handle);
  run.goOn();
  await emacs.said(/: task interrupted by Ada, \S+ s after it called mcp__hive__hivemind_ask_async; 1 /);
  await expectStopped(run, 'Ada', 'emacs');
  // Its question is no longer pending.
  await command(emacs, 'hive-history');
  await emacs.until(/Search the history for:/);
  await emacs.keys('Enter');
  await emacs.until(/cancelled Go on\?/);
});
