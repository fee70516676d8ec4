/**
 * The budget: how much of the human's attention may be had unasked. A bucket of tokens that fills again by
 * itself, one at a time. Pure: what stands in the store and the store's clock decide, so a restart changes
 * nothing, and a clock that is set costs at most the time since the last token.
 */
export interface Bucket {
  /** `*`, or the session that has figures of its own. */
  name: string;
  tokens: number;
  /** Since when the next token is on its way. */
  since: string;
  /** What passed as critical, which takes no token. */
  critical: number;
}

export interface BudgetSize {
  capacity: number;
  /** One token comes back after so long. */
  refill_ms: number;
}

/** The bucket that all sessions share. */
export const SHARED_BUCKET = '*';

export function fullBucket(name: string, { capacity }: BudgetSize, now: string): Bucket {
  return { name, tokens: capacity, since: now, critical: 0 };
}

/** The bucket as it stands now: with the tokens that came back, never more than it holds, never less than none. */
export function refill(bucket: Bucket, { capacity, refill_ms }: BudgetSize, now: string): Bucket {
  const passed = Date.parse(now) - Date.parse(bucket.since);
  const held = Math.min(Math.max(bucket.tokens, 0), capacity);
  // A full bucket earns nothing; a clock set back begins the wait anew instead of earning into the past.
  if (held === capacity || passed < 0) return { ...bucket, tokens: held, since: now };
  const earned = Math.floor(passed / refill_ms);
  const tokens = Math.min(capacity, held + earned);
  const since = tokens === capacity ? now : later(bucket.since, earned * refill_ms);
  return { ...bucket, tokens, since };
}

/** Takes one token; null when there is none. */
export function takeToken(bucket: Bucket, size: BudgetSize, now: string): Bucket | null {
  const current = refill(bucket, size, now);
  return current.tokens < 1 ? null : { ...current, tokens: current.tokens - 1 };
}

/** What was paid for and never shown comes back. */
export function giveBack(bucket: Bucket, size: BudgetSize, now: string): Bucket {
  const current = refill(bucket, size, now);
  return { ...current, tokens: Math.min(size.capacity, current.tokens + 1) };
}

/** When an empty bucket has its next token; null when it never will. */
export function nextTokenAt(bucket: Bucket, size: BudgetSize, now: string): string | null {
  if (size.capacity < 1) return null;
  const current = refill(bucket, size, now);
  return current.tokens >= 1 ? now : later(current.since, size.refill_ms);
}

function later(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}
