/**
 * Interrupts: somebody wants a turn stopped. Pure. A request is bound to one turn and answered once, by that
 * turn's end, whoever waits for it; a time limit ends the waiting and not the request.
 *
 *     pending ──▶ answered | withdrawn
 */
import type { Actor, Via } from './actors.ts';
import type { Session } from './sessions.ts';
import { excerpt } from './text.ts';
import type { AbortReason, Turn, TurnEnd } from './turns.ts';

export interface Interrupt {
  interrupt_id: string;
  session_id: string;
  turn_id: string;
  by: string;
  via: Via;
  note: string | null;
  timeout_ms: number;
  asked_at: string;
  state: 'pending' | 'answered' | 'withdrawn';
  outcome: 'aborted' | 'completed' | null;
  settled_at: string | null;
  withdrawn_by: string | null;
  /** Its asker's time was up while the turn still ran. */
  unconfirmed_at: string | null;
  /** When the client itself was told to stop, through its socket or by a signal: what ends the turn then is ours. */
  pushed_at: string | null;
}

/** What every asker is told, once. */
export interface InterruptOutcome {
  /** Null where that turn had been interrupted before: nothing was asked anew. */
  interrupt_id: string | null;
  /** The session that was to stop. */
  session_id: string;
  /** The turn that was to stop. */
  turn_id: string;
  /** How the turn ended; `unconfirmed` where it still ran when the time was up, and the request stays in force. */
  outcome: 'aborted' | 'completed' | 'unconfirmed';
  /** Why it was aborted; null where it was not. */
  abort_reason: AbortReason | null;
  /** Who ended the turn. */
  by: string | null;
  /** Milliseconds from the request to this outcome. */
  waited_ms: number;
  /** The ask_ids of the questions that fell with the turn. */
  cancelled_prompts: string[];
}

export const INTERRUPT_LIMITS = {
  note: 2_000,
  minTimeoutMs: 0,
  defaultTimeoutMs: 10 * 60 * 1000,
  maxTimeoutMs: 24 * 60 * 60 * 1000,
} as const;

/** The turn has ended: so has every request for it. */
export function answerInterrupt(interrupt: Interrupt, turn: Turn, now: string): Interrupt {
  if (interrupt.state !== 'pending' || turn.state === 'in_progress') return interrupt;
  return { ...interrupt, state: 'answered', outcome: turn.state, settled_at: now };
}

/** How a turn ends that is stopped for this request. */
export function interruptedBy({ by, via, note }: Pick<Interrupt, 'by' | 'via' | 'note'>): TurnEnd {
  return { state: 'aborted', abort_reason: 'interrupted', by, via, note };
}

export function withdrawInterrupt(interrupt: Interrupt, withdrawn_by: string, now: string): Interrupt {
  return interrupt.state === 'pending'
    ? { ...interrupt, state: 'withdrawn', withdrawn_by, settled_at: now }
    : interrupt;
}

/** What an asker is told of a turn as it stands; `unconfirmed` while it still runs. */
export function outcomeOf(turn: Turn, interrupt_id: string | null, waited_ms: number): InterruptOutcome {
  const { session_id, turn_id, state, abort_reason, by, cancelled_prompts } = turn;
  return {
    interrupt_id,
    session_id,
    turn_id,
    outcome: state === 'in_progress' ? 'unconfirmed' : state,
    abort_reason,
    by,
    waited_ms: Math.round(waited_ms),
    cancelled_prompts,
  };
}

/** Whether a turn was stopped by an interrupt: asked for again, that is the answer. */
export function wasInterrupted(turn: Turn): boolean {
  return turn.state === 'aborted' && turn.abort_reason === 'interrupted';
}

/** What a request for an interrupt meets. */
type Met =
  /** It is taken down, and waits for the end of this turn. */
  | { kind: 'ask'; turn: Turn }
  /** That turn was interrupted already. */
  | { kind: 'told'; turn: Turn }
  /** Nothing runs, and no turn was named. */
  | { kind: 'no_turn' }
  /** Another turn than the one that runs was named. */
  | { kind: 'not_current' };

/** A request meets the turns of its session; `named` is the turn it names, if it exists. */
export function meetInterrupt(turn_id: string | null, named: Turn | null, current: Turn | null): Met {
  if (turn_id === null) return current === null ? { kind: 'no_turn' } : { kind: 'ask', turn: current };
  if (named === null) return { kind: 'not_current' };
  if (named.state === 'in_progress') return { kind: 'ask', turn: named };
  return wasInterrupted(named) ? { kind: 'told', turn: named } : { kind: 'not_current' };
}

/** Why this actor may not stop this session, as a sentence; null when it may. */
export function refusalToInterrupt(actor: Actor, session: Session): string | null {
  if (actor.kind === 'rule')
    return 'A rule stops nobody: an interrupt is asked for by the human or by an agent.';
  if (actor.kind === 'human') return null;
  if (actor.session_id === session.session_id)
    return 'A session needs no interrupt to stop itself: end your turn.';
  if (actor.ancestors.includes(session.session_id))
    return 'A session cannot interrupt a session it descends from.';
  return null;
}

/** A batch that was in flight when the stop was printed shows no sign of life any more after this. */
const BATCH_SILENCE_MS = 2_000;
/** A tool in flight keeps its batch open no longer. */
const LONGEST_TOOL_MS = 10 * 60 * 1000;

/**
 * Whether a tool that starts now in a stopped turn proves that the stop never reached the client: the batch
 * that was in flight has closed, and a client that had read the stop would have begun no other.
 */
export function stopWasLost(turn: Turn, now: string): boolean {
  const { stopped_at, batch_closed_at, batch_at, open_tools } = turn;
  if (stopped_at === null) return false;
  if (batch_closed_at !== null) return true;
  const at = Date.parse(now);
  if (open_tools.some(({ since }) => at - Date.parse(since) < LONGEST_TOOL_MS)) return false;
  return at - Date.parse(batch_at ?? stopped_at) > BATCH_SILENCE_MS;
}

/** A hook tells the client to stop, again if it did before: a new batch is in flight from here on. */
export function stopPrinted(turn: Turn, now: string): Turn {
  return {
    ...turn,
    stopped_at: now,
    stops: turn.stops + 1,
    batch_at: now,
    batch_closed_at: null,
  };
}

// ---------------------------------------------------------------------------
// What people and models read about turns: one table, used by Emacs, the command line, MCP and the hooks
// alike. `by` and notes are text of others: they stand in sentences, never in formats.

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
