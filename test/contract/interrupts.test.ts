/**
 * Interrupts over one store: who gets which answer and when, and which sessions may be interrupted.
 *
 * @module-tag one-winner
 * @module-tag at-least-once
 * @module-tag library
 */

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { InterruptRequest } from '../../src/application/interrupts.ts';
import type { Turn } from '../../src/domain/turns.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { ENDED } from '../support/ended-process.ts';
import { ask, HUMAN, introduce, introduction, newHive, openTestHive } from '../support/hive.ts';
import { beginTurn, INTERRUPTED, interrupt, interruptStored } from '../support/interrupts.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { claude, endsOf, SESSION } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

// ---- Over one store ----
// The answers to requests: to whom, when, and which.

describe('every state of a turn and every request', () => {
  /** Brings the session into the state that the request finds; returns the turn that the request names. */
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
  /** `waits`: the request is stored. Otherwise the immediate reply. */
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

describe('the end of a turn answers everybody who waits', () => {
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

  test('200 askers in two processes’ worth of hives are all answered', async () => {
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
    const result = await Promise.all(replies);
    expect(new Set(result.map(({ interrupt_id }) => interrupt_id)).size).toBe(200);
    expect(result.every(({ outcome }) => outcome === 'aborted')).toBe(true);
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
  test('at its time limit an asker gets unconfirmed, and the request stays in force', async () => {
    const hive = await openTestHive();
    const turn = await beginTurn(hive);
    expect(await interrupt(hive, { timeout_ms: 30 })).toMatchObject({ outcome: 'unconfirmed', by: null });
    expect(await hive.interrupts.stopRequestFor(turn.turn_id)).toEqual({ by: 'ada', note: null });
    const [row] = await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id));
    expect(row).toMatchObject({ state: 'pending', unconfirmed_at: expect.any(String) });
    await hive.turns.end(turn.turn_id, INTERRUPTED);
    const [after] = await hive.store.read((tx) => tx.turns.interruptsOf(turn.turn_id));
    expect(after).toMatchObject({ state: 'answered', outcome: 'aborted' });
  });

  test('an asker that repeats an interrupt_id waits for the same request, or gets its outcome', async () => {
    const { store, hive } = await newHive();
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
    await expect(reply).rejects.toMatchObject({
      code: 'cancelled',
      message: `This call no longer waits for the end of ${turn.turn_id}. The interrupt stays in force.`,
    });
    expect(await hive.interrupts.stopRequestFor(turn.turn_id)).not.toBeNull();
  });

  test('a hive that closes leaves nobody waiting', async () => {
    const hive = await openTestHive();
    await beginTurn(hive);
    const { reply } = await interruptStored(hive);
    await hive.close();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('a withdrawn interrupt stops nothing, and its asker is told', async () => {
    const hive = await openTestHive();
    const turn = await beginTurn(hive);
    const { reply } = await interruptStored(hive);
    const other = await interruptStored(hive);
    expect(await hive.interrupts.cancel({ session: SESSION, actor: HUMAN })).toHaveLength(2);
    await expect(reply).rejects.toMatchObject({ code: 'cancelled', message: /withdrawn by ada/ });
    await expect(other.reply).rejects.toMatchObject({ code: 'cancelled' });
    expect(await hive.interrupts.stopRequestFor(turn.turn_id)).toBeNull();
    expect(await claude(hive).pre(undefined, 't1')).toBe('');
  });

  test('invalid requests are refused, and leave nothing waiting', async () => {
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

// ---- Whom an interrupt may reach ----
// One agent or all of them, and how the outcome is found if no hook reports it.

const agent = (session_id: string, ancestors: string[] = []) =>
  ({ kind: 'agent', by: 'Agent-x', via: 'mcp', session_id, ancestors }) as const;

test('a session cannot interrupt itself, nor one it descends from; a coordinator can interrupt another', async () => {
  const hive = await openTestHive();
  await beginTurn(hive);
  await expect(interrupt(hive, { actor: agent(SESSION) })).rejects.toMatchObject({ code: 'not_allowed' });
  await expect(interrupt(hive, { actor: agent('child', [SESSION]) })).rejects.toMatchObject({
    code: 'not_allowed',
  });
  await expect(interrupt(hive, { actor: agent('other') })).rejects.toMatchObject({ code: 'not_allowed' });
  const coordinator = { ...agent('other'), coordinates: [] };
  expect(await interrupt(hive, { actor: coordinator, timeout_ms: 0 })).toMatchObject({
    outcome: 'unconfirmed',
  });
});

describe('interrupt_all', () => {
  test('asks every session that runs a turn, and answers when all have', async () => {
    const hive = await openTestHive();
    const turns = [await beginTurn(hive, 'a-1'), await beginTurn(hive, 'b-2')];
    await introduce(hive, 'idle-3');
    const reply = hive.interrupts.interruptAll({ actor: HUMAN });
    for (const { turn_id } of turns)
      await eventually(async () => (await hive.interrupts.stopRequestFor(turn_id)) !== null);
    await hive.turns.end(turns[0]?.turn_id ?? '', INTERRUPTED);
    await hive.turns.end(turns[1]?.turn_id ?? '');
    const outcomes = (await reply).map((one) => [one.handle, 'error' in one ? one.error.code : one.outcome]);
    expect(outcomes).toEqual([
      ['Claude-a1', 'aborted'],
      ['Claude-b2', 'completed'],
    ]);
  });

  test('asks the subagents that continue without their parent, and no others', async () => {
    const hive = await openTestHive();
    const parents = ['claude-code', 'codex'];
    for (const client of parents) await beginTurn(hive, client, client);
    const child = async (client: string, name: string, source: 'main' | 'bg'): Promise<void> => {
      const session_id = `${client}:${name}`;
      await hive.sessions.introduce(introduction({ session_id, client, source, parent_session_id: client }));
      await hive.turns.start({ session_id });
    };
    await child('claude-code', 'inside', 'main');
    await child('claude-code', 'beside', 'bg');
    await child('codex', 'beside', 'main');
    const outcomes = await hive.interrupts.interruptAll({ actor: HUMAN, timeout_ms: 0 });
    expect(outcomes.map(({ session_id }) => session_id)).toEqual([
      'claude-code',
      'codex',
      'claude-code:beside',
      'codex:beside',
    ]);
  });

  test('with nothing running there is nothing to answer', async () => {
    const hive = await openTestHive();
    expect(await hive.interrupts.interruptAll({ actor: HUMAN })).toEqual([]);
  });
});

describe('the outcome, if no hook reports it', () => {
  const RECORDED = join(ROOT, 'test/wire/fixtures/claude-code/transcripts/esc-tool-stream-early-mcp.jsonl');
  const PROMPT_ID = '9a0e9700-0000-4000-8000-000000000001';

  async function onThisMachine(transcript: string, pid = process.pid) {
    const hive = await openTestHive();
    const { hostname } = await import('node:os');
    await hive.sessions.introduce(introduction({ machine: hostname(), pid }));
    const client = claude(hive, {
      env: { CLAUDE_PID: String(pid) },
      surroundings: { machine: hostname(), readTail: () => null },
    });
    await client.say('UserPromptSubmit', { prompt_id: PROMPT_ID, prompt: 'go', transcript_path: transcript });
    return hive;
  }

  test('Esc while somebody waits is found in the transcript: interrupted at the terminal', async () => {
    const transcript = join(tempFolder(), 'transcript.jsonl');
    writeFileSync(transcript, '');
    const hive = await onThisMachine(transcript);
    const reply = interrupt(hive);
    await eventually(
      async () =>
        (await hive.interrupts.stopRequestFor((await hive.turns.current(SESSION))?.turn_id ?? '')) !== null,
    );
    appendFileSync(transcript, readFileSync(RECORDED));
    expect(await reply).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'terminal' });
  });

  test('Esc before anybody asked: nothing is running', async () => {
    const hive = await onThisMachine(RECORDED);
    await expect(interrupt(hive)).rejects.toMatchObject({ code: 'no_turn' });
    expect(await endsOf(hive)).toEqual(['interrupted by terminal']);
  });

  test('a client that was killed answers nobody: its turn ended with it', async () => {
    const hive = await onThisMachine('/nowhere', ENDED);
    await expect(interrupt(hive)).rejects.toMatchObject({ code: 'no_turn' });
    expect(await endsOf(hive)).toEqual(['ended']);
    expect((await hive.sessions.find(SESSION))?.state).toBe('ended');
  });
});

test('a question asked at the moment of the stop is refused with the turn that is over', async () => {
  const hive = await openTestHive();
  const { turn_id } = await beginTurn(hive);
  await hive.turns.end(turn_id, INTERRUPTED);
  const session = await introduce(hive);
  await expect(hive.prompts.ask({ question: 'Still there?' }, session, turn_id)).rejects.toMatchObject({
    code: 'turn_not_current',
  });
  expect((await hive.prompts.list({ status: 'pending', limit: 10 })).items).toEqual([]);
});
