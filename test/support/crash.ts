/**
 * Rounds of kill -9: an agent asks without pause, a desk and a coordinator answer without pause, and all
 * three are killed in the middle of it. Acknowledged requests are remembered, others are sent again
 * in the next round under the same key, as a client and an outbox do.
 */
import { expect } from 'vitest';
import { asksForRole } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type Random, randomOf } from '../chaos/random.ts';
import { openTestHive, withoutQuotas } from './hive.ts';
import { connectMcp, type McpCaller } from './mcp-client.ts';
import { type Sidecar, startSidecar } from './sidecar.ts';
import { tempStore } from './temp.ts';
import { eventually, moment } from './wait.ts';

interface Answer {
  ask_id: string;
  decision: string;
  response_id: string;
}

/** Facts that the clients know to be stored, and those that are in doubt. */
interface Books {
  /** question → ask_id */
  asked: Map<string, string>;
  unsureAsks: Set<string>;
  /** ask_id → the answer that was accepted */
  answered: Map<string, Answer>;
  unsureAnswers: Map<string, Answer>;
}

/** The kills come in the same order and after the same delays in every run; what they interrupt depends on the machine. */
const SEED = 20_260_322;

export async function crashRounds(rounds: number): Promise<void> {
  const store = tempStore();
  const hive = await withoutQuotas(await openTestHive(store));
  const books: Books = {
    asked: new Map(),
    unsureAsks: new Set(),
    answered: new Map(),
    unsureAnswers: new Map(),
  };
  const random = randomOf(SEED, 'crash');
  for (let round = 0; round < rounds; round += 1) await oneRound(store, round, random, books);
  await checkBooks(hive, books);
}

async function oneRound(store: string, round: number, random: Random, books: Books): Promise<void> {
  const [asker, coordinator, desk] = await Promise.all([
    connectMcp({ store, env: { HIVE_AGENT: 'asker' } }),
    connectMcp({ store, coordinates: true, env: { HIVE_AGENT: 'coordinator' } }),
    startSidecar(store),
  ]);
  const before = { asked: books.asked.size, answered: books.answered.size };
  const working = [
    askOn(asker, round, books),
    answerFromDesk(desk, books),
    answerFromCoordinator(coordinator, books),
  ];
  // First enough has to happen; then the kill comes at any moment.
  const isBusy = (): boolean =>
    books.asked.size > before.asked + 1 && books.answered.size > before.answered + 1;
  await eventually(isBusy, 20_000, `two questions and two answers in round ${round}`);
  await moment(random.between(0, 100));
  const killers = [() => asker.crash(), () => coordinator.crash(), () => desk.child.kill('SIGKILL')];
  for (const kill of killers.sort(() => random.next() - 0.5)) {
    void kill();
    await moment(random.between(0, 10));
  }
  await Promise.all([...working, asker.crash(), coordinator.crash(), desk.child.exited]);
}

/** Asks until it is killed, beginning with the questions that are in doubt. */
async function askOn(asker: McpCaller, round: number, { asked, unsureAsks }: Books): Promise<void> {
  const again = [...unsureAsks];
  for (let n = 0; ; n += 1) {
    const question = again[n] ?? `Question ${n} of round ${round}?`;
    unsureAsks.add(question);
    try {
      const result = await asker.call('hivemind_ask_async', {
        question,
        idempotency_key: question,
        urgency: 'low',
      });
      asked.set(question, String(result['ask_id']));
      unsureAsks.delete(question);
    } catch {
      return;
    }
  }
}

/** Answers each question that is announced, as Emacs does, beginning with answers that were not acknowledged. */
async function answerFromDesk(desk: Sidecar, { answered, unsureAnswers }: Books): Promise<void> {
  async function send(answer: Answer): Promise<void> {
    unsureAnswers.set(answer.ask_id, answer);
    const { accepted } = await desk.request('hivemind-response', { ...answer, by: 'ada' });
    unsureAnswers.delete(answer.ask_id);
    if (accepted === true) answered.set(answer.ask_id, answer);
  }
  const ended = desk.child.exited.then(() => Promise.reject(new Error('killed')));
  const sending = [...unsureAnswers.values()].map(send);
  let seen = 0;
  try {
    for (;;) {
      const asks = desk.frames.slice(seen).filter((frame) => frame.method === 'hivemind-ask');
      seen = desk.frames.length;
      for (const { params } of asks) {
        const { ask_id, kind } = params as { ask_id: string; kind: string };
        // The request for the role of the coordinator is granted elsewhere.
        if (kind === 'permission') continue;
        sending.push(send({ ask_id, decision: `desk to ${ask_id}`, response_id: `desk-${ask_id}` }));
      }
      await Promise.race([moment(1), ended]);
    }
  } catch {
    await Promise.race([Promise.allSettled(sending), moment(0)]);
  }
}

async function answerFromCoordinator(coordinator: McpCaller, { answered }: Books): Promise<void> {
  try {
    for (;;) {
      const { prompts } = await coordinator.call('hivemind_await_ask', { timeout_ms: 5_000 });
      for (const { ask_id } of (prompts as { ask_id: string }[]).toReversed()) {
        const decision = `coordinator to ${ask_id}`;
        const { accepted } = await coordinator.call('hivemind_respond', { ask_id, decision });
        if (accepted === true) answered.set(ask_id, { ask_id, decision, response_id: '' });
      }
    }
  } catch {
    return;
  }
}

/** Checks that every acknowledged question and answer is stored exactly once, and that the state agrees with the events. */
async function checkBooks(hive: OpenedHive, { asked, answered }: Books): Promise<void> {
  const all = await hive.store.read((tx) => tx.prompts.list({ limit: 100_000 }));
  const items = all.items.filter((prompt) => !asksForRole(prompt));
  const byQuestion = Map.groupBy(items, (prompt) => prompt.question);
  for (const [question, ask_id] of asked) {
    expect([question, byQuestion.get(question)?.map((prompt) => prompt.ask_id)]).toEqual([
      question,
      [ask_id],
    ]);
  }
  expect([...byQuestion.values()].filter((prompts) => prompts.length > 1)).toEqual([]);
  for (const prompt of items) {
    const { ask_id } = prompt;
    // Each round orphans it twice, and it may wait for all of them.
    const trail = await hive.store.read((tx) => tx.events.of(ask_id, 10_000));
    const count = (type: string): number => trail.filter((event) => event.type === type).length;
    expect([ask_id, count('prompt/created')]).toEqual([ask_id, 1]);
    expect([ask_id, count('prompt/responded')]).toEqual([ask_id, prompt.status === 'responded' ? 1 : 0]);
    const acknowledged = answered.get(ask_id);
    if (acknowledged !== undefined)
      expect([ask_id, prompt.decision]).toEqual([ask_id, acknowledged.decision]);
  }
}
