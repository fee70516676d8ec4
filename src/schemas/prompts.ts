/** Input about prompts. The limits are the domain's (PROMPT_LIMITS); the descriptions explain each field to a model. */
import { z } from 'zod';
import {
  BLOCKING_DEFAULT_MS,
  LONGEST_BLOCKING_MS,
  LONGEST_WAIT_MS,
  PROMPT_LIMITS,
  WHEN_TURN_ABORTED,
} from '../domain/prompts.ts';
import { characters } from './characters.ts';

const limits = PROMPT_LIMITS;

export const askId: z.ZodString = characters(limits.key).min(1);

const option = z.union([
  characters(limits.optionLabel),
  z.object({
    label: characters(limits.optionLabel),
    description: characters(limits.optionDescription).nullish(),
  }),
]);

/** The arguments of `hivemind_ask_async` and `hivemind_ask`. */
export const askShape = {
  question: z
    .string()
    .describe(
      `What you want to know, 1 to ${limits.question} characters. Say what you will do with each answer.`,
    ),
  options: z
    .array(option)
    .max(limits.options)
    .optional()
    .describe(
      'Up to 20 answers to choose from: strings, or {label, description}. Put the one you recommend first.',
    ),
  multi_select: z.boolean().optional().describe('Several options may be chosen. Default false.'),
  allow_free_text: z.boolean().optional().describe('The human may write instead of choosing. Default true.'),
  header: characters(limits.header).optional().describe('A few words that name the topic, for the list.'),
  context: z.string().optional().describe('Markdown, up to 64 KB: what the human needs to know to decide.'),
  kind: z
    .enum(['question', 'permission'])
    .optional()
    .describe('permission: may I do this? Only a human can answer it.'),
  urgency: z
    .enum(['low', 'normal', 'critical'])
    .optional()
    .describe('low: no popup. critical: breaks through do-not-disturb. Default normal.'),
  timeout_ms: z
    .number()
    .min(limits.minTimeoutMs)
    .max(limits.maxTimeoutMs)
    .optional()
    .describe(
      'Expire the question after this many ms (1 s to 30 days). Default: wait for ever. An expired question carries no decision.',
    ),
  idempotency_key: characters(limits.key)
    .min(1)
    .optional()
    .describe('Asked again with the same key, the same question is returned, not a second one.'),
  group_id: characters(limits.key).min(1).optional().describe('Several questions of one form share it.'),
  when_turn_aborted: z
    .enum(WHEN_TURN_ABORTED)
    .optional()
    .describe(
      'What becomes of the question if your present turn is aborted. cancelled_if_interrupted (default): an interrupt cancels it. cancelled: it is cancelled when the turn is replaced, too. stays: it waits on.',
    ),
  label: characters(limits.key)
    .optional()
    .describe('A name of your own for this question; never an identity.'),
  to: characters(limits.key)
    .min(1)
    .optional()
    .describe(
      'The name of one human or team, where there are several (hivemind_status names them). Default: everybody.',
    ),
  escalate_after_ms: z
    .number()
    .min(limits.minTimeoutMs)
    .max(limits.maxTimeoutMs)
    .optional()
    .describe('With `to`: everybody is asked after this many ms without an answer (1 s to 30 days).'),
};

/** `hivemind_ask`: the time limit is that of the call, not of the question. */
export const blockingAskShape = {
  ...askShape,
  timeout_ms: z
    .number()
    .min(limits.minTimeoutMs)
    .max(LONGEST_BLOCKING_MS)
    .optional()
    .describe(
      `How long this call waits (1 s to 1 day). Default ${BLOCKING_DEFAULT_MS}. After it the question stays open and never expires: go on with hivemind_poll.`,
    ),
};

/** `hivemind_note`. */
export const noteShape = {
  ask_id: askId,
  note: characters(limits.note),
};

/** `hivemind_poll`. */
export const pollShape = {
  ask_id: askId.optional().describe('The question to look at.'),
  ask_ids: z.array(askId).min(1).max(50).optional().describe('Several questions at once.'),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(LONGEST_WAIT_MS)
    .optional()
    .describe(
      `Wait at most this many ms (up to ${LONGEST_WAIT_MS}) for an answer. Default 0: return at once.`,
    ),
};

const answerShape = {
  decision: z.string().nullish().describe('The label of an option, or free text.'),
  selected: z.array(z.string()).nullish().describe('Labels of the options chosen.'),
  comment: characters(limits.comment).nullish().describe('A remark beside the decision.'),
};

/** `hivemind_respond`, for coordinators. */
export const respondShape = { ask_id: askId, ...answerShape };

const responseId = characters(limits.key).min(1);

/** `hivemind-response`: `by` says who answered, for the event log; by default the human of this desk. */
export const responseParams = z.object({
  ask_id: askId,
  ...answerShape,
  by: characters(limits.key).min(1).nullish(),
  response_id: responseId.nullish(),
  store_id: characters(limits.key).nullish(),
  displayed_digest: characters(limits.key)
    .nullish()
    .describe(
      'The digest of a permission whose whole text was displayed; what may allow something needs it.',
    ),
});

/** `prompt/amend`: the same answer may be given twice with another in between, so each correction has its own id. */
export const amendParams = responseParams.extend({
  by: characters(limits.key).min(1),
  response_id: responseId,
});

export const promptRef = z.object({ ask_id: askId });
/** `prompt/cancel` and `prompt/claim`: which prompt, and who acts. */
export const actParams = z.object({ ask_id: askId, by: characters(limits.key).min(1) });
/** Any precision is accepted; stored times are compared as text, so they get the store's own precision. */
const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());
export const snoozeParams = z.object({ ask_id: askId, until: instant.nullable() });

/** `prompt/list`: at most 500 a page. */
export const listParams = z.object({
  status: z.enum(['pending', 'waiting', 'responded', 'late', 'expired', 'cancelled']).nullish(),
  agent: z.string().nullish(),
  project: z.string().nullish(),
  kind: z.string().nullish(),
  to: characters(limits.key).nullish(),
  query: z.string().max(1_000).nullish(),
  limit: z.number().int().min(1).max(500).nullish(),
  cursor: z.string().max(2_000).nullish(),
});
