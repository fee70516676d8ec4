/** Agents that a mention holds, as the human is notified of them. Pure: the time of day is given. */
import type { GateRecord } from './gate.ts';
import { labelled, type Source } from './sources.ts';

/** When the human of a seat wants to know: after so many seconds, 0 being at once. */
export type NotifyHeld = 'never' | number;

export interface HeldAgent {
  session_id: string;
  handle: string;
  source: Source;
  project: string;
  /** The mention that holds it, the most urgent of several, and who wrote it. */
  mention_id: string;
  from_handle: string;
  since: string;
}

/** When a seat is to be notified of a hold; null for never, or when it was. */
export function heldNoticeAt(
  { held_since, held_told }: Pick<GateRecord, 'held_since' | 'held_told'>,
  seat: string,
  when: NotifyHeld,
): string | null {
  if (held_since === null || when === 'never' || held_told.includes(seat)) return null;
  return new Date(Date.parse(held_since) + when * 1_000).toISOString();
}

/** What the gate remembers once a turn that began at `started_at` is held: a hold of an earlier turn is another one. */
export function holdOfTurn(record: GateRecord, started_at: string | null): GateRecord {
  const { held_since } = record;
  if (held_since === null || started_at === null || started_at <= held_since) return record;
  return { ...record, held_since: null, held_told: [] };
}

const NAMED = 5;

/** One sentence for all that are held, however many these are. `clock` gives a time as the human reads it. */
export function heldSentence(agents: readonly HeldAgent[], clock: (time: string) => string): string {
  const [only] = agents;
  if (only !== undefined && agents.length === 1)
    return `${labelled(only)} (${only.project}) has been held since ${clock(only.since)} by a mention from ${only.from_handle}. Its tools wait until it processes the mention.`;
  const named = agents
    .slice(0, NAMED)
    .map((agent) => `${labelled(agent)} since ${clock(agent.since)} by ${agent.from_handle}`);
  if (agents.length > NAMED) named.push(`${agents.length - NAMED} more`);
  return `${agents.length} agents are held by mentions: ${named.join(', ')}.`;
}
