/**
 * Rates: how often something may happen. A rate is a bucket of credits that refills over time, one credit at a time. The stored
 * state and the store's clock decide, so a restart changes nothing, and setting the clock back costs at most the time since the
 * last credit. Used for the quotas of sessions (quotas.ts), the budget of background sessions (outreach.ts) and the popups that
 * break through quiet times (popups.ts). Pure.
 */
import { timeAfter } from './times.ts';

/** A bucket as it is stored. */
export interface Bucket {
  /** `*` for all background sessions, `quota:…` for a quota, `quiet:…` for a seat. */
  name: string;
  /** Credits left. */
  credits: number;
  /** Since when the next credit has been accruing. */
  since: string;
}

/** How many credits a bucket holds, and how fast they come back. */
export interface Rate {
  capacity: number;
  /** One credit comes back after this many ms. */
  refill_ms: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** The rate of `capacity` events in `per_ms` milliseconds. */
export function rate(capacity: number, per_ms: number): Rate {
  return { capacity, refill_ms: per_ms / capacity };
}

export function fullBucket(name: string, { capacity }: Rate, now: string): Bucket {
  return { name, credits: capacity, since: now };
}

/** The bucket's state now, with the credits that came back: between 0 and its capacity. */
export function refill(bucket: Bucket, { capacity, refill_ms }: Rate, now: string): Bucket {
  const passed = Date.parse(now) - Date.parse(bucket.since);
  const held = Math.min(Math.max(bucket.credits, 0), capacity);
  // A full bucket earns nothing. If the clock was set back, the wait for the next credit starts again.
  if (held === capacity || passed < 0) return { ...bucket, credits: held, since: now };
  const earned = Math.floor(passed / refill_ms);
  const credits = Math.min(capacity, held + earned);
  const since = credits === capacity ? now : timeAfter(bucket.since, earned * refill_ms);
  return { ...bucket, credits, since };
}

/** Takes `many` credits; null if there are not enough. */
export function takeCredit(bucket: Bucket, rate: Rate, now: string, many = 1): Bucket | null {
  const current = refill(bucket, rate, now);
  return current.credits < many ? null : { ...current, credits: current.credits - many };
}

/** Returns the credit of something that was paid for and never shown. */
export function refundCredit(bucket: Bucket, rate: Rate, now: string): Bucket {
  const current = refill(bucket, rate, now);
  return { ...current, credits: Math.min(rate.capacity, current.credits + 1) };
}

/** When a bucket will have `many` credits, at most its capacity; `now` if it already has them. */
export function nextCreditAt(bucket: Bucket, rate: Rate, now: string, many = 1): string {
  const current = refill(bucket, rate, now);
  return current.credits >= many ? now : timeAfter(current.since, (many - current.credits) * rate.refill_ms);
}
