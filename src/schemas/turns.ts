/** The shape of what comes in about turns and interrupts. */
import { z } from 'zod';
import { INTERRUPT_LIMITS } from '../domain/interrupts.ts';
import { LONGEST_WAIT_MS, PROMPT_LIMITS } from '../domain/prompts.ts';
import { characters } from './characters.ts';

const { note, minTimeoutMs, maxTimeoutMs } = INTERRUPT_LIMITS;
const id = characters(PROMPT_LIMITS.key).min(1);
/** A handle or an id, which may be a long name. */
const session_id = z.string().min(1).max(500);
const by = id.nullish();

/** `turn/interrupt`. The reply waits; asked again under the same interrupt_id, it is the same request. */
export const interruptParams = z.object({
  session_id,
  turn_id: id.nullish(),
  note: characters(note).nullish(),
  timeout_ms: z.number().int().min(minTimeoutMs).max(maxTimeoutMs).nullish(),
  interrupt_id: id.nullish(),
  by,
});

/** `turn/interrupt_all`: every turn that runs. */
export const interruptAllParams = interruptParams.pick({ note: true, timeout_ms: true, by: true });

/** `turn/cancel_interrupt`: one request, or all that wait for a turn. */
export const cancelInterruptParams = interruptParams.pick({
  session_id: true,
  turn_id: true,
  interrupt_id: true,
  by: true,
});

/** `hivemind_interrupt`, for coordinators. */
export const interruptShape = {
  session: session_id.describe('Handle or session_id of the agent to stop, as in Claude-abc12.'),
  turn_id: id.optional().describe('Only this turn; default: the one that runs now.'),
  note: characters(note).optional().describe('Why, in a sentence: the agent and its human read it.'),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(LONGEST_WAIT_MS)
    .optional()
    .describe(
      `Wait up to so long for the turn to end (at most ${LONGEST_WAIT_MS}). Default ${LONGEST_WAIT_MS}.`,
    ),
  interrupt_id: id.optional().describe('Wait on for a request of before, instead of asking anew.'),
};
