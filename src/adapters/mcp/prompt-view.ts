/** A prompt as its asker sees it: where it stands, the answer if there is one, and what to do next. */
import type { Delivered } from '../../application/delivery.ts';
import { LONGEST_WAIT_MS } from '../../domain/prompt-limits.ts';
import type { Prompt } from '../../domain/prompts.ts';

/** The sooner after the asking, the sooner it pays to look again. */
export function retryAfterMs(prompt: Prompt, now: number): number {
  const age = now - Date.parse(prompt.created_at);
  return age < 60_000 ? 5_000 : age < 10 * 60_000 ? 15_000 : 60_000;
}

/** The fields that describe a prompt's state to its asker. */
export function promptView(
  { prompt, repeated }: Delivered,
  now: number = Date.now(),
): Record<string, unknown> {
  const {
    ask_id,
    question,
    status,
    decision,
    selected,
    comment,
    by,
    via,
    late_response,
    amended,
    cancel_reason,
    expires_at,
    to,
    escalates_at,
    escalated_at,
    claimed_by,
  } = prompt;
  const { offered_at, seen_at, responded_at, handed_at, collected_at } = prompt;
  return {
    ask_id,
    status,
    question: question.length > 200 ? `${question.slice(0, 199)}…` : question,
    ...(status === 'responded' ? { decision, selected, comment, amended } : {}),
    ...(status === 'pending' ? { retry_after_ms: retryAfterMs(prompt, now), expires_at } : { by, via }),
    ...(status === 'cancelled' ? { cancel_reason } : {}),
    ...(to === null ? {} : { to, escalates_at, escalated_at }),
    ...(status === 'pending' && claimed_by !== null ? { claimed_by } : {}),
    late_response,
    ...(repeated ? { repeated } : {}),
    offered_at,
    seen_at,
    responded_at,
    handed_at,
    collected_at,
    next: nextStep(prompt, now),
  };
}

function nextStep(prompt: Prompt, now: number): string {
  const { late_response } = prompt;
  if (late_response !== null) {
    return `The question had ${prompt.status === 'expired' ? 'expired' : 'been cancelled'}; ${late_response.by} answered late: see late_response. Act on it if it is still of use.`;
  }
  switch (prompt.status) {
    case 'responded':
      return `${prompt.by} answered. Act on it; there is no need to poll this question again.`;
    case 'expired':
      return 'Nobody answered in time. That is no decision: choose the safe way, or ask again.';
    case 'cancelled':
      return 'The question was taken back. That is no decision, and no refusal.';
    default:
      return `No answer yet${prompt.claimed_by === null ? '' : `, but ${prompt.claimed_by} is at it`}. Go on with work that does not depend on it; poll again in ${retryAfterMs(prompt, now) / 1000} s, or with wait_ms ${LONGEST_WAIT_MS} if you can do nothing else.`;
  }
}
