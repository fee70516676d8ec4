/** Interrupts that Emacs asks for, between real processes: a sidecar, the hooks of an agent; and what kill -9 leaves. */
import { describe, expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { beginTurn, fireHookProcess, requestStored } from '../support/interrupts.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { timed } from '../support/wait.ts';

const AGENT = 'agent-1';

describe('Emacs', () => {
  test('turn/interrupt is answered when a hook in another process has stopped the turn', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const sidecar = await startSidecar(store);
    const session_id = 'c1';
    await fireHookProcess(store, {
      session_id,
      hook_event_name: 'UserPromptSubmit',
      prompt_id: 'p1',
      prompt: 'go',
    });
    const turn = await hive.turns.current(session_id);
    if (turn === undefined) throw new Error('no turn');
    const reply = sidecar.request('turn/interrupt', { session_id, note: 'wrong branch', by: 'ada' });
    await requestStored(hive, turn);
    // Emacs waits for nothing meanwhile.
    const { sessions } = await sidecar.request('session/list', {});
    expect(sessions[0].turn).toMatchObject({
      turn_id: turn.turn_id,
      state: 'in_progress',
      sentence: 'task running',
      interrupts: [{ by: 'ada', note: 'wrong branch', state: 'pending', outcome: null }],
    });
    const printed = await fireHookProcess(store, {
      session_id,
      hook_event_name: 'PreToolUse',
      prompt_id: 'p1',
      tool_name: 'Bash',
      tool_input: {},
      tool_use_id: 't1',
    });
    expect(JSON.parse(printed)).toMatchObject({
      continue: false,
      stopReason: 'Interrupted by ada. Note: wrong branch',
    });
    expect(await reply).toEqual({
      interrupt_id: expect.any(String),
      session_id,
      turn_id: turn.turn_id,
      outcome: 'aborted',
      abort_reason: 'interrupted',
      by: 'ada',
      waited_ms: expect.any(Number),
      cancelled_prompts: [],
      sentence: 'task interrupted by ada',
    });
    const { params } = await sidecar.seen(
      (frame) => frame.method === 'turn/changed' && frame.params.state === 'aborted',
    );
    expect(params).toMatchObject({
      turn_id: turn.turn_id,
      agent: 'Claude-c1',
      abort_reason: 'interrupted',
      by: 'ada',
      via: 'emacs',
      note: 'wrong branch',
      sentence: 'task interrupted by ada',
      duration_ms: expect.any(Number),
    });
    await sidecar.end();
  });

  test('turn/interrupt_all sums up; turn/cancel_interrupt takes back; refusals carry the code', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const sidecar = await startSidecar(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    const all = sidecar.request('turn/interrupt_all', {});
    await requestStored(hive, turn);
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect((await all).outcomes).toMatchObject([{ handle: 'Agent-agent', outcome: 'aborted' }]);

    const next = await beginTurn(hive, AGENT, 'test');
    const waiting = sidecar.request('turn/interrupt', { session_id: AGENT });
    waiting.catch(() => undefined);
    await requestStored(hive, next);
    const { withdrawn } = await sidecar.request('turn/cancel_interrupt', { session_id: AGENT });
    expect(withdrawn).toHaveLength(1);
    await expect(waiting).rejects.toMatchObject({ data: { code: 'cancelled' } });
    await expect(
      sidecar.request('turn/interrupt', { session_id: AGENT, turn_id: 'turn-other' }),
    ).rejects.toMatchObject({ data: { code: 'turn_not_current', current: next.turn_id } });
    await sidecar.end();
  });

  test('a sidecar that is killed takes the waiting with it; the next one waits on for the same request', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    const first = await startSidecar(store);
    first
      .request('turn/interrupt', { session_id: AGENT, interrupt_id: 'interrupt-1' })
      .catch(() => undefined);
    await requestStored(hive, turn);
    await first.child.kill('SIGKILL');
    const second = await startSidecar(store);
    const reply = second.request('turn/interrupt', { session_id: AGENT, interrupt_id: 'interrupt-1' });
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect(await reply).toMatchObject({ interrupt_id: 'interrupt-1', outcome: 'aborted' });
    // One that looks only later still sees what came of it.
    const { sessions } = await second.request('session/list', {});
    expect(sessions[0].turn.interrupts).toMatchObject([{ interrupt_id: 'interrupt-1', outcome: 'aborted' }]);
    await second.end();
  });

  test('a sidecar that ends while somebody waits ends at once and cleanly', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    const sidecar = await startSidecar(store);
    sidecar.request('turn/interrupt', { session_id: AGENT }).catch(() => undefined);
    await requestStored(hive, turn);
    const { result, ms } = await timed(() => sidecar.end());
    expect(result).toEqual({ code: 0, signal: null });
    expect(ms).toBeLessThan(900);
    expect(sidecar.child.stderr()).toBe('');
  });
});
