/** A turn as people are shown it: what it does and for how long, how it ended, and who wants it stopped. */
import type { Interrupt } from '../domain/interrupts.ts';
import { requestSentence, turnSentence } from '../domain/turn-sentences.ts';
import { durationMs, type Turn } from '../domain/turns.ts';

/** Paths and processes of the client stay here. */
export function turnView(turn: Turn, interrupts: readonly Interrupt[], now: string): Record<string, unknown> {
  const { turn_id, session_id, client_turn_id, continues, state, abort_reason, by, via, note } = turn;
  const { started_at, ended_at, cancelled_prompts, steps, batches, last_tool, last_tool_at } = turn;
  const under_way = state === 'in_progress' ? turn.open_tools.at(-1) : undefined;
  return {
    turn_id,
    session_id,
    client_turn_id,
    continues,
    state,
    abort_reason,
    by,
    via,
    note,
    started_at,
    ended_at,
    duration_ms: durationMs(turn, now),
    cancelled_prompts,
    steps,
    batches,
    last_tool,
    last_tool_at,
    tool: under_way?.name ?? null,
    tool_since: under_way?.since ?? null,
    sentence: turnSentence(turn),
    interrupts: interrupts.map((interrupt) => ({
      interrupt_id: interrupt.interrupt_id,
      by: interrupt.by,
      via: interrupt.via,
      note: interrupt.note,
      state: interrupt.state,
      outcome: interrupt.outcome,
      asked_at: interrupt.asked_at,
      unconfirmed_at: interrupt.unconfirmed_at,
      sentence: requestSentence(interrupt, turn),
    })),
  };
}
