/**
 * The loop guard: agents that keep replying to each other without a human message in between are still delivered to each other, but
 * no longer hold each other (docs/mentions.md). The caller passes the counts and gets the decision. Pure.
 */
import { timeAfter } from './times.ts';

/** A reply chain longer than this, counted since the last human message, is a loop. */
export const MOST_HOPS = 8;
/** More mentions than this between the same two agents within `PAIR_WINDOW_MS` are a loop. */
export const MOST_MENTIONS = 6;
const PAIR_WINDOW_MS = 5 * 60 * 1000;

/** Two sessions, in a fixed order, so that (a, b) and (b, a) are the same pair. */
export interface Pair {
  first_session_id: string;
  second_session_id: string;
}

/**
 * The loop state of a pair. `tripped`: its mentions no longer gate. `muted`: none are delivered, by the human's choice. `allowed`:
 * the human let it continue.
 */
export interface Loop extends Pair {
  state: 'tripped' | LoopDecision;
  at: string;
  /** The `seq` of the newest message then. */
  seq: number;
  reason: string;
}

/** The human's decisions about a pair. */
export const LOOP_DECISIONS = ['allowed', 'muted'] as const;
export type LoopDecision = (typeof LOOP_DECISIONS)[number];

/** The `seq` of the newest message when the human let a pair continue; 0 if they did not. */
export function allowedAt(loop: Loop | undefined): number {
  return loop?.state === 'allowed' ? loop.seq : 0;
}

/** The pair of two sessions, in its fixed order. */
export function pairOf(a: string, b: string): Pair {
  return a < b
    ? { first_session_id: a, second_session_id: b }
    : { first_session_id: b, second_session_id: a };
}

/** The hop count of an agent's reply to `parent`. It restarts when a human posts; `spoke` is the newest `seq` at that time. */
export function hopsAfter(parent: { hops: number; seq: number } | null, spoke: number): number {
  if (parent === null) return 0;
  return spoke >= parent.seq ? 1 : parent.hops + 1;
}

/** The start of the time window in which a pair's mentions count. */
export function windowBefore(now: string): string {
  return timeAfter(now, -PAIR_WINDOW_MS);
}

/** Why a further mention between two agents must not gate; null when it may. `before` counts the earlier ones. */
export function loopReason({ hops, before }: { hops: number; before: number }): string | null {
  if (hops > MOST_HOPS) return `a chain of ${hops} replies`;
  if (before + 1 > MOST_MENTIONS) return `${before + 1} mentions of each other within 5 minutes`;
  return null;
}

/** Whether the human was already notified of this loop. A loop from before their last message is a different one. */
export function isLoopNotified(loop: Loop | undefined, spoke: number): boolean {
  return loop !== undefined && loop.state === 'tripped' && loop.seq > spoke;
}
