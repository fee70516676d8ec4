/** Invariant 1: everything acknowledged is stored exactly once, and nothing else is stored. */
import { type Evidence, factsOf } from '../facts.ts';
import { type Check, type Finding, finding, groupBy, trails } from './check.ts';

export const acknowledged: Check = {
  name: 'acknowledged',
  proves: 'each acknowledged act is stored exactly once, and none is stored that nobody tried',
  run(evidence) {
    const found = finding();
    found.expect(
      evidence.store.integrity === 'ok',
      () => `The engine finds the store damaged: ${evidence.store.integrity}`,
    );
    for (const sentence of evidence.stuck ?? []) found.expect(false, () => sentence);
    questions(evidence, found);
    answers(evidence, found);
    messages(evidence, found);
    rest(evidence, found);
    madeUp(evidence, found);
    return found;
  },
};

function questions(evidence: Evidence, { expect }: Finding): void {
  const byKey = groupBy(evidence.store.prompts, 'idempotency_key');
  const byId = groupBy(evidence.store.prompts, 'ask_id');
  const trail = trails(evidence);
  for (const { key, ask_id } of factsOf(evidence, 'asked')) {
    const ids = byKey.get(key)?.map((row) => row['ask_id']) ?? [];
    expect(
      ids.length === 1 && ids[0] === ask_id,
      () => `"${key}" was acknowledged as ${ask_id}; stored under its key: ${ids.join(', ') || 'nothing'}.`,
    );
    const created = (trail.get(ask_id) ?? []).filter(({ type }) => type === 'prompt/created').length;
    expect(created === 1, () => `${ask_id} has ${created} events prompt/created, not 1.`);
  }
  for (const [question, rows] of groupBy(evidence.store.prompts, 'question'))
    expect(rows.length === 1, () => `"${question}" is stored ${rows.length} times.`);
  for (const { ask_id, accepted } of factsOf(evidence, 'cancelled')) {
    const status = byId.get(ask_id)?.[0]?.['status'];
    expect(
      !accepted || status === 'cancelled',
      () => `${ask_id} was acknowledged as cancelled, and is ${status}.`,
    );
  }
  for (const { ask_id } of factsOf(evidence, 'seen'))
    expect(
      byId.get(ask_id)?.[0]?.['seen_at'] != null,
      () => `${ask_id} was acknowledged as seen, and is not.`,
    );
}

function answers(evidence: Evidence, { expect }: Finding): void {
  const byDecision = groupBy(evidence.store.responses, 'decision');
  for (const { ask_id, decision, accepted, late } of factsOf(evidence, 'answered')) {
    const rows = byDecision.get(decision) ?? [];
    const outcome = accepted ? 'accepted' : late ? 'late' : 'lost';
    expect(
      rows.length === 1 && rows[0]?.['ask_id'] === ask_id && rows[0]?.['outcome'] === outcome,
      () => `The answer "${decision}" to ${ask_id} was acknowledged as ${outcome}; stored: ${told(rows)}.`,
    );
  }
  for (const { ask_id, decision } of factsOf(evidence, 'amended')) {
    const rows = byDecision.get(decision) ?? [];
    expect(
      rows.length === 1 && rows[0]?.['ask_id'] === ask_id && rows[0]?.['outcome'] === 'amendment',
      () => `The amendment "${decision}" of ${ask_id} was acknowledged; stored: ${told(rows)}.`,
    );
  }
}

function messages(evidence: Evidence, { expect }: Finding): void {
  const byBody = groupBy(evidence.store.messages, 'body');
  for (const { message_id, body } of factsOf(evidence, 'posted')) {
    const rows = byBody.get(body) ?? [];
    expect(
      rows.length === 1 && rows[0]?.['message_id'] === message_id,
      () => `"${body}" was acknowledged as ${message_id}; stored: ${rows.length} times.`,
    );
  }
}

function rest(evidence: Evidence, { expect }: Finding): void {
  const mentions = groupBy(evidence.store.mentions, 'mention_id');
  for (const id of factsOf(evidence, 'processed').flatMap(({ mention_ids }) => mention_ids)) {
    const status = mentions.get(id)?.[0]?.['status'];
    expect(status === 'processed', () => `${id} was acknowledged as processed, and is ${status}.`);
  }
  const turns = groupBy(evidence.store.turns, 'turn_id');
  for (const { turn_id, outcome, abort_reason } of factsOf(evidence, 'interrupted')) {
    if (outcome === 'unconfirmed') continue;
    const turn = turns.get(turn_id)?.[0];
    expect(
      turn?.['state'] === outcome && turn['abort_reason'] === abort_reason,
      () =>
        `${turn_id} was acknowledged as ${outcome} (${abort_reason}), and is ${turn?.['state']} (${turn?.['abort_reason']}).`,
    );
  }
}

function madeUp(evidence: Evidence, { expect }: Finding): void {
  const { prompts, responses, messages: posted } = evidence.store;
  const tried = new Set(factsOf(evidence, 'tried').map(({ what, text }) => `${what} ${text}`));
  for (const { ask_id, idempotency_key } of prompts)
    expect(
      tried.has(`ask ${idempotency_key}`),
      () => `${ask_id} is stored under the key "${idempotency_key}", with which nobody asked.`,
    );
  for (const { response_id, decision, outcome } of responses)
    expect(
      tried.has(`${outcome === 'amendment' ? 'amend' : 'answer'} ${decision}`),
      () => `${response_id} says "${decision}", which nobody answered.`,
    );
  for (const { message_id, body } of posted)
    expect(tried.has(`post ${body}`), () => `${message_id} says "${body}", which nobody posted.`);
}

function told(rows: readonly Readonly<Record<string, unknown>>[]): string {
  return rows.length === 0
    ? 'nothing'
    : rows.map((row) => `${row['outcome']} of ${row['ask_id']}`).join(', ');
}
