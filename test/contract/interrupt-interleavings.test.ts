/**
 * Random interleavings over one store, by several hives: turns begin, work, are asked to stop, stop, are
 * replaced, crash. Every request is answered once, by its own turn; every question ends as the table says.
 *
 * @module-tag one-winner
 * @module-tag library
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import type { InterruptOutcome } from '../../src/domain/interrupts.ts';
import { WHEN_TURN_ABORTED, type WhenTurnAborted } from '../../src/domain/prompts.ts';
import { CANCELS } from '../../src/domain/turns.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, eventsOf, HUMAN, openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { claude } from '../support/turns.ts';
import { moment } from '../support/wait.ts';

/** One step of the agent's client, or of somebody else. */
type Step =
  | { kind: 'prompt' | 'tool' | 'result' | 'batch' | 'stop' | 'session_end' | 'replace' }
  | { kind: 'interrupt'; named: boolean; timeout_ms: number; leaves: boolean }
  | { kind: 'withdraw' }
  | { kind: 'ask'; when_turn_aborted: WhenTurnAborted };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'prompt' as const,
        'tool' as const,
        'result' as const,
        'batch' as const,
        'stop' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('session_end' as const, 'replace' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('interrupt' as const),
      named: fc.boolean(),
      timeout_ms: fc.constantFrom(0, 5, 60_000),
      leaves: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      when_turn_aborted: fc.constantFrom(...WHEN_TURN_ABORTED),
    }),
  },
);

/** A step, the hive that takes it, the session that it concerns, and whether the others wait for it. */
interface Move {
  step: Step;
  hive: number;
  session: number;
  awaited: boolean;
}
const move: fc.Arbitrary<Move> = fc.record({
  step,
  hive: fc.nat({ max: 1 }),
  session: fc.nat({ max: 1 }),
  awaited: fc.boolean(),
});

interface Request {
  turn_id: string | null;
  patient: boolean;
  answers: (InterruptOutcome | string)[];
}

/** A session as its client sees it: one prompt after the other, tools between them. */
class Agent {
  readonly session_id: string;
  #prompt = 0;
  #tool = 0;
  constructor(session_id: string) {
    this.session_id = session_id;
  }

  async take(hive: OpenedHive, { kind }: Step): Promise<void> {
    const client = claude(hive, { session_id: this.session_id, env: {} });
    const id = `p${this.#prompt}`;
    switch (kind) {
      case 'prompt':
        this.#prompt += 1;
        await client.prompt(`p${this.#prompt}`);
        break;
      case 'tool':
        this.#tool += 1;
        await client.pre(id, `t${this.#tool}`);
        break;
      case 'result':
        await client.post(id, `t${this.#tool}`);
        break;
      case 'batch':
        await client.batch(id, `t${this.#tool}`);
        break;
      case 'stop':
        await client.stop(id);
        break;
      case 'session_end':
        await client.end(id);
        break;
      case 'replace':
        await hive.turns.start({ session_id: this.session_id, by: 'library' });
        break;
      default:
    }
  }
}

async function play(moves: readonly Move[]): Promise<void> {
  const store = tempStore();
  const hives = [await openTestHive(store), await openTestHive(store)];
  const agents = [new Agent('one'), new Agent('two')];
  const requests: Request[] = [];
  const running: Promise<unknown>[] = [];
  const [watcher] = hives;
  if (watcher === undefined) throw new Error('no hive');
  for (const agent of agents) await claude(watcher, { session_id: agent.session_id, env: {} }).start();

  async function take({ step: taken, hive: h, session: s }: Move): Promise<void> {
    const hive = hives[h];
    const agent = agents[s];
    if (hive === undefined || agent === undefined) return;
    const { session_id } = agent;
    if (taken.kind === 'interrupt') {
      const current = await hive.turns.current(session_id);
      const turn_id = taken.named ? (current?.turn_id ?? 'turn-none') : undefined;
      const request: Request = { turn_id: turn_id ?? null, patient: taken.timeout_ms > 1_000, answers: [] };
      requests.push(request);
      const leaving = new AbortController();
      const reply = hive.interrupts.interrupt({
        session: session_id,
        turn_id,
        timeout_ms: taken.timeout_ms,
        actor: HUMAN,
        signal: leaving.signal,
      });
      running.push(
        reply.then(
          (outcome) => void request.answers.push(outcome),
          (error: unknown) =>
            void request.answers.push(error instanceof HiveError ? error.code : String(error)),
        ),
      );
      if (taken.leaves) running.push(moment(2).then(() => leaving.abort()));
    } else if (taken.kind === 'withdraw') {
      await hive.interrupts.cancel({ session: session_id, actor: HUMAN });
    } else if (taken.kind === 'ask') {
      const { when_turn_aborted } = taken;
      await ask(hive, { question: 'Go on?', when_turn_aborted }, session_id);
    } else await agent.take(hive, taken);
  }

  for (const one of moves) {
    const taken = take(one);
    if (one.awaited) await taken;
    else running.push(taken);
  }
  // A request that still waits is answered by the end of the sessions.
  await moment(10);
  for (const { session_id } of agents) await claude(watcher, { session_id, env: {} }).end(undefined);
  await Promise.all(running);

  const known = new Set(['no_turn', 'turn_not_current', 'cancelled', 'session_not_found']);
  for (const { answers, turn_id, patient } of requests) {
    expect(answers).toHaveLength(1);
    const [answer] = answers;
    if (typeof answer === 'string') {
      expect([...known]).toContain(answer);
      continue;
    }
    if (turn_id !== null) expect(answer?.turn_id).toBe(turn_id);
    if (patient) expect(answer?.outcome).not.toBe('unconfirmed');
    const turn = await watcher.turns.get(answer?.turn_id ?? '');
    // The reply equals the record; only an asker that stopped waiting may know less.
    if (answer?.outcome !== 'unconfirmed') {
      expect(turn).toMatchObject({
        state: answer?.outcome,
        abort_reason: answer?.abort_reason,
        by: answer?.by,
      });
    }
  }
  await checkStore(watcher);
}

async function checkStore(hive: OpenedHive): Promise<void> {
  const { items } = await hive.prompts.list({ limit: 500 });
  for (const prompt of items) {
    const turn = prompt.turn_id === null ? null : await hive.turns.get(prompt.turn_id);
    const kind = turn === null || turn.state === 'in_progress' ? null : (turn.abort_reason ?? 'completed');
    const falls = kind !== null && CANCELS[kind](prompt);
    expect([prompt.status, prompt.cancel_reason]).toEqual(falls ? ['cancelled', kind] : ['pending', null]);
    expect(turn?.cancelled_prompts.includes(prompt.ask_id) ?? false).toBe(falls);
  }
  const turns = await eventsOf(hive, 'turn/changed');
  const ends = turns.filter(({ data }) => data['state'] !== 'in_progress');
  expect(new Set(ends.map(({ subject }) => subject)).size).toBe(ends.length);
  for (const { subject } of ends)
    expect(await hive.store.read((tx) => tx.turns.pendingInterrupts(subject ?? ''))).toEqual([]);
}

test('whatever the order, each request is answered once and by its own turn, and each question has the status that the table says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 25 }), (moves) => play(moves)),
    { numRuns: 20 },
  );
});
