/**
 * Guards hold an agent, or a message to it, a bounded number of times in a row (invariant 11). Then they give up and let
 * everything pass until there is progress; the human is notified once, when the guard gives up. Pure.
 */

/** The count of a guard. */
export interface Holds {
  /** How often it held in a row without progress. */
  holds: number;
  gave_up: boolean;
}

/** `give_up`: it has just given up, and its human is notified. */
export type GuardOpinion = 'hold' | 'give_up' | 'pass';

/** Decides the next thing that a guard may hold, at most `most` of them. */
export function holdAtMost(most: number, { holds, gave_up }: Holds): Holds & { opinion: GuardOpinion } {
  if (gave_up) return { opinion: 'pass', holds, gave_up };
  if (holds >= most) return { opinion: 'give_up', holds, gave_up: true };
  return { opinion: 'hold', holds: holds + 1, gave_up };
}
