/** Client suite 3 for Codex: an interrupt where it has no control socket. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HUMAN, untilPending } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { runCodex } from './support/codex.ts';
import { hive as call, shell, startResponses } from './support/responses.ts';
import { openWorld } from './support/world.ts';

test('denies every tool, says why, and is confirmed when the turn has ended', async () => {
  const world = await openWorld();
  const { hive } = world;
  let asked: Promise<unknown> | null = null;
  const model = await startResponses(async (_request, step) => {
    if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Go on?' })] };
    if (step > 2) return { text: 'stopped' };
    const [codex] = await hive.sessions.list({ state: 'alive' });
    const session = codex?.session_id ?? '';
    asked = hive.interrupts.interrupt({ session, note: 'wrong branch', actor: HUMAN });
    const turn = await hive.store.read((tx) => tx.turns.current(session));
    const pending = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn?.turn_id ?? ''));
    await eventually(async () => (await pending()).length > 0);
    return { calls: [shell('touch one'), shell('touch two')] };
  });
  await runCodex({ ...world, model }, 'go');
  expect(existsSync(join(world.folder, 'one'))).toBe(false);
  expect(existsSync(join(world.folder, 'two'))).toBe(false);
  expect(model.everything()).toContain('wrong branch');
  const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
  expect(await asked).toMatchObject({
    outcome: 'aborted',
    abort_reason: 'interrupted',
    cancelled_prompts: [prompt?.ask_id],
  });
});

test('is read in the result of a tool of Hive that waits, and the question ends with the turn', async () => {
  const world = await openWorld();
  const { hive } = world;
  const model = await startResponses((_request, step) =>
    step === 1 ? { calls: [call('hivemind_ask', { question: 'Red or blue?' })] } : { text: 'stopped' },
  );
  const run = runCodex({ ...world, model }, 'go');
  const [{ ask_id, session_id: session } = expect.fail()] = await untilPending(hive);
  const outcome = await hive.interrupts.interrupt({ session, note: 'wrong branch', actor: HUMAN });
  expect(outcome).toMatchObject({
    outcome: 'aborted',
    abort_reason: 'interrupted',
    by: 'ada',
    cancelled_prompts: [ask_id],
  });
  await run;
  expect(model.told()).toContain('wrong branch');
});
