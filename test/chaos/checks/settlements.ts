/** Invariants 2, 3, 4, 8 and 9: how prompts are settled, and by whom. */
import { factsOf, type StoredRow } from '../facts.ts';
import { amendments, type Check, decisionOf, finding, groupBy, trails } from './check.ts';

const SETTLING: ReadonlySet<unknown> = new Set(['prompt/responded', 'prompt/expired', 'prompt/cancelled']);

export const oneWinner: Check = {
  name: 'one winner',
  proves: 'a prompt leaves pending once, for one answer, and every loser was shown an answer that stood',
  run(evidence) {
    const found = finding();
    const trail = trails(evidence);
    const responses = groupBy(evidence.store.responses, 'ask_id');
    const amended = amendments(evidence);
    const won = Map.groupBy(
      factsOf(evidence, 'answered').filter(({ accepted }) => accepted),
      ({ ask_id }) => ask_id,
    );
    for (const prompt of evidence.store.prompts) {
      const { ask_id, status, decision } = prompt as { ask_id: string; status: string; decision: unknown };
      const settled = (trail.get(ask_id) ?? [])
        .filter(({ type }) => SETTLING.has(type))
        .map(({ type }) => type);
      const expected = status === 'pending' ? '' : `prompt/${status}`;
      found.expect(
        settled.join() === expected,
        () => `${ask_id} is ${status}, and its log says ${settled.join(', ') || 'nothing'}.`,
      );
      const accepted = (responses.get(ask_id) ?? []).filter(({ outcome }) => outcome === 'accepted');
      found.expect(
        accepted.length === (status === 'responded' ? 1 : 0),
        () => `${ask_id} is ${status} and has ${accepted.length} accepted answers.`,
      );
      const winners = won.get(ask_id) ?? [];
      found.expect(
        winners.length <= 1,
        () =>
          `${ask_id}: ${winners.length} were told that their answer was accepted (${winners.map((one) => one.decision).join('; ')}).`,
      );
      if (status !== 'responded') continue;
      const standing = [...accepted, ...(amended.get(ask_id) ?? [])].map((row) => row['decision']);
      found.expect(
        standing.includes(decision),
        () => `${ask_id} says "${decision}", which is neither its accepted answer nor an amendment of it.`,
      );
      const last = (trail.get(ask_id) ?? []).findLast(
        ({ type }) => type === 'prompt/responded' || type === 'prompt/amended',
      );
      found.expect(
        decisionOf(last?.['data']) === decision,
        () => `${ask_id} says "${decision}", and its log said last "${decisionOf(last?.['data'])}".`,
      );
    }
    for (const { ask_id, decision, accepted, late, standing } of factsOf(evidence, 'answered')) {
      if (accepted || late || standing === null) continue;
      const known = (responses.get(ask_id) ?? [])
        .filter(({ outcome }) => outcome !== 'lost')
        .map((row) => row['decision']);
      found.expect(
        known.includes(standing),
        () => `"${decision}" lost at ${ask_id} to "${standing}", which never stood there.`,
      );
    }
    return found;
  },
};

export const silence: Check = {
  name: 'silence',
  proves: 'what expired or was taken back carries no decision, in the store and towards its asker',
  run(evidence) {
    const found = finding();
    for (const prompt of evidence.store.prompts) {
      const { ask_id, status, decision, selected, comment, response_id } = prompt;
      if (status === 'responded') continue;
      const empty =
        decision === null && comment === null && response_id === null && (selected as unknown[]).length === 0;
      found.expect(empty, () => `${ask_id} is ${status} and carries "${decision}".`);
    }
    for (const { ask_id, status, decision } of factsOf(evidence, 'told'))
      found.expect(
        status === 'responded' || decision === null,
        () => `The asker of ${ask_id} was told that it is ${status}, with the decision "${decision}".`,
      );
    return found;
  },
};

export const lateAnswers: Check = {
  name: 'late answers',
  proves: 'a late answer that was acknowledged is kept beside its prompt',
  run(evidence) {
    const found = finding();
    const prompts = groupBy(evidence.store.prompts, 'ask_id');
    const amended = amendments(evidence);
    for (const { ask_id, decision, late } of factsOf(evidence, 'answered')) {
      if (!late) continue;
      const prompt = prompts.get(ask_id)?.[0];
      const allowed = [decision, ...(amended.get(ask_id) ?? []).map((row) => row['decision'])];
      const kept = decisionOf(prompt?.['late_response']);
      found.expect(
        allowed.includes(kept),
        () => `The late answer "${decision}" to ${ask_id} was acknowledged; kept there: "${kept}".`,
      );
    }
    return found;
  },
};

export const provenance: Check = {
  name: 'provenance',
  proves: 'every settlement and every answer says who, through what and when',
  run(evidence) {
    const found = finding();
    const says = (row: StoredRow, columns: readonly string[]): boolean =>
      columns.every((column) => typeof row[column] === 'string' && row[column] !== '');
    const OWED: Readonly<Record<string, readonly string[]>> = {
      pending: [],
      responded: ['by', 'via', 'responded_at', 'settled_at', 'response_id'],
      cancelled: ['by', 'via', 'settled_at', 'cancel_reason'],
      expired: ['via', 'settled_at'],
    };
    for (const prompt of evidence.store.prompts)
      found.expect(
        says(prompt, OWED[String(prompt['status'])] ?? []),
        () =>
          `${prompt['ask_id']} is ${prompt['status']}: by ${prompt['by']}, via ${prompt['via']}, at ${prompt['settled_at']}.`,
      );
    for (const response of evidence.store.responses)
      found.expect(
        says(response, ['by', 'via', 'responded_at']),
        () =>
          `The answer ${response['response_id']}: by ${response['by']}, via ${response['via']}, at ${response['responded_at']}.`,
      );
    return found;
  },
};

export const noSelfApproval: Check = {
  name: 'no self-approval',
  proves: "no agent's answer stands at its own question or at a permission",
  run(evidence) {
    const found = finding();
    const prompts = groupBy(evidence.store.prompts, 'ask_id');
    for (const response of evidence.store.responses) {
      const prompt = prompts.get(String(response['ask_id']))?.[0];
      if (response['via'] !== 'mcp' || prompt === undefined) continue;
      found.expect(
        prompt['agent'] !== response['by'],
        () => `${response['by']} answered its own question ${prompt['ask_id']}.`,
      );
      found.expect(
        prompt['kind'] !== 'permission',
        () => `${response['by']}, an agent, answered the permission ${prompt['ask_id']}.`,
      );
    }
    return found;
  },
};
