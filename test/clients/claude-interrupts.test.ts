/** Client suite 3: an interrupt, typed in a real Emacs or asked for from a shell, stops the real Claude Code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { openHome } from '../support/emacs.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { openWorld, type World } from './support/world.ts';

interface Run extends World {
  /** How it is called, once it is at work. */
  handle: Promise<string>;
  /** Its model may go on, with two tools at once. */
  goOn(): void;
  done: ReturnType<typeof runClaude>;
  /** How often its model was asked. */
  steps(): number;
}

/** A run that has asked its human, and whose model waits until the test lets it continue. */
async function start(world: World): Promise<Run> {
  const thinking = Promise.withResolvers<string>();
  const going = Promise.withResolvers<void>();
  const model = await startModel(async (_request, step) => {
    if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Go on?' })] };
    const [claude] = (await world.hive.sessions.list({ state: 'alive' })).filter(
      ({ client }) => client === 'claude-code',
    );
    thinking.resolve(claude?.handle ?? '');
    await going.promise;
    return { calls: [bash('touch one'), bash('touch two')] };
  });
  const done = runClaude({ ...world, model }, 'go');
  return {
    ...world,
    handle: thinking.promise,
    goOn: going.resolve,
    done,
    steps: () => model.requests.length,
  };
}

/** The request is on disk: from here on no tool of that turn may run. */
async function asked({ hive }: World, handle: string): Promise<void> {
  const { session_id } = await hive.sessions.resolve(handle);
  const turn = await hive.store.read((tx) => tx.turns.current(session_id));
  const pending = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn?.turn_id ?? ''));
  await eventually(async () => (await pending()).length > 0, 10_000, 'the request');
}

async function expectStopped({ hive, folder, done, steps }: Run, by: string, via: string): Promise<string> {
  const result = await done;
  expect(result.is_error).toBe(false);
  expect(steps()).toBe(2);
  expect(existsSync(join(folder, 'one'))).toBe(false);
  expect(existsSync(join(folder, 'two'))).toBe(false);
  const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
  expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted', by });
  const turn = await hive.store.read((tx) => tx.turns.last(result.session_id));
  expect(turn).toMatchObject({
    state: 'aborted',
    abort_reason: 'interrupted',
    by,
    via,
    note: 'wrong branch',
  });
  return prompt?.ask_id ?? '';
}

describe('an interrupt of Claude Code', () => {
  test('typed in Emacs: no tool of the batch runs, the turn ends, and Emacs says what was cancelled with it', async () => {
    const home = await openHome();
    onTestFinished(() => home.close());
    const emacs = await home.emacs();
    const run = await start(await openWorld(join(home.folder, 'store', 'hive.db')));
    const handle = await run.handle;
    await emacs.until(/hive 1/);
    await emacs.keys('M-x');
    await emacs.type('hive-interrupt');
    await emacs.keys('Enter');
    await emacs.until(new RegExp(`Interrupt \\(default ${handle}\\):`));
    await emacs.keys('Enter');
    await emacs.until(/Reason for .* \(RET for none\)/);
    await emacs.type('wrong branch');
    await emacs.keys('Enter');
    await asked(run, handle);
    run.goOn();
    await emacs.until(
      new RegExp(
        `${handle}: task interrupted by Ada, \\S+ s after it started mcp__hive__hivemind_ask_async; 1 `,
      ),
    );
    await expectStopped(run, 'Ada', 'emacs');
    // Its question is no longer pending.
    await emacs.keys('M-x');
    await emacs.type('hive-history');
    await emacs.keys('Enter');
    await emacs.until(/Search the history for:/);
    await emacs.keys('Enter');
    await emacs.until(/cancelled Go on\?/);
  });

  test('requested from a shell, which gets the same outcome', async () => {
    const run = await start(await openWorld());
    const handle = await run.handle;
    const { start: begin } = shell(run.store);
    const interrupt = begin('interrupt', handle, '--by', 'ada', '--note', 'wrong branch', '--json');
    await asked(run, handle);
    run.goOn();
    const { code, json } = await interrupt.done;
    expect(code).toBe(0);
    const ask_id = await expectStopped(run, 'ada', 'cli');
    expect(json()).toMatchObject({
      outcome: 'aborted',
      abort_reason: 'interrupted',
      by: 'ada',
      cancelled_prompts: [ask_id],
    });
  });
});
