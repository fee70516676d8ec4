/** Turns and interrupts: the same on every engine. */
import { expect, test } from 'vitest';
import { ask, HUMAN, introduce } from '../support/hive.ts';
import { claude, endsOf, SESSION, turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function turnsContract(engine: StoreEngine): void {
  test('a hook in another process stops the turn, its questions are cancelled, and the asker is told', async () => {
    const [desk, agent] = await openTwo(engine);
    const client = claude(agent);
    await client.prompt('p1');
    const prompt = await ask(agent, { question: 'Go on?' });
    await client.pre('p1', 't1');
    const turn = await desk.turns.current(SESSION);
    expect(turn).toMatchObject({ client_turn_id: 'p1', steps: 1, last_tool: 'Bash' });
    const reply = desk.interrupts.interrupt({ session: SESSION, note: 'wrong branch', actor: HUMAN });
    await eventually(async () => (await agent.interrupts.stopRequestFor(turn?.turn_id ?? '')) !== null);
    expect(await client.post('p1', 't1')).toContain('"continue":false');
    expect(await reply).toMatchObject({ outcome: 'aborted', by: 'ada', cancelled_prompts: [prompt.ask_id] });
    expect(await desk.prompts.get(prompt.ask_id)).toMatchObject({ cancel_reason: 'interrupted' });
    expect(await client.prompt('p2')).toContain('was interrupted by ada');
    expect(await endsOf(agent)).toEqual(['interrupted by ada', 'in_progress']);
    expect((await desk.turns.running()).map(({ session }) => session.session_id)).toEqual([SESSION]);
  });

  test('a turn that continues another belongs to its chain', async () => {
    const [hive] = await openTwo(engine);
    const client = claude(hive);
    await client.prompt('p1');
    await client.stop('p1');
    await client.pre('p1', 't1');
    const [first, second] = await turnsOf(hive);
    expect(second).toMatchObject({ continues: first?.turn_id, chain_id: first?.turn_id });
    expect(await hive.turns.newestOf([SESSION])).toMatchObject([{ turn: { turn_id: second?.turn_id } }]);
  });

  test('two that begin at once leave one running', async () => {
    const [one, two] = await openTwo(engine);
    await introduce(one);
    await Promise.all([one, two, one, two].map((hive) => hive.turns.start({ session_id: SESSION })));
    const ends = await endsOf(one);
    expect(ends.filter((end) => end === 'in_progress')).toHaveLength(1);
    expect(ends.filter((end) => end === 'replaced')).toHaveLength(3);
  });

  test('retention removes what ended long ago, with the requests for it; what runs stays', async () => {
    const [hive] = await openTwo(engine);
    await introduce(hive);
    const old = await hive.turns.start({ session_id: SESSION });
    await hive.interrupts.interrupt({ session: SESSION, timeout_ms: 0, actor: HUMAN });
    await hive.turns.end(old.turn_id, { aborted: 'interrupted' });
    const running = await hive.turns.start({ session_id: SESSION });
    const pruned = await hive.store.write((tx) =>
      tx.retention.prune('turns', '9999-01-01T00:00:00.000Z', 10),
    );
    expect(pruned).toMatchObject({ turns: 1, interrupts: 1, deliveries: 1 });
    await expect(hive.turns.get(old.turn_id)).rejects.toMatchObject({ code: 'turn_not_found' });
    expect((await hive.turns.get(running.turn_id)).state).toBe('in_progress');
  });
}
