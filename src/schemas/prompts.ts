/** Input about prompts. The limits are the domain's (PROMPT_LIMITS); the descriptions explain each field to a model. */
import { z } from 'zod';
import { LONGEST_WAIT_MS } from '../domain/limits.ts';
import {
  BLOCKING_DEFAULT_MS,
  LONGEST_BLOCKING_MS,
  PROMPT_KINDS,
  PROMPT_LIMITS,
  URGENCIES,
  WHEN_TURN_ABORTED,
} from '../domain/prompts.ts';
import { characters } from './characters.ts';

const limits = PROMPT_LIMITS;

export const askId: z.ZodString = characters(limits.key).min(1);

const option = z.union([
  characters(limits.optionLabel),
  z.object({
    label: characters(limits.optionLabel),
    description: characters(limits.optionDescription).optional(),
  }),
]);

const time = z.number().min(limits.minTimeoutMs).max(limits.maxTimeoutMs);

/** The arguments of `hivemind_ask_async`. Every request of every agent carries these descriptions, so they are short. */
export const askShape = {
  question: z.string().describe('Say what you will do with each answer.'),
  options: z.array(option).max(limits.options).optional().describe('The recommended one first.'),
  context: z.string().optional().describe('Markdown: what the human must know to decide.'),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(LONGEST_BLOCKING_MS)
    .optional()
    .describe('Block up to this long for the answer. Default 0: go on working and poll.'),
  multi_select: z.boolean().optional(),
  allow_free_text: z.boolean().optional().describe('Default true.'),
  header: characters(limits.header).optional().describe('The topic in a few words.'),
  kind: z.enum(PROMPT_KINDS).optional().describe('permission: may I do this? Only a human answers it.'),
  urgency: z.enum(URGENCIES).optional().describe('low: no popup. critical: breaks do-not-disturb.'),
  timeout_ms: time.optional().describe('Expire after this, without a decision. Default: never.'),
  idempotency_key: characters(limits.key)
    .min(1)
    .optional()
    .describe('The same key returns the same question, not a second one.'),
  group_id: characters(limits.key).min(1).optional().describe('Shared by the questions of one form.'),
  when_turn_aborted: z
    .enum(WHEN_TURN_ABORTED)
    .optional()
    .describe('Default cancelled_if_interrupted; cancelled: also when your turn is replaced.'),
  label: characters(limits.key).optional().describe('Your name for this question.'),
  to: characters(limits.key).min(1).optional().describe('One human or team; default everybody.'),
  escalate_after_ms: time.optional().describe('With `to`: ask everybody after this.'),
};

const { wait_ms: _, ...withoutWait } = askShape;

/** `hivemind_ask`: its time limit is that of the call, not of the question. */
export const blockingAskShape = {
  ...withoutWait,
  timeout_ms: z
    .number()
    .min(limits.minTimeoutMs)
    .max(LONGEST_BLOCKING_MS)
    .optional()
    .describe(
      `How long this call waits. Default ${BLOCKING_DEFAULT_MS}. Then the question stays open and never expires: poll it.`,
    ),
};

/** `hivemind_note`. */
export const noteShape = {
  ask_id: askId,
  note: characters(limits.note),
};

/** How long a call may wait, in ms. */
export const waitMs = z.number().int().min(0).max(LONGEST_WAIT_MS);

/** `hivemind_poll`. */
export const pollShape = {
  ask_id: askId.optional(),
  ask_ids: z.array(askId).min(1).max(50).optional(),
  wait_ms: waitMs.optional().describe('Wait up to this long for an answer. Default 0.'),
};

/**
 * `hivemind_respond`, for coordinators. Without null, for which a schema needs a list of types: some models take no such tool.
 */
export const respondShape = {
  ask_id: askId,
  decision: z.string().optional().describe('The label of an option, or free text.'),
  selected: z.array(z.string()).optional().describe('Labels of the options chosen.'),
  comment: characters(limits.comment).optional().describe('A remark beside the decision.'),
  leave: z
    .boolean()
    .optional()
    .describe('Instead of an answer: leave it to the human. You are not given it again.'),
};

const responseId = characters(limits.key).min(1);

/** Any precision is accepted; stored times are compared as text, so they get the store's own precision. */
const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());

/** `hivemind-response`: `by` says who answered, for the event log; by default the human of this desk. */
export const responseParams = z.object({
  ask_id: askId,
  decision: z.string().optional(),
  selected: z.array(z.string()).optional(),
  comment: characters(limits.comment).optional(),
  by: characters(limits.key).min(1).optional(),
  response_id: responseId.optional(),
  store_id: characters(limits.key).optional(),
  displayed_digest: characters(limits.key)
    .optional()
    .describe(
      'The digest of a permission whose whole text was displayed; what may allow something needs it.',
    ),
  responded_at: instant
    .optional()
    .describe('From a device of the inbox: when it was answered, by the store’s clock.'),
  signature: characters(limits.key)
    .optional()
    .describe('From a device of the inbox: its signature of the answer.'),
});

/** `prompt/amend`: each correction has its own id, because the same answer may be given twice with another in between. */
export const amendParams = responseParams.extend({
  by: characters(limits.key).min(1),
  response_id: responseId,
});

export const promptRef = z.object({ ask_id: askId });
/** `prompt/cancel` and `prompt/claim`: the prompt and the actor. */
export const actParams = z.object({ ask_id: askId, by: characters(limits.key).min(1) });
export const snoozeParams = z.object({ ask_id: askId, until: instant.nullable() });

/** `prompt/list`: at most 500 a page. */
export const listParams = z.object({
  status: z.enum(['pending', 'waiting', 'responded', 'late', 'expired', 'cancelled']).optional(),
  agent: z.string().optional(),
  project: z.string().optional(),
  kind: z.string().optional(),
  to: characters(limits.key).optional(),
  query: z.string().max(1_000).optional(),
  limit: z.number().int().min(1).max(500).optional(),
  cursor: z.string().max(2_000).optional(),
});
