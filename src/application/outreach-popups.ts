/**
 * Popups of pings and of cards without buttons (announcements.ts); what became of one settles the ping.
 * A card with buttons is shown by its prompt.
 */
import type { Outreach } from '../domain/outreach.ts';
import { isOutreachShown, outreachPopup, outreachStormPopup } from '../domain/outreach-popups.ts';
import { type Announced, startAnnouncements } from './announcements.ts';
import { settleOutreach } from './outreach-records.ts';
import type { PopupParts, PopupParty } from './popups.ts';
import type { Store } from './ports.ts';

const SENT: Announced<Outreach> = {
  arrived: ({ type, subject, data }) =>
    (type === 'outreach/sent' || type === 'outreach/unseen') &&
    data['kind'] !== 'report' &&
    data['ask_id'] === null
      ? subject
      : null,
  async find(tx, outreach_id) {
    const item = await tx.outreach.get(outreach_id);
    const waits = item?.status === 'sent' || item?.status === 'shown' || item?.status === 'unseen';
    return waits ? item : undefined;
  },
  idOf: (item) => item.outreach_id,
  verdict: isOutreachShown,
  popup: (items, preferences) =>
    items.length === 1 ? outreachPopup(items[0], preferences) : outreachStormPopup(items, preferences),
  async settle(tx, outreach_id, became, alone) {
    if (became.outcome === 'sent') {
      await settleOutreach(tx, outreach_id, { status: 'shown', shown_via: 'notification' });
      return;
    }
    // With a desk open Emacs shows it; with none this was the only way.
    if (alone) await settleOutreach(tx, outreach_id, { status: 'unseen', reason: became.reason });
  },
};

/** Runs until the returned function is called. */
export function startOutreachPopups(
  parts: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
): () => Promise<void> {
  const stopAnnouncing = startAnnouncements(parts, party, SENT);
  const stopCards = settleCards(parts, party);
  return async () => {
    await stopAnnouncing();
    await stopCards();
  };
}

/** The popup of its prompt showed a card that has buttons. */
function settleCards(
  { store, feed, log }: Pick<PopupParts, 'store' | 'feed' | 'log'>,
  { name, cursor }: PopupParty,
): () => Promise<void> {
  const following = (async () => {
    return feed.follow({
      calm: true,
      cursor: cursor ?? (await store.read((tx) => tx.events.head())),
      async onEvents(events) {
        for (const { type, subject, data } of events) {
          const shown = type === 'prompt/popup' && data['claimed_by'] === name && data['outcome'] === 'sent';
          if (shown && subject !== null) await settleCard(store, subject);
        }
      },
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) => log.warn('Cards could not be followed.', { error: String(error) }));
  return async () => {
    const unfollow = await following.catch(() => null);
    await unfollow?.();
  };
}

async function settleCard(store: Store, ask_id: string): Promise<void> {
  const card = await store.read((tx) => tx.outreach.byPrompt(ask_id));
  if (card?.status !== 'sent' && card?.status !== 'unseen') return;
  const where = { status: 'shown', shown_via: 'notification' } as const;
  await store.write((tx) => settleOutreach(tx, card.outreach_id, where));
}
