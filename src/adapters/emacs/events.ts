/** What the sidecar tells Emacs unasked: each thing that changed, as it now stands, once a batch of events. */
import type { HiveEvent } from '../../domain/events.ts';
import type { Seat, Tell } from './connection.ts';
import { listed } from './frames.ts';

/** Receipts that Emacs itself caused, or that no list shows: telling them would only make noise. */
const UNTOLD: ReadonlySet<string> = new Set(['prompt/offered', 'prompt/popup']);

/** Follows the feed from the handshake on, until the returned function is called. */
export function startEvents({ hive, head_seq, desk }: Seat, tell: Tell): () => Promise<void> {
  return hive.feed.follow({
    cursor: head_seq,
    onEvents: (events) => tellPrompts(events),
    // Emacs lost its place: it takes a fresh snapshot.
    onResync: (head) => tell('desk/resync', { head_seq: head }),
  });

  async function tellPrompts(events: HiveEvent[]): Promise<void> {
    const created = new Set(
      events.filter((event) => event.type === 'prompt/created').map((event) => event.subject),
    );
    const changed = new Set(
      events
        .filter((event) => event.type.startsWith('prompt/') && !UNTOLD.has(event.type))
        .map((event) => event.subject),
    );
    for (const ask_id of changed) {
      if (ask_id === null) continue;
      const prompt = await hive.store.read((tx) => tx.prompts.get(ask_id));
      if (prompt === undefined) continue;
      const isNew = created.has(ask_id) && prompt.status === 'pending';
      await tell(isNew ? 'hivemind-ask' : 'prompt/changed', listed(prompt));
      if (isNew && desk !== null) await hive.prompts.mark(ask_id, 'offered');
    }
  }
}
