/**
 * Popups of pings and of cards without buttons. As with those of prompts (popups.ts) the desks of a seat go
 * first and one process has it; what became of it settles the ping. A card with buttons is shown by its prompt.
 */
import type { Outreach } from '../domain/outreach.ts';
import { isOutreachShown, outreachPopup, outreachStormPopup } from '../domain/outreach-popups.ts';
import { noteArrivals, type Popup, STORM } from '../domain/popups.ts';
import { momentOf, preferencesFrom } from '../domain/preferences.ts';
import { settleOutreach, type Whereto } from './outreach-records.ts';
import { type PopupParts, type PopupParty, patienceOf } from './popups.ts';
import type { WriteTx } from './ports.ts';

/** How many one transaction claims. */
const BATCH = 100;
/** How long to wait after the store refused. */
const RETRY_MS = 1_000;
const TRIES = 10;

/** Runs until the returned function is called. */
export function startOutreachPopups(
  { store, feed, notifier, log }: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
): () => Promise<void> {
  const { seat, name } = party;
  const timers = new Set<NodeJS.Timeout>();
  const working = new Set<Promise<void>>();
  let recent: number[] = [];
  /** Claimed in a storm and not shown yet. */
  let gathered: Outreach[] = [];
  let stopped = false;

  function run(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => log.warn('A ping or card could not be shown.', { error: String(error) }))
      .finally(() => working.delete(guarded));
    working.add(guarded);
  }

  function after(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!stopped) run(work());
    }, ms);
    timers.add(timer);
  }

  async function claimAndShow(outreach_ids: readonly string[], tries = TRIES): Promise<void> {
    try {
      // A look costs no lock: mostly another process of the seat was first.
      const items = await store.read((tx) => Promise.all(outreach_ids.map((id) => tx.outreach.get(id))));
      if (!items.some((item) => item?.status === 'sent' || item?.status === 'shown')) return;
      show(await store.write((tx) => claim(tx, outreach_ids)));
    } catch (error) {
      if (tries <= 1) throw error;
      after(RETRY_MS, () => claimAndShow(outreach_ids, tries - 1));
    }
  }

  /** Those that this process is to show. Emacs may have said them already: the popup is beside that. */
  async function claim(tx: WriteTx, outreach_ids: readonly string[]): Promise<Outreach[]> {
    const preferences = preferencesFrom(await tx.desks.preferences(seat));
    const desks = await tx.desks.online(tx.now);
    const focused = desks.some((desk) => desk.seat === seat && desk.focused);
    const claimed: Outreach[] = [];
    for (const outreach_id of outreach_ids) {
      const item = await tx.outreach.get(outreach_id);
      if (item === undefined || (item.status !== 'sent' && item.status !== 'shown')) continue;
      if (!(await tx.prompts.claimPopup(outreach_id, seat, name, tx.now))) continue;
      const verdict = isOutreachShown(item, preferences, { focused }, momentOf(new Date(tx.now)));
      if (verdict.show) claimed.push(item);
      else {
        await tx.prompts.setPopupOutcome(outreach_id, seat, 'suppressed', verdict.reason);
        // With a desk open Emacs shows it; with none this was the only way.
        if (desks.length === 0)
          await settleOutreach(tx, outreach_id, { status: 'suppressed', reason: verdict.reason });
      }
    }
    return claimed;
  }

  function show(items: readonly Outreach[]): void {
    if (items.length === 0) return;
    const arrivals = noteArrivals(recent, items.length, Date.now());
    recent = arrivals.recent;
    if (!arrivals.storm && gathered.length === 0) {
      for (const item of items) run(put([item]));
      return;
    }
    if (gathered.length === 0) after(STORM.window_ms, showStorm);
    gathered.push(...items);
  }

  async function showStorm(): Promise<void> {
    const items = gathered;
    gathered = [];
    await put(items);
  }

  async function put(items: readonly Outreach[]): Promise<void> {
    const preferences = preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));
    const [first] = items;
    if (first === undefined) return;
    const popup: Popup =
      items.length === 1 ? outreachPopup(first, preferences) : outreachStormPopup(items, preferences);
    let where: Whereto = { status: 'shown', shown_via: 'notification' };
    try {
      await notifier.show(popup);
    } catch (error) {
      where = { status: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
    await store.write(async (tx) => {
      const desks = await tx.desks.online(tx.now);
      for (const { outreach_id } of items) {
        const reason = where.status === 'failed' ? where.reason : null;
        await tx.prompts.setPopupOutcome(outreach_id, seat, reason === null ? 'sent' : 'failed', reason);
        if (reason === null || desks.length === 0) await settleOutreach(tx, outreach_id, where);
      }
    });
  }

  /** The popup of its prompt showed a card that has buttons. */
  async function settleCard(ask_id: string): Promise<void> {
    const card = await store.read((tx) => tx.outreach.byPrompt(ask_id));
    if (card?.status !== 'sent') return;
    const where = { status: 'shown', shown_via: 'notification' } as const;
    await store.write((tx) => settleOutreach(tx, card.outreach_id, where));
  }

  const following = (async () => {
    const cursor = party.cursor ?? (await store.read((tx) => tx.events.head()));
    return feed.follow({
      cursor,
      async onEvents(events) {
        const arrived: string[] = [];
        for (const { type, subject, data } of events) {
          if (subject === null) continue;
          if (type === 'outreach/sent' && data['kind'] !== 'report' && data['ask_id'] === null)
            arrived.push(subject);
          if (type === 'prompt/popup' && data['claimed_by'] === name && data['outcome'] === 'sent')
            run(settleCard(subject));
        }
        if (arrived.length === 0) return;
        const patience = await patienceOf(store, party);
        for (let from = 0; from < arrived.length; from += BATCH)
          after(patience, () => claimAndShow(arrived.slice(from, from + BATCH)));
      },
      // What was lost sight of stands in the list; a popup for it now would be old news.
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) => log.warn('Popups could not be started.', { error: String(error) }));

  return async () => {
    stopped = true;
    for (const timer of timers) clearTimeout(timer);
    const unfollow = await following.catch(() => null);
    await unfollow?.();
    await Promise.all(working);
  };
}
