/** Interrupts over one store: who is answered, when, and with what. */
import { describe, expect, test } from 'vitest';
import type { InterruptRequest } from '../../src/application/interrupts.ts';
import type { Turn } from '../../src/domain/turns.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { beginTurn, INTERRUPTED, interrupt, interruptStored } from '../support/interrupts.ts';
import { tempStore } from '../support/temp.ts';
import { claude, SESSION } from '../support/turns.ts';
import { eventually, timed } from '../support/wait.ts';

describe('every state of a turn and every request', () => {
  /** The state in which the request meets the session, made here; returns the turn that is named. */
  const states: Record<string, (hive: OpenedHive) => Promise<Turn>> = {
    'in progress': (hive) => beginTurn(hive),
    completed: async (hive) => hive.turns.end((await beginTurn(hive)).turn_id),
    interrupted: async (hive) => hive.turns.end((await beginTurn(hive)).turn_id, INTERRUPTED),
    replaced: async (hive) => {
      const turn = await beginTurn(hive);
      const next = await hive.turns.start({ session_id: SESSION, by: 'library' });
      await hive.turns.end(next.turn_id);
      return turn;
    },
    ended: async (hive) => hive.turns.end((await beginTurn(hive)).turn_id, { aborted: 'ended' }),
    unknown: async (hive) => hive.turns.end((await beginTurn(hive)).turn_id, { aborted: 'unknown' }),
    'interrupted, and the next one runs': async (hive) => {
      const turn = await hive.turns.end((await beginTurn(hive)).turn_id, INTERRUPTED);
      await beginTurn(hive);
      return turn;
    },
    'completed, and the next one runs': async (hive) => {
      const turn = await hive.turns.end((await beginTurn(hive)).turn_id);
      await beginTurn(hive);
      return turn;
    },
  };
  const requests: Record<string, (turn: Turn) => Partial<InterruptRequest>> = {
    'without an id': () => ({}),
    'with its id': ({ turn_id }) => ({ turn_id }),
    'with an id that nobody knows': () => ({ turn_id: 'turn-nobody' }),
  };
  /** `waits`: the request is taken down. Else what is said at once. */
  const expected: Record<string, [string, string, string]> = {
    'in progress': ['waits', 'waits', 'turn_not_current'],
    completed: ['no_turn', 'turn_not_current', 'turn_not_current'],
    interrupted: ['no_turn', 'aborted', 'turn_not_current'],
    replaced: ['no_turn', 'turn_not_current', 'turn_not_current'],
    ended: ['no_turn', 'turn_not_current', 'turn_not_current'],
    unknown: ['no_turn', 'turn_not_current', 'turn_not_current'],
    'interrupted, and the next one runs': ['waits', 'aborted', 'turn_not_current'],
    'completed, and the next one runs': ['waits', 'turn_not_current', 'turn_not_current'],
  };
  const pairs = Object.keys(states).flatMap((state) =>
    Object.keys(requests).map((request, n) => [state, request, expected[state]?.[n] ?? ''] as const),
  );

  test.each(pairs)('%s, asked %s: %s', async (state, request, outcome) => {
    const hive = await openTestHive();
    const turn = await (states[state] ?? beginTurn)(hive);
    const changes = requests[request]?.(turn) ?? {};
    const reply = interrupt(hive, { ...changes, timeout_ms: 0 });
    const said = await reply.then(
      ({ outcome: of }) => (of === 'unconfirmed' ? 'waits' : of),
      (error: { code: string }) => error.code,
    );
    expect(said).toBe(outcome);
    // A refusal leaves nothing waiting.
    const current = await hive.turns.current(SESSION);
    const pending = await hive.store.read((tx) => tx.turns.pendingInterrupts(current?.turn_id ?? ''));
    expect(pending).toHaveLength(outcome === 'waits' ? 1 : 0);
  });

  test('a refusal names the turn that runs', async () => {
    const hive = await openTestHive();
    const { turn_id } = await beginTurn(hive);
    await expect(interrupt(hive, { turn_id: 'turn-other' })).rejects.toMatchObject({
      code: 'turn_not_current',
      message: expect.stringContaining(turn_id),
      details: { current: turn_id },
    });
  });
});

describe('the end answers everybody who waits', () => {
  test.each([
    ['completed', {}, { outcome: 'completed', abort_reason: null, by: null }],
    ['interrupted', INTERRUPTED, { outcome: 'aborted', abort_reason: 'interrupted', by: 'ada' }],
    ['ended', { aborted: 'ended' }, { outcome: 'aborted', abort_reason: 'ended', by: null }],
    ['unknown', { aborted: 'unknown' }, { outcome: 'aborted', abort_reason: 'unknown', by: null }],
  ] as const)('%s', async (_name, end, outcome) => {
    const store = tempStore();
    const [one, two] = [await openTestHive(store), await openTestHive(store)];
    const turn = await beginTurn(one);
    const replies = [
      await interruptStored(one),
      await interruptStored(two, { turn_id: turn.turn_id }),
      await interruptStored(two),
    ];
    await two.turns.end(turn.turn_id, end);
    for (const { reply } of replies) expect(await reply).toMatchObject({ ...outcome, turn_id: turn.turn_id });
    expect(await one.store.read((tx) => tx.turns.pendingInterrupts(turn.turn_id))).toEqual([]);
  });

  test('200 askers in two processes’ worth of hives are answered within 250 ms', async () => {
    const store = tempStore();
    const hives = [await openTestHive(store), await openTestHive(store)];
    const [hive] = hives;
    if (hive === undefined) throw new Error('no hive');
    const turn = await beginTurn(hive);
    const replies = Array.from({ length: 200 }, (_, n) => interrupt(hives[n % 2] ?? hive));
    await eventually(
      async () =>
        (await hive.store.read((tx) => tx.turns.pendingInterrupts(turn.turn_id))).length === replies.length,
    );
    await hive.turns.end(turn.turn_id, INTERRUPTED);
    const { result, ms } = await timed(() => Promise.all(replies));
    expect(new Set(result.map(({ interrupt_id }) => interrupt_id)).size).toBe(200);
    expect(result.every(({ outcome }) => outcome === 'aborted')).toBe(true);
    expect(ms).toBeLessThan(250);
  });

  test('nobody is told before the questions are cancelled: one transaction', async () => {
    const store = tempStore();
    const [one, two] = [await openTestHive(store), await openTestHive(store)];
    const turn = await beginTurn(one);
    const prompt = await ask(one);
    const { reply } = await interruptStored(two);
    const seen = reply.then(async () => (await two.prompts.get(prompt.ask_id)).status);
    await one.turns.end(turn.turn_id, INTERRUPTED);
    expect(await seen).toBe('cancelled');
  });
});

describe('waiting and not waiting', () => {
  test('after its time an asker is told unconfirmed, and the request stays in force', async () => {
    const hive = await openTestHive();
    const turn = await beginTurn(hive);
    expect(await interrupt(hive, { timeout_ms: 30 })).toMatchObject({ outcome: 'unconfirmed', by: null });
    expect(await hive.interrupts.orderFor(turn.turn_id)).toEqual({ by: 'ada', note: null });
    const [row] = await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id));
    expect(row).toMatchObject({ state: 'pending', unconfirmed_at: expect.any(String) });
    await hive.turns.end(turn.turn_id, INTERRUPTED);
    const [after] = await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id));
    expect(after).toMatchObject({ state: 'answered', outcome: 'aborted' });
  });

  test('who asks again under the same interrupt_id waits for the same request, or gets its outcome', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive);
    await interrupt(hive, { interrupt_id: 'interrupt-mine', timeout_ms: 0 });
    const again = await openTestHive(store);
    const reply = interrupt(again, { interrupt_id: 'interrupt-mine' });
    await hive.turns.end(turn.turn_id);
    expect(await reply).toMatchObject({ outcome: 'completed', interrupt_id: 'interrupt-mine' });
    expect(await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id))).toHaveLength(1);
    expect(await interrupt(again, { interrupt_id: 'interrupt-mine' })).toMatchObject({
      outcome: 'completed',
    });
  });

  test('an asker that goes away withdraws its waiting, not the interrupt', async () => {
    const hive = await openTestHive();
    const turn = await beginTurn(hive);
    const gone = new AbortController();
    const { reply } = await interruptStored(hive, { signal: gone.signal });
    gone.abort();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    expect(await hive.interrupts.orderFor(turn.turn_id)).not.toBeNull();
  });

  test('a hive that closes leaves nobody waiting', async () => {
    const hive = await openTestHive();
    await beginTurn(hive);
    const { reply } = await interruptStored(hive);
    await hive.close();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('withdrawn, it stops nothing any more, and its asker is told so', async () => {
    const hive = await openTestHive();
    const turn = await beginTurn(hive);
    const { reply } = await interruptStored(hive);
    const other = await interruptStored(hive);
    expect(await hive.interrupts.cancel({ session: SESSION, actor: HUMAN })).toHaveLength(2);
    await expect(reply).rejects.toMatchObject({ code: 'cancelled', message: /withdrawn by ada/ });
    await expect(other.reply).rejects.toMatchObject({ code: 'cancelled' });
    expect(await hive.interrupts.orderFor(turn.turn_id)).toBeNull();
    expect(await claude(hive).pre(undefined, 't1')).toBe('');
  });

  test('nonsense is refused, and leaves nothing waiting', async () => {
    const hive = await openTestHive();
    const turn = await beginTurn(hive);
    await expect(interrupt(hive, { timeout_ms: -1 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(interrupt(hive, { note: 'x'.repeat(2_001) })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(interrupt(hive, { session: 'Nobody' })).rejects.toMatchObject({ code: 'session_not_found' });
    expect(await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id))).toEqual([]);
  });
});
