/** The tool with which a coordinator stops another agent. */
import { INTERRUPT_LIMITS, type InterruptOutcome, outcomeSentence } from '../../domain/interrupts.ts';
import { interruptShape } from '../../schemas/turns.ts';
import { keepingAlive, type Tool, tool } from './tool.ts';

const interrupt = tool({
  name: 'hivemind_interrupt',
  title: 'Stop another agent',
  description:
    'Coordinator: interrupt the turn that another agent runs. Returns when that turn is over, or unconfirmed after wait_ms; the interrupt stays in force. Never for yourself, nor for a session you descend from.',
  example: { session: 'Claude-abc12', note: 'The plan has changed.' },
  input: interruptShape,
  // The session to stop; the caller is known from the connection.
  aliases: { session_id: 'session' },
  effect: 'decides',
  async handle({ session, wait_ms: asked_ms = INTERRUPT_LIMITS.maxTimeoutMs, ...request }, call) {
    const actor = await call.hive.coordinators.admit(call.session, 'mcp', { wait_ms: 0 });
    const { signal } = call;
    // The turn may end only after a long tool, so the call waits for as long as its client lets it.
    const timeout_ms = Math.min(asked_ms, call.longest_wait_ms);
    const outcome = await keepingAlive(call, 'The turn is not over yet.', () =>
      call.hive.interrupts.interrupt({ ...request, session, timeout_ms, actor, signal }),
    )
      // A coordinator that has subscribed to a question is notified that it was cancelled before its interrupt returns.
      .finally(() => call.caughtUp());
    // An ask_id is a capability of its asker, so only the number of cancelled prompts is returned.
    return { ...outcome, cancelled_prompts: outcome.cancelled_prompts.length, next: nextStep(outcome) };
  },
});

function nextStep(outcome: InterruptOutcome): string {
  const sentence = outcomeSentence(outcome);
  if (outcome.outcome !== 'unconfirmed') return `${sentence}.`;
  return `${sentence}. Keep waiting with hivemind_interrupt {"session": "${outcome.session_id}", "interrupt_id": "${outcome.interrupt_id}"}.`;
}

export const coordinatorTurnTools: readonly Tool[] = [interrupt];
