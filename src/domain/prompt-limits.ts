/** How long, how much and how late a prompt and its answer may be. */
import { invalidInput } from './errors.ts';

/** Bounds of what comes in, in characters unless named otherwise; the zod shapes use the same numbers. */
export const PROMPT_LIMITS: Readonly<
  Record<
    | 'question'
    | 'header'
    | 'contextBytes'
    | 'options'
    | 'optionLabel'
    | 'optionDescription'
    | 'decision'
    | 'comment'
    | 'key'
    | 'minTimeoutMs'
    | 'maxTimeoutMs',
    number
  >
> = {
  question: 8_000,
  header: 200,
  contextBytes: 64 * 1024,
  options: 20,
  optionLabel: 500,
  optionDescription: 2_000,
  decision: 64 * 1024,
  comment: 64 * 1024,
  key: 200,
  minTimeoutMs: 1_000,
  maxTimeoutMs: 30 * 24 * 60 * 60 * 1000,
};

/** So many open prompts of one session are looked at, settled ones first, then the oldest; the rest at a later look. */
export const OPEN_LIMIT = 200;

/**
 * No call of a tool waits longer, except the blocking ask, and hivemind_await_ask where the client is known to allow more: a
 * client takes a call that runs for long for dead.
 */
export const LONGEST_WAIT_MS = 25_000;

/** A blocking ask waits so long unless told otherwise, and a day at most: what an agent can wait for, and a timer can count. */
export const BLOCKING_DEFAULT_MS = 300_000;
export const LONGEST_BLOCKING_MS: number = 24 * 60 * 60 * 1000;

/** The moment so long after now. @throws HiveError `invalid_input` that names the field, for less than 1 s or more than 30 days. */
export function timeAfter(field: string, ms: number, now: string): string {
  const { minTimeoutMs, maxTimeoutMs } = PROMPT_LIMITS;
  if (!Number.isFinite(ms) || ms < minTimeoutMs || ms > maxTimeoutMs) {
    throw invalidInput(
      `${field} is ${ms}: it must lie between ${minTimeoutMs} (1 s) and ${maxTimeoutMs} (30 days). Leave it out to wait for ever.`,
      { field },
    );
  }
  return new Date(Date.parse(now) + Math.round(ms)).toISOString();
}
