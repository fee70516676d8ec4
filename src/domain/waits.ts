/**
 * Waits: which questions block their agent, and the order of pending questions that follows from it. Pure.
 *
 * An agent is blocked by a question if it does nothing until the question is settled: a permission or another dialog of its
 * client, a blocking ask, a poll that waits, the wait of the Stop guard, or a sleeping run. Otherwise it keeps working.
 */
import { type Prompt, URGENCY_RANK } from './prompts.ts';

/** How often a waiting process renews its lease, in ms. */
export const WAIT_HEARTBEAT_MS = 30_000;

/**
 * How long a wait counts after its last sign of life, in ms. An agent that polls again within this time has waited all
 * along: its model takes a few seconds between two polls.
 */
const WAIT_GRACE_MS = 30_000;

/** The lease of a wait that needs no process: it lasts until the question is settled, or its session ends. */
export const STANDING_LEASE = '9999-12-31T23:59:59.999Z';

/** Until when a wait counts that still lasts `remaining_ms`, unless its process renews it. */
export function leaseOfWait(remaining_ms: number, now: string): string {
  const lasts = Math.min(Math.max(0, remaining_ms), WAIT_HEARTBEAT_MS) + WAIT_GRACE_MS;
  return new Date(Date.parse(now) + lasts).toISOString();
}

/** Sorts after every time. */
const NEVER = '9';

/**
 * The place of a pending prompt in every list, as a text that compares by characters: prompts that block their agent, then
 * the more urgent, those that expire sooner, the older. No two prompts have the same.
 */
export function orderKey(
  prompt: Pick<Prompt, 'ask_id' | 'blocked_since' | 'urgency' | 'expires_at' | 'created_at'>,
): string {
  const { ask_id, blocked_since, urgency, expires_at, created_at } = prompt;
  const blocked = blocked_since === null ? 1 : 0;
  return `${blocked}${URGENCY_RANK[urgency]} ${expires_at ?? NEVER} ${created_at} ${ask_id}`;
}
