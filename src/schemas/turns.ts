/** Input about turns and interrupts. */
import { z } from 'zod';
import { INTERRUPT_LIMITS } from '../domain/interrupts.ts';
import { PROMPT_LIMITS } from '../domain/prompts.ts';
import { characters } from './characters.ts';

const { note, minTimeoutMs, maxTimeoutMs } = INTERRUPT_LIMITS;
const id = characters(PROMPT_LIMITS.key).min(1);
/** A handle or an id, which may be a long name. */
const session_id = z.string().min(1).max(500);
const by = id.optional();

/** `turn/interrupt`. The reply waits for the outcome; repeating an interrupt_id repeats the same request. */
export const interruptParams = z.object({
  session_id,
  turn_id: id.optional(),
  note: characters(note).optional(),
  timeout_ms: z.number().int().min(minTimeoutMs).max(maxTimeoutMs).optional(),
  interrupt_id: id.optional(),
  by,
});

/** `turn/interrupt_all`: every running turn. */
export const interruptAllParams = interruptParams.pick({ note: true, timeout_ms: true, by: true });

/** `turn/cancel_interrupt`: one request, or all that are pending for a turn. */
export const cancelInterruptParams = interruptParams.pick({
  session_id: true,
  turn_id: true,
  interrupt_id: true,
  by: true,
});

/** `hivemind_interrupt`, for coordinators. */
export const interruptShape = {
  session: session_id.describe('Handle or session_id of the agent to stop, as in Claude-abc12.'),
  turn_id: id.optional().describe('Only this turn; default: the one that is running now.'),
  note: characters(note).optional().describe('Why, in a sentence: the agent and its human read it.'),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(maxTimeoutMs)
    .optional()
    .describe(
      'Wait at most this many ms for the turn to end. Default: as long as your client lets a call wait.',
    ),
  interrupt_id: id.optional().describe('Keep waiting for an earlier request instead of making a new one.'),
};
