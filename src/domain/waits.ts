/**
 * Waits: which questions block their agent, and for how long a wait counts. Pure. Blocking questions come first among the
 * pending ones (`orderKey` in prompts.ts).
 *
 * An agent is blocked by a question if it does nothing until the question is settled: a permission or another dialog of its
 * client, a blocking ask, a poll that waits, the wait of the Stop guard, or a sleeping run. Otherwise it keeps working.
 */
import { timeAfter } from './times.ts';

/** How often a waiting process renews its lease, in ms. */
export const WAIT_HEARTBEAT_MS = 30_000;

/**
 * How long a wait counts after its last renewal, in ms. An agent that polls again within this time counts as waiting all along,
 * because its model takes a few seconds between two polls.
 */
const WAIT_GRACE_MS = 30_000;

/** The lease of a wait that needs no process: it lasts until the question is settled, or its session ends. */
export const STANDING_LEASE = '9999-12-31T23:59:59.999Z';

/** The end of the lease of a wait that will last `remaining_ms` more, unless its process renews it. */
export function leaseOfWait(remaining_ms: number, now: string): string {
  const lasts = Math.min(Math.max(0, remaining_ms), WAIT_HEARTBEAT_MS) + WAIT_GRACE_MS;
  return timeAfter(now, lasts);
}
