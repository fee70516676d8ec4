/**
 * What an event of a client means for the turns of its session: pure, from what the store knows and what the
 * event tells. As recorded from the real clients (docs/turns.md); a late event never touches the next turn.
 */
import type { Turn } from './turns.ts';

/**
 * `prompt`: a UserPromptSubmit. `tool`: a tool is about to start. `after`: a tool or a batch came back.
 * `stop`: the client says that the turn is over.
 */
export type ArrivalKind = 'prompt' | 'tool' | 'after' | 'stop';

export interface Arrival {
  kind: ArrivalKind;
  /** The client's own id of the turn; null where it tells none. */
  client_turn_id: string | null;
}

/** The turns that an event may be about. */
export interface KnownTurns {
  /** The one that runs. */
  current: Turn | null;
  /** The newest under the event's own id. */
  named: Turn | null;
  /** The newest of all. */
  last: Turn | null;
}

export type Meaning =
  /** A turn begins; one that runs ends first. */
  | { kind: 'begin' }
  /** A turn that had ended goes on: a new one continues it. */
  | { kind: 'continue'; turn: Turn }
  /** The person typed while it runs: no transition. */
  | { kind: 'steer'; turn: Turn }
  /** It is about this turn, whatever its state. */
  | { kind: 'about'; turn: Turn }
  /** It is about no turn that is known. */
  | { kind: 'nothing' };

export function meaningOf({ kind, client_turn_id }: Arrival, { current, named, last }: KnownTurns): Meaning {
  if (client_turn_id === null || (current !== null && current.client_turn_id === null))
    return withoutId(kind, current, last);
  if (current !== null && current.client_turn_id === client_turn_id)
    return { kind: kind === 'prompt' ? 'steer' : 'about', turn: current };
  if (named !== null) return ofEarlier(kind, named, current);
  return kind === 'after' ? { kind: 'nothing' } : { kind: 'begin' };
}

/** The event names a turn that has ended. */
function ofEarlier(kind: ArrivalKind, named: Turn, current: Turn | null): Meaning {
  // Typed while a Stop hook waits: it carries the old id, and the run that follows has a new one.
  if (kind === 'prompt') return { kind: 'steer', turn: named };
  // Late, while the next turn runs: it must not touch that one.
  if (current !== null || kind !== 'tool') return { kind: 'about', turn: named };
  return goesOn(named);
}

/** A tool starts in a turn that has ended: somebody else held its Stop, or woke it. One that was stopped stays stopped. */
function goesOn(turn: Turn): Meaning {
  return turn.stopped_at !== null ? { kind: 'about', turn } : { kind: 'continue', turn };
}

/** Clients that tell no id: a prompt while a tool is under way steers, any other begins. */
function withoutId(kind: ArrivalKind, current: Turn | null, last: Turn | null): Meaning {
  if (current !== null) {
    if (kind !== 'prompt') return { kind: 'about', turn: current };
    return current.open_tools.length > 0 ? { kind: 'steer', turn: current } : { kind: 'begin' };
  }
  if (kind === 'prompt') return { kind: 'begin' };
  if (last === null) return kind === 'tool' ? { kind: 'begin' } : { kind: 'nothing' };
  return kind === 'tool' ? goesOn(last) : { kind: 'about', turn: last };
}
