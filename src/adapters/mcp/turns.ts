/** The tool with which a coordinator stops another agent. */
import { type InterruptOutcome, outcomeSentence } from '../../domain/interrupts.ts';
import { LONGEST_WAIT_MS } from '../../domain/limits.ts';
import { interruptShape } from '../../schemas/turns.ts';
import { type Tool, tool } from './tool.ts';

const interrupt = tool({
  name: 'hivemind_interrupt',
  title: 'Stop another agent',
  description:
    'Coordinator: interrupt the turn that another agent runs. Returns when that turn is over, or unconfirmed after wait_ms; the interrupt stays in force. Never for yourself, nor for a session you descend from.',
  example: { session: 'Claude-abc12', note: 'The plan has changed.' },
  input: interruptShape,
  // Whom it stops; who calls is known from the connection.
  aliases: { session_id: 'session' },
  effect: 'decides',
  async handle({ session, wait_ms: asked_ms = LONGEST_WAIT_MS, ...request }, call) {
    const wait_ms = Math.min(asked_ms, call.owned_ms);
    const outcome = await call.hive.interrupts
      .interrupt({
        ...request,
        session,
        timeout_ms: wait_ms,
        actor: await call.hive.coordinators.admit(call.session, 'mcp', { wait_ms: 0 }),
        signal: call.signal,
      })
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
