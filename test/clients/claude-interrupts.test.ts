/** Client suite 3: an interrupt stops the real Claude Code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectNothingLeft } from '../support/leaks.ts';
import { startSidecar } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { clients, openWorld } from './support/world.ts';

expectNothingLeft();

describe.skipIf(clients === null)('an interrupt of Claude Code', () => {
  test('asked for by Emacs: no tool of the batch runs, the turn ends, and Emacs is told what fell with it', async () => {
    const world = await openWorld();
    const { hive } = world;
    const emacs = await startSidecar(world.store);
    let asked: Promise<unknown> | null = null;
    const model = await startModel(async (_request, step) => {
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Go on?' })] };
      const [claude] = await hive.sessions.list({ state: 'alive' });
      const session_id = claude?.session_id ?? '';
      asked = emacs.request('turn/interrupt', { session_id, note: 'wrong branch', by: 'ada' });
      const turn = await hive.store.read((tx) => tx.turns.current(session_id));
      const pending = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn?.turn_id ?? ''));
      await eventually(async () => (await pending()).length > 0);
      return { calls: [bash('touch one'), bash('touch two')] };
    });
    const result = await runClaude({ ...world, model }, 'go');
    expect(result.is_error).toBe(false);
    expect(model.requests).toHaveLength(2);
    expect(existsSync(join(world.folder, 'one'))).toBe(false);
    expect(existsSync(join(world.folder, 'two'))).toBe(false);
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(await asked).toMatchObject({
      outcome: 'aborted',
      abort_reason: 'interrupted',
      cancelled_prompts: [prompt?.ask_id],
    });
    expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted', by: 'ada' });
    const turn = await hive.store.read((tx) => tx.turns.last(result.session_id));
    expect(turn).toMatchObject({ state: 'aborted', abort_reason: 'interrupted', by: 'ada', via: 'emacs' });
    await emacs.end();
  });
});
