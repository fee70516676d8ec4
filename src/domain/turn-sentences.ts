/**
 * What people and models read about turns: one table, used by Emacs, the command line, MCP and the hooks
 * alike. `by` and notes are text of others: they stand in sentences, never in formats.
 */
import type { Interrupt, InterruptOutcome } from './interrupts.ts';
import { excerpt } from './text.ts';
import type { AbortReason, Turn } from './turns.ts';

const ABORTED: Readonly<Record<AbortReason, (by: string) => string>> = {
  interrupted: (by) => `task interrupted ${by}`,
  replaced: () => 'task aborted: replaced by a new task',
  ended: () => 'task aborted: its session ended',
  unknown: () => 'task aborted: a new task began, and nothing says how this one ended',
};

/** How a turn stands. */
export function turnSentence({
  state,
  abort_reason,
  by,
}: Pick<Turn, 'state' | 'abort_reason' | 'by'>): string {
  if (state === 'aborted') return ABORTED[abort_reason ?? 'unknown'](whom(by));
  return state === 'completed' ? 'task completed' : 'task running';
}

function whom(by: string | null): string {
  if (by === null) return 'by its client';
  return by === 'terminal' ? 'at the terminal' : `by ${excerpt(by, 100)}`;
}

/** What an interrupt came to. */
export function outcomeSentence(outcome: InterruptOutcome): string {
  if (outcome.outcome === 'unconfirmed')
    return `no confirmation within ${seconds(outcome.waited_ms)}: the task still runs, and the interrupt stays in force`;
  return endSentence({ ...outcome, state: outcome.outcome });
}

type Ended = Pick<Turn, 'state' | 'abort_reason' | 'by' | 'cancelled_prompts'>;

/** What whoever asked for the interrupt reads of the turn's end. */
function endSentence(turn: Ended): string {
  if (turn.state === 'completed') return 'task completed before the interrupt reached it';
  const fell = turn.cancelled_prompts.length;
  const questions = fell === 0 ? '' : `; ${fell} open question${fell === 1 ? '' : 's'} fell with it`;
  return `${turnSentence(turn)}${questions}`;
}

/** What came of a request for an interrupt; null while it waits for the turn's end. */
export function requestSentence({ state }: Interrupt, turn: Ended): string | null {
  if (state === 'withdrawn') return 'the interrupt was withdrawn';
  return state === 'answered' ? endSentence(turn) : null;
}

function seconds(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 100) / 10} s`;
}

type Asked = Pick<Interrupt, 'by' | 'note'>;

function noted(note: string | null): string {
  return note === null ? '' : ` Note: ${note}`;
}

/** A person's note ends as they ended it; what comes after it is a sentence of its own. */
function closed(text: string): string {
  return /[.!?\u2026]$/.test(text) ? text : `${text}.`;
}

/** What the client is told where it can be stopped: shown at its terminal, and read by the model at the next prompt. */
export function stopSentence({ by, note }: Asked): string {
  return `Interrupted ${whom(by)}.${noted(note)}`;
}

/** What the model is told where only it can stop: the reason of a denial, and the result of a tool of ours. */
export function pleaseStop(asked: Asked): string {
  return `${closed(stopSentence(asked))} Stop now: call no further tool, end your turn and wait for the human. What was under way may be half done; do not repeat it unasked.`;
}

/** What the session reads with its next turn. */
export function toldSentence(turn: Turn, repeated: boolean): string {
  const { abort_reason, by, ended_at, note } = turn;
  const again = repeated ? ' (You may have been told this before.)' : '';
  const how = TOLD[abort_reason ?? 'unknown'](whom(by));
  return `${closed(`Your last turn ${how} (${ended_at}).${noted(note)}`)} What was under way may be half done: look before you go on.${again}`;
}

const TOLD: Readonly<Record<AbortReason, (by: string) => string>> = {
  interrupted: (by) => `was interrupted ${by}`,
  replaced: () => 'was replaced by a new one before it ended',
  ended: () => 'was cut off when its session ended',
  unknown: () => 'ended without a word of how',
};

/** For the human: a client went on after it was told to stop. */
export function stopLostSentence(handle: string, stops: number): string {
  return `${handle} began another tool after it was told to stop; it was told again (${stops} times now).`;
}
