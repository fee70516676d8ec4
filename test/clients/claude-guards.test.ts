/** Client suites 3 and 4: an interrupt stops the real Claude Code; the Stop guard holds it, and lets go. */
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

describe.skipIf(clients === null)('the Stop of a Claude Code in the background', () => {
  const ping = { calls: [call('hivemind_ping_user', { message: 'The tests are red.' })] };

  test('is held after a ping until it has reported', async () => {
    const world = await openWorld();
    const told: string[] = [];
    const model = await startModel((_request, step) => {
      told.push(model.told());
      if (step === 1) return ping;
      if (step === 3) return { calls: [call('hivemind_report_updates', { message: 'Tests are red.' })] };
      return { text: 'done' };
    });
    const { session_id } = await runClaude({ ...world, model }, 'go');
    expect(model.requests).toHaveLength(4);
    expect(told[2]).toContain('hivemind_report_updates');
    expect(told[2]).toContain('The tests are red.');
    const types = (await world.hive.store.read((tx) => tx.events.after(0, 1_000)))
      .filter((event) => event.session_id === session_id)
      .map(({ type }) => type);
    expect(types.filter((type) => type === 'stop/held')).toHaveLength(1);
    expect(types).not.toContain('stop/let_go');
  });

  test('is let go after three times, and the human is told', async () => {
    const world = await openWorld();
    const model = await startModel((_request, step) => (step === 1 ? ping : { text: 'done' }));
    const { session_id } = await runClaude({ ...world, model }, 'go');
    expect(model.requests).toHaveLength(1 + 1 + 3);
    const events = await world.hive.store.read((tx) => tx.events.after(0, 1_000));
    const own = events.filter((event) => event.session_id === session_id);
    expect(own.filter(({ type }) => type === 'stop/held')).toHaveLength(3);
    expect(own.filter(({ type }) => type === 'stop/let_go')).toHaveLength(1);
    const notice = own.find(({ type }) => type === 'desk/notice');
    expect(notice?.data['text']).toContain('unreported output');
  });
});
