/** Interrupts over MCP: what an agent is told by any of our tools, and a coordinator that stops another. */
import { describe, expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { beginTurn, requestStored } from '../support/interrupts.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { tempStore } from '../support/temp.ts';
import { timed } from '../support/wait.ts';

const AGENT = 'agent-1';

describe('an agent over MCP', () => {
  test('any tool of ours in a turn that is to stop says so at once', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const agent = await connectMcp({ store });
    await agent.call('hivemind_status');
    const turn = await hive.turns.start({ session_id: AGENT });
    await hive.interrupts
      .interrupt({ session: AGENT, note: 'enough', timeout_ms: 0, actor: human() })
      .catch(() => undefined);
    const result = await agent.call('hivemind_ask_async', { question: 'May I?' });
    expect(result).toEqual({
      status: 'interrupted',
      interrupted_by: 'ada',
      note: 'enough',
      next: expect.stringMatching(/^Interrupted by ada\. Note: enough\. Stop now/),
    });
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
    expect(turn.state).toBe('in_progress');
  });

  test.each([
    ['a long poll', 'hivemind_poll', { wait_ms: 25_000 }],
    ['a blocking question', 'hivemind_ask', { question: 'Well?' }],
  ])('%s returns at once when its turn is to stop', async (_name, tool, args) => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const agent = await connectMcp({ store });
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'First?' });
    const turn = await hive.turns.start({ session_id: AGENT });
    const call = agent.call(tool, tool === 'hivemind_poll' ? { ...args, ask_id } : args);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { result, ms } = await timed(async () => {
      void hive.interrupts.interrupt({ session: AGENT, timeout_ms: 0, actor: human() });
      return call;
    });
    expect(result).toMatchObject({ status: 'interrupted', interrupted_by: 'ada' });
    expect(ms).toBeLessThan(1_000);
    await hive.turns.end(turn.turn_id);
  });

  test('what is asked in a turn carries it, and falls with it', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const agent = await connectMcp({ store });
    await agent.call('hivemind_status');
    const turn = await hive.turns.start({ session_id: AGENT });
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'May I?' });
    expect((await hive.prompts.get(String(ask_id))).turn_id).toBe(turn.turn_id);
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted', by: 'ada' });
    const polled = await agent.call('hivemind_poll', { ask_id });
    expect(polled).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted' });
    expect(polled).not.toHaveProperty('decision');
  });

  test('a coordinator stops another agent and learns what came of it', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    const args = ['--role', 'coordinator'];
    const boss = await connectMcp({ store, args, env: { HIVE_AGENT: 'boss' } });
    const call = boss.call('hivemind_interrupt', { session: 'agent-1', note: 'plan changed' });
    await requestStored(hive, turn);
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect(await call).toMatchObject({ outcome: 'aborted', by: 'boss', cancelled_prompts: 0 });

    const next = await beginTurn(hive, AGENT, 'test');
    const unconfirmed = await boss.call('hivemind_interrupt', { session: 'agent-1', wait_ms: 0 });
    expect(unconfirmed).toMatchObject({ outcome: 'unconfirmed', turn_id: next.turn_id });
    expect(unconfirmed['next']).toContain(String(unconfirmed['interrupt_id']));
    await hive.turns.end(next.turn_id);
    const { interrupt_id } = unconfirmed;
    const waited = await boss.call('hivemind_interrupt', { session: 'agent-1', interrupt_id });
    expect(waited).toMatchObject({ outcome: 'completed' });
  });
});

function human() {
  return { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
}
