/** Changes to prompts that services and hooks share. Each runs inside the caller's transaction and appends its event. */

import type { Via } from '../domain/actors.ts';
import { HiveError } from '../domain/errors.ts';
import type { EventType } from '../domain/events.ts';
import { escalatePrompt } from '../domain/humans.ts';
import {
  type AnswerOutcome,
  type CancelReason,
  cancelPrompt,
  deliveryOf,
  expirePrompt,
  isExpired,
  isUncollected,
  type Prompt,
  type PromptAnswer,
  respondPrompt,
} from '../domain/prompts.ts';
import type { ReadTx, WriteTx } from './ports.ts';

/** Stores a new prompt and announces it. */
export async function insertPrompt(tx: WriteTx, prompt: Prompt): Promise<void> {
  const { agent, project, urgency, kind } = prompt;
  const data = { agent, project, urgency, kind };
  await Promise.all([tx.prompts.insert(prompt), appendPrompt(tx, 'prompt/created', prompt, data)]);
}

/** What a person saw of a permission when they answered it. */
export interface Displayed {
  /** The digest of its text as it was displayed; null where nothing shows that it was. */
  displayed_digest: string | null;
  /** Of the seat where an answer was given that may allow something. */
  signature: string | null;
}

/**
 * Applies one answer to one prompt. The caller has checked that the prompt is current and the answerer is allowed.
 * What was displayed is known only of a person's answer.
 */
export async function recordAnswer(
  tx: WriteTx,
  prompt: Prompt,
  answer: PromptAnswer,
  { displayed_digest, signature }: Displayed = { displayed_digest: null, signature: null },
): Promise<{ outcome: AnswerOutcome; prompt: Prompt }> {
  const { ask_id } = prompt;
  const { prompt: settled, outcome } = respondPrompt(prompt, answer);
  if (outcome === 'accepted' && !(await tx.prompts.settle(settled, tx.now))) {
    throw new HiveError('internal', `The prompt ${ask_id} changed inside its own transaction.`);
  }
  if (outcome === 'accepted') await dropClaim(tx, prompt);
  if (outcome === 'late') await tx.prompts.update(settled);
  const added = tx.prompts.addResponse({ ...answer, ask_id, outcome, signature });
  await Promise.all([added, outcome === 'lost' ? undefined : owe(tx, settled)]);
  const { decision, by, via, attested, response_id } = answer;
  await appendPrompt(tx, RESPONSE_EVENT[outcome], settled, {
    decision,
    by,
    via,
    attested,
    response_id,
    ...(displayed_digest !== null && { displayed_digest }),
  });
  return { outcome, prompt: settled };
}

const RESPONSE_EVENT: Readonly<Record<AnswerOutcome, EventType>> = {
  accepted: 'prompt/responded',
  late: 'prompt/late_response',
  lost: 'prompt/lost_response',
};

/** Cancels a pending prompt; a settled one stays as it is. */
export async function recordCancel(
  tx: WriteTx,
  prompt: Prompt,
  { by, via, reason }: { by: string; via: Via; reason: CancelReason },
): Promise<Prompt> {
  const cancelled = cancelPrompt(prompt, { by, via, reason }, tx.now);
  if (cancelled === prompt) return prompt;
  await tx.prompts.settle(cancelled, tx.now);
  await owe(tx, cancelled);
  await dropClaim(tx, prompt);
  await appendPrompt(tx, 'prompt/cancelled', cancelled, { cancel_reason: reason, by, via });
  return cancelled;
}

/** Expires one prompt inside a transaction that has found it due. */
export async function recordExpiry(tx: WriteTx, prompt: Prompt): Promise<Prompt> {
  const expired = expirePrompt(prompt, tx.now);
  await tx.prompts.settle(expired, tx.now);
  await owe(tx, expired);
  await dropClaim(tx, prompt);
  await appendPrompt(tx, 'prompt/expired', expired, {});
  return expired;
}

/** From now on the outcome must be delivered to its asker. A late answer replaces an earlier outcome. */
async function owe(tx: WriteTx, prompt: Prompt): Promise<void> {
  if (isUncollected(prompt)) await tx.deliveries.put(deliveryOf(prompt));
}

export async function appendPrompt(
  tx: WriteTx,
  type: EventType,
  prompt: Prompt,
  data: Record<string, unknown>,
): Promise<void> {
  const { session_id, ask_id: subject, status } = prompt;
  await tx.events.append({ type, session_id, subject, data: { status, ...data } });
}

/** Escalates a prompt, inside a transaction that has found it due. */
export async function recordEscalation(tx: WriteTx, prompt: Prompt): Promise<Prompt> {
  const escalated = escalatePrompt(prompt, tx.now);
  if (escalated === prompt || !(await tx.prompts.escalate(escalated))) return prompt;
  await appendPrompt(tx, 'prompt/escalated', escalated, { to: prompt.to });
  return escalated;
}

/** Removes the claim of a settled prompt. */
async function dropClaim(tx: WriteTx, { ask_id, claimed_by }: Prompt): Promise<void> {
  if (claimed_by !== null) await tx.claims.remove(ask_id);
}

/** @throws HiveError `prompt_not_found`. */
export async function findPrompt(tx: ReadTx, ask_id: string): Promise<Prompt> {
  const prompt = await tx.prompts.get(ask_id);
  if (prompt === undefined) throw notFound(ask_id);
  return prompt;
}

/** Expires a prompt whose time is up before anything else is done to it, in the same transaction. */
export async function findCurrent(tx: WriteTx, ask_id: string): Promise<Prompt> {
  const prompt = await findPrompt(tx, ask_id);
  return isExpired(prompt, tx.now) ? recordExpiry(tx, prompt) : prompt;
}

export function notFound(ask_id: string): HiveError {
  return new HiveError(
    'prompt_not_found',
    `There is no prompt ${ask_id}: check the id; settled prompts are kept until retention removes them.`,
    { ask_id },
  );
}
