/** Invariant 10: no process misses a committed event, or sees one twice. */
import { type Evidence, type Fact, factsOf } from '../facts.ts';
import { type Check, type Finding, finding } from './check.ts';

export const feeds: Check = {
  name: 'feeds',
  proves:
    'no committed event is skipped or repeated in a feed, through every death of its reader; events are in order',
  run(evidence) {
    const found = finding();
    const seqs = evidence.store.events.map(({ seq }) => Number(seq));
    for (const [index, seq] of seqs.entries())
      found.expect(
        index === 0 || seq > (seqs[index - 1] ?? 0),
        () => `The event ${seq} comes after ${seqs[index - 1]} in the log.`,
      );
    for (const { worker, facts } of evidence.logs) {
      if (facts.some(({ did }) => did === 'followed'))
        follower(worker, facts, { seqs, cut: evidence.cut === true }, found);
      if (facts.some(({ did }) => did === 'opened')) desk(worker, facts, evidence, found);
    }
    for (const { what, code, message } of factsOf(evidence, 'failed'))
      found.expect(code !== 'unseen', () => `${what}: ${message}`);
    return found;
  },
};

/** A follower saw every event after its first cursor, in order, up to the last that was there when the run ended. */
function follower(
  worker: string,
  facts: readonly Fact[],
  { seqs, cut }: { seqs: readonly number[]; cut: boolean },
  { expect }: Finding,
): void {
  const after = facts.find((fact) => fact.did === 'followed')?.after ?? 0;
  const head = seqs.at(-1) ?? 0;
  const owed = seqs.filter((seq) => seq > after);
  const there = new Set(seqs);
  // A power cut takes back what was not on disk, and its numbers are not used again.
  const saw = facts.flatMap((fact) =>
    fact.did === 'saw' && fact.seq <= head && (!cut || there.has(fact.seq)) ? fact.seq : [],
  );
  const difference = firstDifference(saw, owed);
  expect(difference === null, () => `${worker} ${difference}.`);
}

/** Each life of a desk was notified of the messages after its opening, in order; the last life of all of them. */
function desk(worker: string, facts: readonly Fact[], { store }: Evidence, { expect }: Finding): void {
  const posted = store.events.filter(({ type }) => type === 'message/posted');
  const lives = livesOf(facts);
  for (const [index, { head_seq, messages }] of lives.entries()) {
    const owed = posted.filter(({ seq }) => Number(seq) > head_seq).map(({ subject }) => String(subject));
    const until = index === lives.length - 1 ? owed : owed.slice(0, messages.length);
    const difference = firstDifference(messages, until);
    expect(difference === null, () => `${worker}, in its life ${index + 1}, ${difference}.`);
  }
  const last = lives.at(-1);
  const created = store.events.filter(
    ({ type, seq }) => type === 'prompt/created' && Number(seq) > (last?.head_seq ?? 0),
  );
  for (const { subject } of created)
    expect(
      last?.prompts.has(String(subject)) === true,
      () => `${worker} was open when ${subject} was asked, and was never told of it.`,
    );
}

function livesOf(facts: readonly Fact[]): { head_seq: number; messages: string[]; prompts: Set<string> }[] {
  const lives: { head_seq: number; messages: string[]; prompts: Set<string> }[] = [];
  for (const fact of facts) {
    if (fact.did === 'opened') lives.push({ head_seq: fact.head_seq, messages: [], prompts: new Set() });
    if (fact.did !== 'heard') continue;
    if (fact.method === 'message/posted') lives.at(-1)?.messages.push(fact.id);
    else lives.at(-1)?.prompts.add(fact.id);
  }
  return lives;
}

/** In words; null where both are the same. */
function firstDifference<T>(saw: readonly T[], owed: readonly T[]): string | null {
  const length = Math.max(saw.length, owed.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [saw[index], owed[index]];
    if (one === other) continue;
    if (one === undefined) return `missed ${other}, which is there`;
    if (saw.indexOf(one) < index) return `was told ${one} twice`;
    return other === undefined
      ? `was told ${one}, which is not there`
      : `was told ${one} where ${other} was next`;
  }
  return null;
}
