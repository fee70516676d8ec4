/** How a coordinator stops another agent. */
import type { InterruptOutcome } from '../../domain/interrupts.ts';
import { LONGEST_WAIT_MS } from '../../domain/prompt-limits.ts';
import { outcomeSentence } from '../../domain/turn-sentences.ts';
import { interruptShape } from '../../schemas/turns.ts';
import { type Tool, tool } from './tool.ts';

const interrupt = tool({
  name: 'hivemind_interrupt',
  title: 'Stop another agent',
  description:
    'Coordinator: interrupt the turn that another agent runs. Returns when that turn is over, or unconfirmed after wait_ms; the interrupt stays in force. Never for yourself, nor for a session you descend from.',
  input: interruptShape,
  readOnly: false,
  async handle({ session, wait_ms = LONGEST_WAIT_MS, ...request }, call) {
    const { session_id, handle: by } = call.session;
    const ancestors = await call.hive.sessions.ancestors(session_id);
    const outcome = await call.hive.interrupts
      .interrupt({
        ...request,
        session,
        timeout_ms: wait_ms,
        actor: { kind: 'agent', by, via: 'mcp', session_id, ancestors },
        signal: call.signal,
      })
      // A coordinator that has subscribed to a question hears that it fell before it hears that its interrupt is over.
      .finally(() => call.caughtUp());
    // An ask_id is a capability of its asker: how many fell is enough.
    return { ...outcome, cancelled_prompts: outcome.cancelled_prompts.length, next: nextStep(outcome) };
  },
});

function nextStep(outcome: InterruptOutcome): string {
  const sentence = outcomeSentence(outcome);
  if (outcome.outcome !== 'unconfirmed') return `${sentence}.`;
  return `${sentence}. Wait on with hivemind_interrupt {"session": "${outcome.session_id}", "interrupt_id": "${outcome.interrupt_id}"}.`;
}

export const coordinatorTurnTools: readonly Tool[] = [interrupt];
