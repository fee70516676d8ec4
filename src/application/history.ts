/** History: the event log, and the search through everything that was asked, answered and posted. */
import type { HiveEvent } from '../domain/events.ts';
import type { HistoryEntry } from '../domain/history.ts';
import type { HistoryFilter, Page, Store } from './ports.ts';
import { authorNamed } from './sessions.ts';

export interface HistoryService {
  /**
   * Prompts and messages that match, newest first. `agent` is a handle or its beginning.
   * @throws HiveError when it is the beginning of several handles.
   */
  search(filter: HistoryFilter): Promise<Page<HistoryEntry>>;
  /** The number of the newest event; 0 in a new store. A follower of the feed begins there. */
  head(): Promise<number>;
  /** The events after a number, in order. */
  eventsAfter(seq: number, limit: number): Promise<HiveEvent[]>;
  /** The newest events of one prompt, session or desk, in order. */
  eventsOf(subject: string, limit: number): Promise<HiveEvent[]>;
  /** The number up to which retention has removed events; 0 when it has removed none. */
  prunedUpTo(): Promise<number>;
}

export function createHistory(store: Store): HistoryService {
  return {
    search: (filter) =>
      store.read(async (tx) => {
        const agent = filter.agent === undefined ? undefined : await authorNamed(tx, filter.agent);
        return tx.history.search({ ...filter, agent });
      }),
    head: () => store.read((tx) => tx.events.head()),
    eventsAfter: (seq, limit) => store.read((tx) => tx.events.after(seq, limit)),
    eventsOf: (subject, limit) => store.read((tx) => tx.events.of(subject, limit)),
    prunedUpTo: () => store.read((tx) => tx.events.pruned()),
  };
}
