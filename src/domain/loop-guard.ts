/**
 * The loop guard (docs/mentions.md): agents that keep answering each other without a human word in between
 * are still heard, but no longer hold each other up. Pure: counts are given, the verdict comes back.
 */

/** A reply chain longer than this, counted since the last human word, is a loop. */
export const MOST_HOPS = 8;
/** More mentions than this between the same two agents within `PAIR_WINDOW_MS` are a loop. */
export const MOST_MENTIONS = 6;
export const PAIR_WINDOW_MS = 5 * 60 * 1000;

/** Two sessions, in the one order that makes (a, b) and (b, a) the same pair. */
export interface Pair {
  first_session_id: string;
  second_session_id: string;
}

/** What is remembered of a pair. `tripped`: mentions no longer gate. `muted`: the human wants none delivered. */
export interface Loop extends Pair {
  state: 'tripped' | 'muted';
  at: string;
  /** The last message then. */
  seq: number;
  reason: string;
}

export function pairOf(a: string, b: string): Pair {
  return a < b
    ? { first_session_id: a, second_session_id: b }
    : { first_session_id: b, second_session_id: a };
}

/** The hop count of an agent's answer to `parent`: it begins anew where a human has spoken since, `spoke` being the last message then. */
export function hopsAfter(parent: { hops: number; seq: number } | null, spoke: number): number {
  if (parent === null) return 0;
  return spoke >= parent.seq ? 1 : parent.hops + 1;
}

/** From when on mentions of a pair count. */
export function windowBefore(now: string): string {
  return new Date(Date.parse(now) - PAIR_WINDOW_MS).toISOString();
}

/** Why a further mention between two agents must not gate; null when it may. `before` counts those that came earlier. */
export function loopReason({ hops, before }: { hops: number; before: number }): string | null {
  if (hops > MOST_HOPS) return `a chain of ${hops} replies`;
  if (before + 1 > MOST_MENTIONS) return `${before + 1} mentions of each other within 5 minutes`;
  return null;
}

/** Whether the human has been told of this loop already: a loop from before their last word is another one. */
export function isTold(loop: Loop | undefined, spoke: number): boolean {
  return loop !== undefined && loop.state === 'tripped' && loop.seq > spoke;
}
