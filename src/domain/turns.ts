/**
 * Turns: a turn is the work of an agent from one prompt until it stops. This file has how a turn begins and ends, which questions
 * its end cancels (the table `CANCELS`, as in docs/turns.md), and what a client's events mean for it. Pure: no clock, no ids, no I/O.
 *
 *     in_progress ──▶ completed | aborted (interrupted | replaced | ended | unknown)
 *
 * A turn ends once; a second attempt to end it finds that it has ended.
 */

import type { Via } from './actors.ts';
import type { Prompt } from './prompts.ts';
import { excerpt } from './text.ts';

/**
 * `interrupted`: somebody stopped it. `replaced`: a new turn displaced it, according to the client's transcript or the library.
 * `ended`: its session ended. `unknown`: another turn began, and it is not known how this one ended.
 */
export type AbortReason = 'interrupted' | 'replaced' | 'ended' | 'unknown';

/** A tool call that has started and not returned. */
interface OpenTool {
  use_id: string | null;
  name: string;
  since: string;
  /** For a tool of Hive that addresses people or agents, its text: the client may refuse the call without reporting it. */
  says?: string;
}

/** One run of an agent. Times are ISO-8601 UTC with milliseconds. */
export interface Turn {
  /** Made by Hive. */
  turn_id: string;
  /** Increases with each turn, to order those of the same millisecond. */
  number: number;
  /** The session whose turn it is. */
  session_id: string;
  /** `prompt_id` of Claude Code, `turn_id` of Codex; null if the client reports none. */
  client_turn_id: string | null;
  /** The turn that this one continues, with the same client_turn_id. */
  continues: string | null;
  /** The first turn of that chain, or itself if it continues none: holds are counted over the whole chain. */
  chain_id: string;
  /** Whether it is running, and how it ended. It ends once. */
  state: 'in_progress' | 'completed' | 'aborted';
  /** Why it was aborted; null when it was not. */
  abort_reason: AbortReason | null;
  /** The actor that ended it; null if nobody did. */
  by: string | null;
  /** The channel through which it was ended; null if nobody ended it. */
  via: Via | null;
  /** The note of the human or agent that interrupted it. */
  note: string | null;
  /** When it began. */
  started_at: string;
  /** When it ended; null while it runs. */
  ended_at: string | null;
  /** The questions that were cancelled with it. */
  cancelled_prompts: string[];
  /** The client's own transcript of it, if the client reports one. */
  transcript_path: string | null;
  /** Tools that started plus batches of them that closed. */
  steps: number;
  /** Batches of tools that closed. */
  batches: number;
  /** The tool that last started. */
  last_tool: string | null;
  /** When the last tool started. */
  last_tool_at: string | null;
  /** Tool calls that have started and not returned. */
  open_tools: OpenTool[];
  /** When a hook last asked the client to stop; null if the turn was stopped in another way, or not at all. */
  stopped_at: string | null;
  /** How often a hook asked the client to stop. */
  stops: number;
  /** The last event of the batch that was running when the stop was printed. */
  batch_at: string | null;
  /** When that batch closed. */
  batch_closed_at: string | null;
}

/** The fields of a turn that are known when it begins. */
export interface TurnStart extends Pick<Turn, 'turn_id' | 'number' | 'session_id' | 'client_turn_id'> {
  /** The turn that it continues. */
  continues: Turn | null;
  transcript_path?: string | null;
}

/** A new turn in progress. */
export function startTurn({ continues, ...start }: TurnStart, now: string): Turn {
  return {
    ...start,
    continues: continues?.turn_id ?? null,
    chain_id: continues?.chain_id ?? start.turn_id,
    state: 'in_progress',
    abort_reason: null,
    by: null,
    via: null,
    note: null,
    started_at: now,
    ended_at: null,
    cancelled_prompts: [],
    transcript_path: start.transcript_path ?? null,
    steps: 0,
    batches: 0,
    last_tool: null,
    last_tool_at: null,
    open_tools: [],
    stopped_at: null,
    stops: 0,
    batch_at: null,
    batch_closed_at: null,
  };
}

/** How a turn ends. */
export type TurnEnd =
  | { state: 'completed' }
  | {
      state: 'aborted';
      abort_reason: AbortReason;
      by: string | null;
      via: Via | null;
      note: string | null;
    };

const BY_NOBODY = { state: 'aborted', by: null, via: null, note: null } as const;
/** Another turn began, or the client is idle, and it is not known how this one ended. */
export const ENDED_UNKNOWN: TurnEnd = { ...BY_NOBODY, abort_reason: 'unknown' };
/** The client's transcript shows that a new turn displaced it. */
export const REPLACED: TurnEnd = { ...BY_NOBODY, abort_reason: 'replaced' };
/** Its session ended. */
export const ENDED_WITH_SESSION: TurnEnd = { ...BY_NOBODY, abort_reason: 'ended' };
/** The person at the client's terminal pressed Esc. */
export const INTERRUPTED_AT_TERMINAL: TurnEnd = {
  state: 'aborted',
  abort_reason: 'interrupted',
  by: 'terminal',
  via: 'terminal',
  note: null,
};

/** Ends a turn. One that has ended is returned unchanged. */
export function endTurn(turn: Turn, end: TurnEnd, cancelled_prompts: string[], now: string): Turn {
  if (turn.state !== 'in_progress') return turn;
  const { state, ...rest } = end;
  return { ...turn, state, ...rest, ended_at: now, cancelled_prompts };
}

/** How long it has been running, or ran, in milliseconds. */
export function durationMs(turn: Turn, now: string): number {
  return Math.max(0, Date.parse(turn.ended_at ?? now) - Date.parse(turn.started_at));
}

/** How a turn ended, in one word. */
export type EndKind = AbortReason | 'completed';

/** The end in one word. */
export function endKind(end: TurnEnd): EndKind {
  return end.state === 'completed' ? 'completed' : end.abort_reason;
}

/**
 * Which pending questions of a turn are cancelled when it ends, with the kind of end as the reason. Those of an `ended` turn are
 * orphaned with their session and stay answerable.
 */
export const CANCELS: Readonly<Record<EndKind, (prompt: Pick<Prompt, 'when_turn_aborted'>) => boolean>> = {
  interrupted: ({ when_turn_aborted }) => when_turn_aborted !== 'stays',
  replaced: ({ when_turn_aborted }) => when_turn_aborted === 'cancelled',
  unknown: ({ when_turn_aborted }) => when_turn_aborted === 'cancelled',
  completed: () => false,
  ended: () => false,
};

/** Records that a tool started. */
export function toolStarted(turn: Turn, tool: Omit<OpenTool, 'since'>, now: string): Turn {
  const others = turn.open_tools.filter(({ use_id }) => use_id === null || use_id !== tool.use_id);
  return {
    ...turn,
    steps: turn.steps + 1,
    last_tool: tool.name,
    last_tool_at: now,
    open_tools: [...others, { ...tool, since: now }],
  };
}

/** Records that a tool returned, or never will. */
export function toolEnded(turn: Turn, tool: Omit<OpenTool, 'since'>, now: string): Turn {
  const open = turn.open_tools;
  const gone = open.findIndex(({ name, use_id }) =>
    tool.use_id === null ? name === tool.name : use_id === tool.use_id,
  );
  if (gone === -1) return turn;
  return { ...turn, open_tools: open.toSpliced(gone, 1), batch_at: turn.batch_at === null ? null : now };
}

/** Records that a notice has shown the human the words of a call. */
export function toolNoticed(turn: Turn, words: string): Turn {
  return {
    ...turn,
    open_tools: turn.open_tools.map(({ says, ...tool }) =>
      says === undefined || says === words ? tool : { ...tool, says },
    ),
  };
}

/**
 * Records that the client closed a batch of calls: none of them is running any more. If the client does not name them,
 * they are all the running calls, because an agent makes one batch at a time.
 */
export function batchClosed(turn: Turn, use_ids: readonly string[] | null, now: string): Turn {
  return {
    ...turn,
    batches: turn.batches + 1,
    open_tools: turn.open_tools.filter(
      ({ use_id }) => use_id !== null && use_ids?.includes(use_id) === false,
    ),
    batch_closed_at: turn.stopped_at === null ? null : now,
  };
}

// ---- What an event means for the turns of its session ----
// Decided from the stored turns and the event, following recordings of the real clients (docs/turns.md). A late event never
// changes the next turn.

/**
 * `prompt`: a UserPromptSubmit. `tool`: a tool is about to start. `after`: a tool or a batch returned.
 * `stop`: the client reports that the turn is over.
 */
export type ArrivalKind = 'prompt' | 'tool' | 'after' | 'stop';

interface Arrival {
  kind: ArrivalKind;
  /** The client's own id of the turn; null if it reports none. */
  client_turn_id: string | null;
}

/** The turns that an event may be about. */
interface KnownTurns {
  /** The running one. */
  current: Turn | null;
  /** The newest one with the event's own id. */
  named: Turn | null;
  /** The newest of all. */
  last: Turn | null;
}

type Meaning =
  /** A turn begins; a running one ends first. */
  | { kind: 'begin' }
  /** A new turn continues one that had ended. */
  | { kind: 'continue'; turn: Turn }
  /** The person typed while the turn was running: no transition. */
  | { kind: 'steer'; turn: Turn }
  /** The event is about this turn, whatever its state. */
  | { kind: 'about'; turn: Turn }
  /** The event is about no known turn. */
  | { kind: 'nothing' };

/** The meaning of an event for the turns of its session. */
export function meaningOf({ kind, client_turn_id }: Arrival, { current, named, last }: KnownTurns): Meaning {
  if (client_turn_id === null || (current !== null && current.client_turn_id === null))
    return withoutId(kind, current, last);
  if (current !== null && current.client_turn_id === client_turn_id)
    return { kind: kind === 'prompt' ? 'steer' : 'about', turn: current };
  if (named !== null) return ofEarlier(kind, named, current);
  return kind === 'after' ? { kind: 'nothing' } : { kind: 'begin' };
}

/** The meaning of an event that names a turn that has ended. */
function ofEarlier(kind: ArrivalKind, named: Turn, current: Turn | null): Meaning {
  // Typed while a Stop hook waited: the prompt has the old id, and the next run has a new one.
  if (kind === 'prompt') return { kind: 'steer', turn: named };
  // A late event, while the next turn runs, which it must not change.
  if (current !== null || kind !== 'tool') return { kind: 'about', turn: named };
  return continued(named);
}

/** A tool starts in a turn that has ended, because another hook held its Stop or woke it. An interrupted turn stays stopped. */
function continued(turn: Turn): Meaning {
  return turn.stopped_at !== null ? { kind: 'about', turn } : { kind: 'continue', turn };
}

/** For clients that report no turn id: a prompt while a tool is running steers; any other prompt begins a turn. */
function withoutId(kind: ArrivalKind, current: Turn | null, last: Turn | null): Meaning {
  if (current !== null) {
    if (kind !== 'prompt') return { kind: 'about', turn: current };
    return current.open_tools.length > 0 ? { kind: 'steer', turn: current } : { kind: 'begin' };
  }
  if (kind === 'prompt') return { kind: 'begin' };
  if (last === null) return kind === 'tool' ? { kind: 'begin' } : { kind: 'nothing' };
  return kind === 'tool' ? continued(last) : { kind: 'about', turn: last };
}

// ---- A turn in words ----
// The same words in Emacs, on the command line, over MCP and in hooks. `by` is untrusted text: it is inserted into a sentence and
// never used as a format. The sentences about interrupts are in interrupts.ts.

const ABORTED: Readonly<Record<AbortReason, (by: string) => string>> = {
  interrupted: (by) => `task interrupted ${by}`,
  replaced: () => 'task aborted: replaced by a new task',
  ended: () => 'task aborted: its session ended',
  unknown: () => 'task ended, and nothing says how',
};

/** A sentence about the state of a turn. */
export function turnSentence({
  state,
  abort_reason,
  by,
}: Pick<Turn, 'state' | 'abort_reason' | 'by'>): string {
  if (state === 'aborted') return ABORTED[abort_reason ?? 'unknown'](whom(by));
  return state === 'completed' ? 'task completed' : 'task running';
}

/** The actor who ended a turn, as a phrase; null means the client itself. */
export function whom(by: string | null): string {
  if (by === null) return 'by its client';
  return by === 'terminal' ? 'at the terminal' : `by ${excerpt(by, 100)}`;
}
