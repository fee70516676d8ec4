/** The tool with which a coordinator stops another agent, and how our own tools behave in a turn that must stop. */
import type { Hive } from '../../application/hive.ts';
import type { StopOrder } from '../../application/turns.ts';
import { HiveError } from '../../domain/errors.ts';
import { type InterruptOutcome, outcomeSentence, pleaseStop } from '../../domain/interrupts.ts';
import { LONGEST_WAIT_MS } from '../../domain/prompts.ts';
import type { Turn } from '../../domain/turns.ts';
import { interruptShape } from '../../schemas/turns.ts';
import { type Tool, tool } from './tool.ts';

const interrupt = tool({
  name: 'hivemind_interrupt',
  title: 'Stop another agent',
  description:
    'Coordinator: interrupt the turn that another agent runs. Returns when that turn is over, or unconfirmed after wait_ms; the interrupt stays in force. Never for yourself, nor for a session you descend from.',
  example: { session: 'Claude-abc12', note: 'The plan has changed.' },
  input: interruptShape,
  readOnly: false,
  async handle({ session, wait_ms = LONGEST_WAIT_MS, ...request }, call) {
    const outcome = await call.hive.interrupts
      .interrupt({
        ...request,
        session,
        timeout_ms: wait_ms,
        actor: await call.hive.sessions.actor(call.session, 'mcp'),
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

// ---- Our tools in a turn that must stop ----
// They return at once, whatever they were waiting for, and say why. Then the model stops by itself, or the hook after
// the call stops it.

type Result = Record<string, unknown>;

/** Calls that finish sooner than this are not watched: the next call notices the interrupt. */
const WATCH_AFTER_MS = 20;

interface TurnOfCall {
  hive: Hive;
  /** Undefined when none is known. */
  turn: Turn | undefined;
  /** Any of these ends the call. */
  ends: readonly AbortSignal[];
}

/** Runs a tool inside its turn. `work` gets the turn, or null, and the signals that end it, including the stop of the turn. */
export async function inTurn(
  { hive, turn, ends }: TurnOfCall,
  work: (turn_id: string | null, ends: readonly AbortSignal[]) => Promise<Result>,
): Promise<Result> {
  if (turn === undefined) return work(null, ends);
  const { turn_id } = turn;
  const before = await hive.interrupts.orderFor(turn_id);
  if (before !== null) return interrupted(before);

  const over = new AbortController();
  const stop = new AbortController();
  let order: StopOrder | null = null;
  const watch = async (): Promise<void> => {
    order = await hive.interrupts.untilInterrupted(turn_id, over.signal);
    if (order !== null) stop.abort();
  };
  const failed = (error: unknown): void =>
    hive.log.warn('An interrupt could not be watched for.', { turn_id, error: String(error) });
  const timer = setTimeout(() => void watch().catch(failed), WATCH_AFTER_MS);
  try {
    const result = await work(turn_id, [...ends, stop.signal]);
    return order === null ? result : interrupted(order, result);
  } catch (error) {
    // The tool ran in a turn that was stopped in the meantime.
    const after = isOver(error) ? await hive.interrupts.orderFor(turn_id) : null;
    if (after === null) throw error;
    return interrupted(after);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

function isOver(error: unknown): boolean {
  return error instanceof HiveError && error.code === 'turn_not_current';
}

function interrupted(order: StopOrder, result: Result = {}): Result {
  return {
    ...result,
    status: 'interrupted',
    interrupted_by: order.by,
    note: order.note,
    next: pleaseStop(order),
  };
}
