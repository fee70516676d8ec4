/**
 * What the sidecar tells Emacs unasked: each thing that changed, as it now stands, once a batch of events.
 * Each capability tells its own; the order within a batch is prompts first, notices last.
 */
import { tellMentions } from './mentions.ts';
import { tellMessages } from './messages.ts';
import { tellNotices } from './notices.ts';
import { tellOutreach } from './outreach.ts';
import { tellPrompts } from './prompts.ts';
import type { Seat, Tell, Teller } from './seat.ts';
import { tellSessions } from './sessions.ts';
import { tellTurns } from './turns.ts';

const TELLERS: readonly Teller[] = [
  tellPrompts,
  tellMessages,
  tellMentions,
  tellOutreach,
  tellSessions,
  tellTurns,
  tellNotices,
];

/** Follows the feed from the handshake on, until the returned function is called. */
export function startEvents(seat: Seat, tell: Tell): () => Promise<void> {
  return seat.hive.feed.follow({
    cursor: seat.head_seq,
    async onEvents(events) {
      for (const teller of TELLERS) await teller(events, seat, tell);
    },
    // Emacs lost its place: it takes a fresh snapshot.
    onResync: (head) => tell('desk/resync', { head_seq: head }),
  });
}
