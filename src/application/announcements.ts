/**
 * Popups of what only wants to be seen: pings, cards, mentions of the human. As with those of prompts
 * (popups.ts) the desks of a seat go first and one process has it, once a seat; what became of it is settled
 * by its kind. Many at once are one popup.
 */
import type { HiveEvent } from '../domain/events.ts';
import { noteArrivals, type Popup, STORM, type Verdict } from '../domain/popups.ts';
import { type Moment, momentOf, type Preferences, preferencesFrom } from '../domain/preferences.ts';
import { type PopupParts, type PopupParty, patienceOf } from './popups.ts';
import type { ReadTx, WriteTx } from './ports.ts';

/** What became of a popup. */
export type Became = { outcome: 'sent' } | { outcome: 'suppressed' | 'failed'; reason: string };

/** One kind of thing that is announced. */
export interface Announced<T> {
  /** The id of what an event says has come; null for any other event. */
  arrived(event: HiveEvent): string | null;
  /** The thing, as long as a popup of it makes sense. */
  find(tx: ReadTx, id: string): Promise<T | undefined>;
  idOf(item: T): string;
  verdict(item: T, preferences: Preferences, seat: { focused: boolean }, moment: Moment): Verdict;
  /** One popup for one or many. */
  popup(items: readonly [T, ...T[]], preferences: Preferences): Popup;
  /** `alone`: no desk is open, so that nobody else shows it. */
  settle(tx: WriteTx, id: string, became: Became, alone: boolean): Promise<void>;
}

/** How many one transaction claims. */
const BATCH = 100;
/** How long to wait after the store refused. */
const RETRY_MS = 1_000;
const TRIES = 10;

/** Runs until the returned function is called. */
export function startAnnouncements<T>(
  { store, feed, notifier, log }: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
  kind: Announced<T>,
): () => Promise<void> {
  const { seat, name } = party;
  const timers = new Set<NodeJS.Timeout>();
  const working = new Set<Promise<void>>();
  let recent: number[] = [];
  /** Claimed in a storm and not shown yet. */
  let gathered: T[] = [];
  let stopped = false;

  function run(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => log.warn('A popup came to nothing.', { error: String(error) }))
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

  async function claimAndShow(ids: readonly string[], tries = TRIES): Promise<void> {
    try {
      // A look costs no lock: mostly another process of the seat was first.
      const items = await store.read((tx) => Promise.all(ids.map((id) => kind.find(tx, id))));
      if (items.some((item) => item !== undefined)) show(await store.write((tx) => claim(tx, ids)));
    } catch (error) {
      if (tries <= 1) throw error;
      after(RETRY_MS, () => claimAndShow(ids, tries - 1));
    }
  }

  /** Those that this process is to show. Emacs may have said them already: the popup is beside that. */
  async function claim(tx: WriteTx, ids: readonly string[]): Promise<T[]> {
    const preferences = preferencesFrom(await tx.desks.preferences(seat));
    const desks = await tx.desks.online(tx.now);
    const focused = desks.some((desk) => desk.seat === seat && desk.focused);
    const claimed: T[] = [];
    for (const id of ids) {
      const item = await kind.find(tx, id);
      if (item === undefined || !(await tx.prompts.claimPopup(id, seat, name, tx.now))) continue;
      const verdict = kind.verdict(item, preferences, { focused }, momentOf(new Date(tx.now)));
      if (verdict.show) claimed.push(item);
      else await settle(tx, id, { outcome: 'suppressed', reason: verdict.reason }, desks.length === 0);
    }
    return claimed;
  }

  async function settle(tx: WriteTx, id: string, became: Became, alone: boolean): Promise<void> {
    const reason = became.outcome === 'sent' ? null : became.reason;
    await tx.prompts.setPopupOutcome(id, seat, became.outcome, reason);
    await kind.settle(tx, id, became, alone);
  }

  function show(items: readonly T[]): void {
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

  async function put([first, ...more]: readonly T[]): Promise<void> {
    if (first === undefined) return;
    const preferences = preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));
    let became: Became = { outcome: 'sent' };
    try {
      await notifier.show(kind.popup([first, ...more], preferences));
    } catch (error) {
      became = { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
    await store.write(async (tx) => {
      const alone = (await tx.desks.online(tx.now)).length === 0;
      for (const item of [first, ...more]) await settle(tx, kind.idOf(item), became, alone);
    });
  }

  const following = (async () => {
    const cursor = party.cursor ?? (await store.read((tx) => tx.events.head()));
    return feed.follow({
      cursor,
      calm: true,
      async onEvents(events) {
        const arrived = events.flatMap((event) => kind.arrived(event) ?? []);
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
