/** Invariants 4, 5 and 6: the receipts of a prompt, and that its answer reaches its asker. */
import { factsOf, type StoredRow } from '../facts.ts';
import { type Check, decisionOf, finding, groupBy, trails } from './check.ts';

/** The receipt that each event stamps: its time is the event's own. */
const STAMPS: Readonly<Record<string, string>> = {
  'prompt/created': 'created_at',
  'prompt/offered': 'offered_at',
  'prompt/seen': 'seen_at',
  'prompt/handed': 'handed_at',
  'prompt/collected': 'collected_at',
};
const ANSWERED: ReadonlySet<unknown> = new Set(['prompt/responded', 'prompt/late_response']);
const SETTLED: ReadonlySet<unknown> = new Set(['prompt/responded', 'prompt/expired', 'prompt/cancelled']);

/** By the order of events and not by time: the clock is set back now and then, and time with it. */
export const receipts: Check = {
  name: 'receipts',
  proves:
    'receipts come in order (created, settled, handed, collected), each at the time of its event; no answer is amended once handed',
  run(evidence) {
    const found = finding();
    for (const [ask_id, trail] of trails(evidence)) {
      const order = trail.map(({ type }) => String(type).slice('prompt/'.length)).join(' → ');
      for (const wrong of outOfOrder(trail)) found.expect(false, () => `${ask_id}: ${wrong}, in ${order}.`);
      found.expect(
        trail[0]?.['type'] === 'prompt/created',
        () => `${ask_id} begins otherwise than by being created: ${order}.`,
      );
    }
    const byId = trails(evidence);
    for (const prompt of evidence.store.prompts) {
      const trail = byId.get(String(prompt['ask_id'])) ?? [];
      // A late answer resets these two.
      const since = trail.findLastIndex(({ type }) => type === 'prompt/late_response');
      for (const [type, column] of Object.entries(STAMPS)) {
        const opens = column === 'handed_at' || column === 'collected_at';
        const stamped = trail.findLast((event, index) => event['type'] === type && (!opens || index > since));
        const at = stamped?.['at'] ?? null;
        found.expect(
          prompt[column] === at,
          () => `${prompt['ask_id']} has ${column} ${prompt[column]}; its log says ${at}.`,
        );
      }
    }
    return found;
  },
};

function outOfOrder(trail: readonly StoredRow[]): string[] {
  const wrong: string[] = [];
  let settled = false;
  let handed = false;
  let collected = false;
  for (const { type } of trail) {
    if (type === 'prompt/handed' && !settled) wrong.push('handed before it was settled');
    if (type === 'prompt/handed' && collected) wrong.push('handed again after it was read');
    if (type === 'prompt/collected' && !handed) wrong.push('read before it was handed');
    if (type === 'prompt/amended' && handed) wrong.push('amended after it was handed');
    if (SETTLED.has(type)) settled = true;
    if (type === 'prompt/handed') handed = true;
    if (type === 'prompt/collected') collected = true;
    if (ANSWERED.has(type)) handed = collected = false;
  }
  return wrong;
}

export const delivery: Check = {
  name: 'delivery',
  proves: 'what counts as read was read by its asker, who was told what stands, a late answer too',
  run(evidence) {
    const found = finding();
    const prompts = groupBy(evidence.store.prompts, 'ask_id');
    const told = Map.groupBy(factsOf(evidence, 'told'), ({ ask_id }) => ask_id);
    for (const { ask_id } of factsOf(evidence, 'asked')) {
      const prompt = prompts.get(ask_id)?.[0];
      if (prompt === undefined) continue;
      const heard = told.get(ask_id) ?? [];
      const { status, collected_at } = prompt;
      found.expect(
        collected_at === null || heard.length > 0,
        () => `${ask_id} counts as read at ${collected_at}; its asker was never told.`,
      );
      const late = decisionOf(prompt['late_response']);
      if (status !== 'responded' && late === null) continue;
      // At the end of the run every asker polls what it has open, and what ended without an answer.
      const decision = String(late ?? prompt['decision']);
      const last = heard.at(-1);
      found.expect(
        last?.text.includes(decision) === true,
        () => `${ask_id} says "${decision}"; its asker was told last: ${last?.text ?? 'nothing'}.`,
      );
    }
    for (const { ask_id, status } of factsOf(evidence, 'told')) {
      const stands = prompts.get(ask_id)?.[0]?.['status'];
      found.expect(
        status === stands,
        () => `The asker of ${ask_id} was told that it is ${status}; it is ${stands}.`,
      );
    }
    return found;
  },
};
