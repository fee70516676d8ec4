/** History: the event log, and the search through everything that was asked, answered and posted, by text or author. */

import { invalidInput } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import type { HistoryEntry } from '../domain/history.ts';
import { foldHandle } from '../domain/mention-parser.ts';
import { explainAmbiguous, matchHandle } from '../domain/names.ts';
import { HUMAN_HANDLE } from '../domain/sessions.ts';
import type { HistoryFilter, Page, ReadTx, Store } from './ports.ts';

export function createHistory(store: Store) {
  return {
    /**
     * Prompts and messages that match, newest first. `agent` is a handle or its beginning.
     * @throws HiveError when it is the beginning of several handles.
     */
    search: (filter: HistoryFilter): Promise<Page<HistoryEntry>> =>
      store.read(async (tx) => {
        const agent = filter.agent === undefined ? undefined : await authorNamed(tx, filter.agent);
        return tx.history.search({ ...filter, agent });
      }),
    /** The number of the newest event; 0 in a new store. A follower of the feed begins there. */
    head: (): Promise<number> => store.read((tx) => tx.events.head()),
    /** The store's clock. */
    now: (): Promise<string> => store.read(async (tx) => tx.now),
    /** The events after a number, in order. */
    eventsAfter: (seq: number, limit: number): Promise<HiveEvent[]> =>
      store.read((tx) => tx.events.after(seq, limit)),
    /** The newest events of one prompt, session or desk, in order. */
    eventsOf: (subject: string, limit: number): Promise<HiveEvent[]> =>
      store.read((tx) => tx.events.of(subject, limit)),
    /** The number up to which retention has removed events; 0 when it has removed none. */
    prunedUpTo: (): Promise<number> => store.read((tx) => tx.events.pruned()),
  };
}

/**
 * The handle for filtering by author, given its beginning. A text that matches no session is returned as it is.
 * @throws HiveError `invalid_input` if several handles begin with it.
 */
export async function authorNamed(tx: ReadTx, typed: string): Promise<string> {
  const text = typed.replace(/^@/, '');
  if (foldHandle(text) === foldHandle(HUMAN_HANDLE)) return HUMAN_HANDLE;
  if ((await tx.sessions.byHandle(text)) !== undefined) return text;
  // A session may be removed before its messages are.
  if ((await tx.history.search({ agent: text, limit: 1 })).items.length > 0) return text;
  const match = matchHandle(text, await tx.sessions.handles());
  if ('ambiguous' in match) throw invalidInput(explainAmbiguous(text, match.ambiguous));
  return 'found' in match ? match.found.handle : text;
}
