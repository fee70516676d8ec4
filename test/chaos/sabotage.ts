/**
 * Deliberate bugs, to see that the checker fails when it should: each breaks one invariant. `children/sabotage.ts` makes
 * them, in a build that lets the composition root ask for them (src/ambient.d.ts).
 */

export type SabotageName =
  | 'lost-commit'
  | 'asked-twice'
  | 'two-winners'
  | 'silence-decides'
  | 'late-dropped'
  | 'false-receipt'
  | 'not-delivered'
  | 'nobody'
  | 'own-answer'
  | 'skipped-event'
  | 'repeated-event'
  | 'own-call-held';

export interface Sabotage {
  /** The fault, in words. */
  what: string;
  /** The check that must find it (`checker.ts`). */
  found_by: string;
}

export const SABOTAGES: Readonly<Record<SabotageName, Sabotage>> = {
  'lost-commit': { what: 'one write in twenty is acknowledged and rolled back', found_by: 'acknowledged' },
  'asked-twice': { what: 'a key that has asked before asks once more', found_by: 'acknowledged' },
  'two-winners': {
    what: 'an answer to what is answered already is accepted as well',
    found_by: 'one winner',
  },
  'silence-decides': { what: 'a question that expires is decided', found_by: 'silence' },
  'late-dropped': { what: 'a late answer is thanked for and not kept', found_by: 'late answers' },
  'false-receipt': { what: 'an answer counts as read when it is handed over', found_by: 'receipts' },
  'not-delivered': { what: 'the asker is told that its question still waits', found_by: 'delivery' },
  nobody: { what: 'an answer is stored without who gave it', found_by: 'provenance' },
  'own-answer': { what: 'an agent may answer its own question', found_by: 'no self-approval' },
  'skipped-event': { what: 'a feed drops one batch in ten', found_by: 'feeds' },
  'repeated-event': { what: 'a feed hands one batch in ten out twice', found_by: 'feeds' },
  'own-call-held': { what: 'the mention gate holds the calls that clear it', found_by: 'guards' },
};

export const SABOTAGE_NAMES = Object.keys(SABOTAGES) as SabotageName[];

/** @throws Error that names what there is. */
export function sabotageNamed(name: string): SabotageName {
  const found = SABOTAGE_NAMES.find((one) => one === name);
  if (found === undefined)
    throw new Error(`There is no sabotage "${name}"; there are ${SABOTAGE_NAMES.join(', ')}.`);
  return found;
}
