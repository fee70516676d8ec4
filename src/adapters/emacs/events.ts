/**
 * Notifications to Emacs: each thing that changed, in its current state, once per batch of events. Each capability has
 * its notifier; within a batch prompts come first and notices last.
 */
import type { Following } from '../../application/feed.ts';
import { HiveError } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import type { DeskConnection, EventNotifier, Notify, NotifyThen } from './desk-connection.ts';
import { notifyNotices, notifyPreferences } from './desks.ts';
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
  notifyPreferences,
  notifyNotices,
];

/** Follows the feed from the handshake on, until the returned function is called. */
export function startEvents(connection: DeskConnection, notify: Notify): Following {
  /** Everything up to this event has been sent. */
  let sent = connection.head_seq;
  /** What is still to do after a notification, such as a receipt. */
  const afterwards: (() => Promise<unknown>)[] = [];

  async function notifyAll(events: readonly HiveEvent[]): Promise<void> {
    // Everything is read before anything is sent: if the store failed in between, the batch would be sent twice.
    const found: Parameters<NotifyThen>[] = [];
    for (const notifier of EVENT_NOTIFIERS)
      await notifier(events, connection, (...one) => void found.push(one));
    for (const [method, params, then] of found) {
      await notify(method, params);
      if (then !== undefined) afterwards.push(then);
    }
  }

  return connection.hive.feed.follow({
    cursor: sent,
    async onEvents(events) {
      const unsent = events.filter(({ seq }) => seq > sent);
      await notifyAll(unsent);
      sent = unsent.at(-1)?.seq ?? sent;
      for (let next = afterwards[0]; next !== undefined; next = afterwards[0]) {
        await next().catch((error: unknown) => {
          // Tried again with the next batch, unless retention has removed the prompt.
          if (!(error instanceof HiveError) || error.code !== 'prompt_not_found') throw error;
        });
        afterwards.shift();
      }
    },
    // Events were removed before Emacs saw them, so it takes a new snapshot.
    async onResync(head) {
      await notify('desk/resync', { head_seq: head });
      sent = head;
    },
  });
}
