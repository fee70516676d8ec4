/**
 * What users of other programs have reported of interrupts, in our own words, each against ours: an interrupt
 * that is never answered, one that hits the next turn, one that succeeds and stops nothing, questions that
 * stay open behind it.
 */
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { claude, endsOf, SESSION } from '../support/turns.ts';
import { eventually, timed } from '../support/wait.ts';

const AT_ONCE_MS = 500;

function interrupt(hive: OpenedHive, turn_id?: string) {
  const reply = hive.interrupts.interrupt({ session: SESSION, turn_id, actor: HUMAN });
  reply.catch(() => undefined);
  return reply;
}

async function standing(hive: OpenedHive): Promise<void> {
  await eventually(async () => {
    const turn = await hive.turns.current(SESSION);
    return turn !== undefined && (await hive.interrupts.orderFor(turn.turn_id)) !== null;
  });
}

async function runningTurn(hive: OpenedHive, prompt_id: string) {
  await claude(hive).prompt(prompt_id);
  const turn = await hive.turns.current(SESSION);
  if (turn === undefined) throw new Error('no turn');
  return turn;
}

describe('openai/codex #36926: Esc twice in a row, and the second interrupt is never answered', () => {
  test('both askers of one turn are answered by its end', async () => {
    const hive = await openTestHive();
    await runningTurn(hive, 'p1');
    const replies = [interrupt(hive), interrupt(hive)];
    await standing(hive);
    await claude(hive).pre('p1', 't1');
    expect((await Promise.all(replies)).map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
  });

  test('one that comes after the abort is answered at once, with what was recorded', async () => {
    const hive = await openTestHive();
    const { turn_id } = await runningTurn(hive, 'p1');
    const first = interrupt(hive);
    await standing(hive);
    await claude(hive).pre('p1', 't1');
    await first;
    const { result, ms } = await timed(() => interrupt(hive, turn_id));
    expect(result).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'ada' });
    expect(ms).toBeLessThan(AT_ONCE_MS);
    // Nothing stays active behind it: another, without an id, is told that nothing runs.
    await expect(interrupt(hive)).rejects.toMatchObject({ code: 'no_turn' });
  });
});

describe('openai/codex #18392: an interrupt of a turn that has completed hangs', () => {
  test('it is refused at once', async () => {
    const hive = await openTestHive();
    const { turn_id } = await runningTurn(hive, 'p1');
    await claude(hive).stop('p1');
    const { ms } = await timed(() =>
      expect(interrupt(hive, turn_id)).rejects.toMatchObject({ code: 'turn_not_current' }),
    );
    expect(ms).toBeLessThan(AT_ONCE_MS);
  });

  test('one that was accepted and then overtaken by the end is answered by it', async () => {
    const hive = await openTestHive();
    await runningTurn(hive, 'p1');
    const reply = interrupt(hive);
    await standing(hive);
    await claude(hive).stop('p1');
    expect(await reply).toMatchObject({ outcome: 'completed' });
  });
});

describe('pingdotgg/t3code #6531: a stop that arrives late aborts the turn that has begun since', () => {
  test('an interrupt of the first turn leaves the second alone', async () => {
    const hive = await openTestHive();
    const { turn_id } = await runningTurn(hive, 'p1');
    const reply = interrupt(hive, turn_id);
    await standing(hive);
    await claude(hive).stop('p1');
    await reply;
    const next = await runningTurn(hive, 'p2');
    await expect(interrupt(hive, turn_id)).rejects.toMatchObject({ code: 'turn_not_current' });
    expect(await claude(hive).pre('p2', 't2')).toBe('');
    expect(await hive.interrupts.orderFor(next.turn_id)).toBeNull();
  });

  test('hooks of the stopped turn that come late stop nothing of the next', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await runningTurn(hive, 'p1');
    await client.pre('p1', 't1');
    const reply = interrupt(hive);
    await standing(hive);
    await client.post('p1', 't1');
    await reply;
    await client.prompt('p2');
    await client.batch('p1', 't1');
    await client.stop('p1');
    await client.pre('p1', 't3');
    expect(await client.pre('p2', 't2')).toBe('');
    expect(await endsOf(hive)).toEqual(['interrupted by ada', 'in_progress']);
  });
});

describe('pingdotgg/t3code #9851, anthropics/claude-agent-sdk-typescript #425: what the agent had asked stays open behind the stop', () => {
  test('questions and permissions fall with the turn, whoever waits for them is told, none is a refusal', async () => {
    const hive = await openTestHive();
    await runningTurn(hive, 'p1');
    const question = await ask(hive, { question: 'Which branch?' });
    const permission = await ask(hive, { question: 'May I push?', kind: 'permission' });
    const waiting = hive.prompts.wait([permission.ask_id], { wait_ms: 10_000 });
    const reply = interrupt(hive);
    await standing(hive);
    await claude(hive).pre('p1', 't1');
    expect((await reply).cancelled_prompts.toSorted()).toEqual(
      [question.ask_id, permission.ask_id].toSorted(),
    );
    const [told] = await waiting;
    expect(told).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted', decision: null });
  });

  test('one asked in the very moment of the stop does not slip through', async () => {
    const hive = await openTestHive();
    const { turn_id } = await runningTurn(hive, 'p1');
    await hive.turns.end(turn_id, { aborted: 'interrupted', by: 'ada' });
    const session = await introduce(hive);
    await expect(hive.prompts.ask({ question: 'Still there?' }, session, turn_id)).rejects.toMatchObject({
      code: 'turn_not_current',
    });
    const { items } = await hive.prompts.list({ status: 'pending', limit: 10 });
    expect(items).toEqual([]);
  });
});

describe('anthropics/claude-agent-sdk-typescript #429: an interrupt before the first turn succeeds and stops nothing', () => {
  test('it says that nothing runs, and the turn that begins then is not stopped by it', async () => {
    const hive = await openTestHive();
    await claude(hive).start();
    await expect(interrupt(hive)).rejects.toMatchObject({ code: 'no_turn' });
    await runningTurn(hive, 'p1');
    expect(await claude(hive).pre('p1', 't1')).toBe('');
  });

  test('one that the end overtook says completed, and not aborted', async () => {
    const hive = await openTestHive();
    await runningTurn(hive, 'p1');
    const reply = interrupt(hive);
    await standing(hive);
    await claude(hive).stop('p1');
    expect((await reply).outcome).toBe('completed');
  });
});
