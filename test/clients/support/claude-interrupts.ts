/** A run of Claude Code that somebody interrupts while its model thinks, and proof that it has stopped. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../support/wait.ts';
import { bash, hive as call, startModel } from './anthropic.ts';
import { runClaude } from './claude.ts';
import type { World } from './world.ts';

export interface Run extends World {
  /** How it is called, once it is at work. */
  handle: Promise<string>;
  /** Its model may go on, with two tools at once. */
  goOn(): void;
  done: ReturnType<typeof runClaude>;
  /** How often its model was asked. */
  steps(): number;
}

/** A run that has asked its human, and whose model waits until the test lets it continue. */
export async function start(world: World): Promise<Run> {
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
export async function requested({ hive }: World, handle: string): Promise<void> {
  const { session_id } = await hive.sessions.resolve(handle);
  const turn = await hive.store.read((tx) => tx.turns.current(session_id));
  const pending = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn?.turn_id ?? ''));
  await eventually(async () => (await pending()).length > 0, 10_000, 'the request');
}

export async function expectStopped(
  { hive, folder, done, steps }: Run,
  by: string,
  via: string,
): Promise<string> {
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
