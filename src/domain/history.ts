/** History: everything that was asked, answered and posted, as one list of entries, newest first. Pure. */
import type { Source } from './sources.ts';

/** A prompt or a message, as the history lists it. */
export interface HistoryEntry {
  kind: 'prompt' | 'message';
  /** An ask_id or a message_id. */
  id: string;
  at: string;
  /** The asker or author. */
  agent: string;
  /** The present title of its session; null for the human, and for a session that is no longer known. */
  agent_title: string | null;
  /** Where the author ran; null for the human, and for a session that is no longer known. */
  source: Source | null;
  project: string | null;
  /** The question or the body. */
  text: string;
  /** The status of a prompt; null for a message. */
  status: string | null;
  /** The answer, in time or late. */
  decision: string | null;
  /** The human who answered the prompt or posted the message. */
  by: string | null;
  /** Whether a key of the person signed the answer; false for a message. */
  attested: boolean;
}

/** Compares two entries; those of the same time are ordered by their ids, which grow. */
export function newestFirst(a: HistoryEntry, b: HistoryEntry): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  const [left, right] = [placeOf(a.id), placeOf(b.id)];
  return left < right ? 1 : left > right ? -1 : 0;
}

/** The part of an id that orders entries of the same time, whatever their kind. */
function placeOf(id: string): string {
  return id.slice(id.indexOf('-') + 1);
}

/** The id that an entry with this prefix would have at another entry's place. */
export function atPlaceOf(id: string, prefix: string): string {
  return `${prefix}-${placeOf(id)}`;
}
