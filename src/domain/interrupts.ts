/**
 * Interrupts: requests to stop a turn. A request is bound to one turn and is answered once, by the end of that turn, no matter
 * who waits for it. A time limit ends the waiting, not the request. Pure: no clock, no ids, no I/O.
 *
 *     pending ──▶ answered | withdrawn
 */
import { type Actor, NO_COORDINATOR, type Via } from './actors.ts';
import { objectIn, objectInText } from './json.ts';
import type { Session } from './sessions.ts';
import { excerpt, LINE_BREAK } from './text.ts';
import { type AbortReason, type Turn, type TurnEnd, turnSentence, whom } from './turns.ts';

/** A request to stop one turn. Times are ISO-8601 UTC with milliseconds. */
export interface Interrupt {
  interrupt_id: string;
  session_id: string;
  /** The turn to stop. */
  turn_id: string;
  /** The human or coordinator who interrupts. */
  by: string;
  via: Via;
  /** The note that the agent reads with it. */
  note: string | null;
  asked_at: string;
  /** `answered` by the end of the turn, however it ended. */
  state: 'pending' | 'answered' | 'withdrawn';
  /** How the turn ended; null while the request is pending, and when it was withdrawn. */
  outcome: 'aborted' | 'completed' | null;
  /** When it was answered or withdrawn. */
  settled_at: string | null;
  withdrawn_by: string | null;
  /** When its asker stopped waiting while the turn was still running. */
  unconfirmed_at: string | null;
  /**
   * When the client itself was stopped through its socket or by a signal, or a subagent of the turn by a hook: if the turn ends
   * after that, also in its terminal, Hive ended it.
   */
  pushed_at: string | null;
}

/** The reply to an interrupt; every asker receives it once. */
export interface InterruptOutcome {
  /** Null when the turn had been interrupted before: no new request was made. */
  interrupt_id: string | null;
  /** The session to stop. */
  session_id: string;
  /** The turn to stop. */
  turn_id: string;
  /** How the turn ended; `unconfirmed` when it still ran after the time limit, and the request stays in force. */
  outcome: 'aborted' | 'completed' | 'unconfirmed';
  /** Why it was aborted; null when it was not. */
  abort_reason: AbortReason | null;
  /** The actor that ended the turn. */
  by: string | null;
  /** Milliseconds from the request to this outcome. */
  waited_ms: number;
  /** The ask_ids of the questions that were cancelled with the turn. */
  cancelled_prompts: string[];
  /** The tool that the turn started last; null if it started none, or is still running. */
  last_tool: string | null;
  /** Milliseconds from the start of that tool to the end of the turn. */
  last_tool_ms: number | null;
}

/** The longest note in characters, and the limits of the waiting time. */
export const INTERRUPT_LIMITS = {
  note: 2_000,
  minTimeoutMs: 0,
  defaultTimeoutMs: 10 * 60 * 1000,
  maxTimeoutMs: 24 * 60 * 60 * 1000,
} as const;

/** The request answered by the end of its turn. Unchanged while the turn runs, or when it is not pending. */
export function settleInterrupt(interrupt: Interrupt, turn: Turn, now: string): Interrupt {
  if (interrupt.state !== 'pending' || turn.state === 'in_progress') return interrupt;
  return { ...interrupt, state: 'answered', outcome: turn.state, settled_at: now };
}

/** How a turn ends when it is stopped because of this request. */
export function interruptedBy({ by, via, note }: Pick<Interrupt, 'by' | 'via' | 'note'>): TurnEnd {
  return { state: 'aborted', abort_reason: 'interrupted', by, via, note };
}

/** The request withdrawn. Unchanged when it is not pending. */
export function withdrawInterrupt(interrupt: Interrupt, withdrawn_by: string, now: string): Interrupt {
  return interrupt.state === 'pending'
    ? { ...interrupt, state: 'withdrawn', withdrawn_by, settled_at: now }
    : interrupt;
}

/** The reply to an asker for a turn in its current state; `unconfirmed` while it still runs. */
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
    ...lastToolOf(turn),
  };
}

type LastTool = Pick<InterruptOutcome, 'last_tool' | 'last_tool_ms'>;

/** The tool that an ended turn started last, and how long before the end. Whether it had returned is not recorded. */
function lastToolOf({ last_tool, last_tool_at, ended_at }: Turn): LastTool {
  if (last_tool === null || last_tool_at === null || ended_at === null)
    return { last_tool: null, last_tool_ms: null };
  return { last_tool, last_tool_ms: Math.max(0, Date.parse(ended_at) - Date.parse(last_tool_at)) };
}

/** Whether a turn was stopped by an interrupt: a further request for it gets that as its answer. */
export function wasInterrupted(turn: Turn): boolean {
  return turn.state === 'aborted' && turn.abort_reason === 'interrupted';
}

/** Why this actor may not stop this session, as a sentence; null when it may. */
export function refusalToInterrupt(actor: Actor, session: Session): string | null {
  if (actor.kind === 'rule') return 'A rule may not interrupt: only the human or an agent may.';
  if (actor.kind === 'human') return null;
  if (actor.session_id === session.session_id)
    return 'A session cannot interrupt itself. To stop, end your turn.';
  if (actor.ancestors.includes(session.session_id))
    return 'A session cannot interrupt a session it descends from.';
  return actor.coordinates === undefined ? NO_COORDINATOR : null;
}

/** After this time without any event, a batch that was running when the stop was printed counts as finished, in ms. */
const BATCH_SILENCE_MS = 2_000;
/** The longest that a running tool keeps its batch open. */
const LONGEST_TOOL_MS = 10 * 60 * 1000;

/**
 * Whether a tool that starts now in a stopped turn proves that the stop never reached the client: the batch that was
 * running has closed, and a client that had read the stop would not have begun another.
 */
export function stopWasLost(turn: Turn, now: string): boolean {
  const { stopped_at, batch_closed_at, batch_at, open_tools } = turn;
  if (stopped_at === null) return false;
  if (batch_closed_at !== null) return true;
  const at = Date.parse(now);
  if (open_tools.some(({ since }) => at - Date.parse(since) < LONGEST_TOOL_MS)) return false;
  return at - Date.parse(batch_at ?? stopped_at) > BATCH_SILENCE_MS;
}

/** Whether a tool of Hive has told its caller to stop (adapters/mcp/tool.ts). */
export function saidToStop({ own, response }: { own: string | null; response: unknown }): boolean {
  const result = typeof response === 'string' ? objectInText(response) : objectIn(response);
  return own !== null && objectIn(result?.['structuredContent'])?.['interrupted_by'] !== undefined;
}

/** Records that a hook printed a stop, possibly again: a new batch counts as running from here on. */
export function stopPrinted(turn: Turn, now: string): Turn {
  return {
    ...turn,
    stopped_at: now,
    stops: turn.stops + 1,
    batch_at: now,
    batch_closed_at: null,
  };
}

// ---- Sentences about interrupts ----
// The sentences that people and models read, the same in Emacs, on the command line, over MCP and in hooks. `by` and notes are
// untrusted text: they are placed into sentences and never used as formats.

/** The result of an interrupt. */
export function outcomeSentence(outcome: InterruptOutcome): string {
  if (outcome.outcome === 'unconfirmed')
    return `no confirmation within ${seconds(outcome.waited_ms)}: the task is still running, and the interrupt stays in force`;
  return endSentence({ ...outcome, state: outcome.outcome });
}

type Ended = Pick<Turn, 'state' | 'abort_reason' | 'by' | 'cancelled_prompts'> & LastTool;

/** The end of the turn, for the one who asked for the interrupt. */
function endSentence(turn: Ended): string {
  if (turn.state === 'completed') return 'task completed before the interrupt reached it';
  const cancelled = turn.cancelled_prompts.length;
  const questions =
    cancelled === 0
      ? ''
      : `; ${cancelled} open question${cancelled === 1 ? ' was' : 's were'} cancelled with it`;
  return `${turnSentence(turn)}${turn.abort_reason === 'interrupted' ? sinceTool(turn) : ''}${questions}`;
}

/** How long ago the tool of the interrupted turn was called, as the end of a sentence: it may still have waited for a permission. */
function sinceTool({ last_tool, last_tool_ms }: LastTool): string {
  if (last_tool === null || last_tool_ms === null) return '';
  return `, ${seconds(last_tool_ms)} after it called ${excerpt(last_tool, 100)}`;
}

/** The outcome of an interrupt request; null while the turn has not ended. */
export function requestSentence({ state }: Interrupt, turn: Turn): string | null {
  if (state === 'withdrawn') return 'the interrupt was withdrawn';
  return state === 'answered' ? endSentence({ ...turn, ...lastToolOf(turn) }) : null;
}

function seconds(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 100) / 10} s`;
}

type InterruptText = Pick<Interrupt, 'by' | 'note'>;

/** On one line: a line of a coordinator's note could look like a sentence of Hive, such as an answer. */
function noted(note: string | null): string {
  return note === null ? '' : ` Note: ${note.split(LINE_BREAK).join(' ')}`;
}

/** Ends a note with a period unless it has its own end, because another sentence follows. */
function withPeriod(text: string): string {
  return /[.!?\u2026]$/.test(text) ? text : `${text}.`;
}

/** For a client that can be stopped: shown at its terminal, and read by the model at the next prompt. */
export function stopSentence({ by, note }: InterruptText): string {
  return `Interrupted ${whom(by)}.${noted(note)}`;
}

/** For a client where only the model can stop: the reason of a denial, and the result of our own tools. */
export function pleaseStop(asked: InterruptText): string {
  return `${withPeriod(stopSentence(asked))} Stop now: call no further tool, end your turn and wait for the human. Work in progress may be half done; do not repeat it unless asked.`;
}

/** The sentence for the session at the start of its next turn. */
export function abortNotice(turn: Turn, repeated: boolean): string {
  const { abort_reason, by, ended_at, note } = turn;
  const again = repeated ? ' (This may have reached you before.)' : '';
  const how = ENDED_HOW[abort_reason ?? 'unknown'](whom(by));
  return `${withPeriod(`Your last turn ${how} (${ended_at}).${noted(note)}`)} Work in progress may be half done: check before you continue.${again}`;
}

const ENDED_HOW: Readonly<Record<AbortReason, (by: string) => string>> = {
  interrupted: (by) => `was interrupted ${by}`,
  replaced: () => 'was replaced by a new one before it ended',
  ended: () => 'was cut off when its session ended',
  unknown: () => 'ended, and nothing says how',
};

/** For the human: a client continued after it was asked to stop. */
export function stopLostSentence(handle: string, stops: number): string {
  return `${handle} started another tool after it was asked to stop, so it was asked again (${stops} times now).`;
}
