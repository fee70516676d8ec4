/** The event log, and the search through history. */
import type { HiveEvent, NewEvent } from '../../domain/events.ts';
import type { HistoryEntry } from '../../domain/history.ts';
import type { Page, Prunable, PrunableReads } from './records.ts';

export interface EventReads extends PrunableReads {
  /** The highest seq committed so far; 0 in a new store. */
  head(): Promise<number>;
  /** Events after a cursor, in order. */
  after(seq: number, limit: number): Promise<HiveEvent[]>;
  /** The highest seq that retention has removed: a cursor below it needs a snapshot (invariant 10). */
  pruned(): Promise<number>;
  of(subject: string, limit: number): Promise<HiveEvent[]>;
  /** Notices for desks, newest first; with `before` only those with a lower seq. */
  notices(limit: number, before?: number): Promise<HiveEvent[]>;
}

export interface EventRecords extends EventReads, Prunable {
  append(event: NewEvent): Promise<number>;
}

/** What a search through history looks for; a missing field matches all. */
export interface HistoryFilter {
  query?: string | undefined;
  agent?: string | undefined;
  project?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

export interface HistoryReads {
  search(filter: HistoryFilter): Promise<Page<HistoryEntry>>;
}
