/**
 * What the sidecar tells Emacs unasked: each thing that changed, as it now stands, once a batch of events.
 * Each capability tells its own; the order within a batch is prompts first, notices last.
 */
import type { Following } from '../../application/feed.ts';
import { HiveError } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import type { DeskConnection, EventNotifier, Notify, NotifyThen } from './desk-connection.ts';
import { notifyNotices, tellPreferences } from './desks.ts';
import { notifyMentions } from './mentions.ts';
import { notifyMessages } from './messages.ts';
import { notifyOutreach } from './outreach.ts';
import { notifyPrompts } from './prompts.ts';
import { notifySessions } from './sessions.ts';
import { notifyTurns } from './turns.ts';

const EVENT_NOTIFIERS: readonly EventNotifier[] = [
  notifyPrompts,
  notifyMessages,
  notifyMentions,
  notifyOutreach,
  notifySessions,
  notifyTurns,
  tellPreferences,
  notifyNotices,
];

/** Follows the feed from the handshake on, until the returned function is called. */
export function startEvents(seat: DeskConnection, tell: Notify): Following {
  /** Up to here everything was told. */
  let told = seat.head_seq;
  /** What is still to be done about that. */
  const owed: (() => Promise<unknown>)[] = [];

  async function tellAll(events: readonly HiveEvent[]): Promise<void> {
    // All is read before anything is told: were the store to fail in between, the batch would be told twice.
    const found: Parameters<NotifyThen>[] = [];
    for (const teller of EVENT_NOTIFIERS) await teller(events, seat, (...one) => void found.push(one));
    for (const [method, params, then] of found) {
      await tell(method, params);
      if (then !== undefined) owed.push(then);
    }
  }

  return seat.hive.feed.follow({
    cursor: told,
    async onEvents(events) {
      const news = events.filter(({ seq }) => seq > told);
      await tellAll(news);
      told = news.at(-1)?.seq ?? told;
      for (let next = owed[0]; next !== undefined; next = owed[0]) {
        await next().catch((error: unknown) => {
          // Tried again with the next reading, but for what was pruned meanwhile.
          if (!(error instanceof HiveError) || error.code !== 'prompt_not_found') throw error;
        });
        owed.shift();
      }
    },
    // Emacs lost its place: it takes a fresh snapshot.
    async onResync(head) {
      await tell('desk/resync', { head_seq: head });
      told = head;
    },
  });
}
