/**
 * The board: the popups of one kind that this process shows on the human's desktop. It shows leased subjects, combines a storm
 * into one popup, removes popups that another process's storm includes or that are settled, and handles clicks.
 */

import {
  BROKEN_RATE,
  brokenBucket,
  NO_BUS,
  type Popup,
  type PopupPreferences,
  popupOf,
  STORM,
  type Told,
} from '../domain/popups.ts';
import { createBackground } from './background.ts';
import { giveNoticeSeldom } from './notices.ts';
import type { PopupResult } from './popup-kinds.ts';
import { type PopupDescriptor, type PopupParts, type PopupParty, readPreferences } from './popup-kinds.ts';
import type { PopupEnd, ShownPopup } from './world.ts';

/** One popup on the screen, and its unsettled items. */
interface Card<T> {
  waiting: Map<string, T>;
  shown: Promise<ShownPopup>;
  /** Aborted when it is removed, perhaps before it is on the screen. */
  removed: AbortController;
}

/** A storm is shown when nothing more has arrived for this many ms. */
const STORM_QUIET_MS = 300;
/** Each popup that can be clicked is a waiting process: beyond this many, the oldest is removed. */
const MAX_CARDS = 20;
/** Why leased popups were not shown. */
const ENDED = 'The process that was to show it has ended.';

/**
 * `settle` settles leases and resolves with the number of those that were not settled before. It notifies the seat's other
 * processes of the leases that a storm's popup covers.
 */
export function createPopupBoard<T>(
  { store, notifier, log, trust }: PopupParts,
  party: PopupParty,
  descriptor: PopupDescriptor<T>,
  settle: (items: readonly T[], result: PopupResult) => Promise<number>,
) {
  const { seat, name } = party;
  const scope = { seat, kind: descriptor.kind };
  const cards = new Set<Card<T>>();
  /** Items that were leased in a storm and are not shown yet, and since when. */
  let gathered: T[] = [];
  let gatheredSince = 0;
  let flush: NodeJS.Timeout | null = null;
  const stopping = new AbortController();
  const background = createBackground(log);
  const idOf = (item: T): string => descriptor.subjectOf(item).id;

  function run(work: Promise<void>): void {
    background.run('A popup could not be shown or updated.', () => work);
  }

  /** One popup for one or many. */
  async function render(items: readonly [T, ...T[]], preferences: PopupPreferences): Promise<Popup> {
    const [first, ...others] = items;
    const tell = async (item: T): Promise<Told> => descriptor.tell(item, preferences);
    const told: [Told, ...Told[]] = [await tell(first), ...(await Promise.all(others.map(tell)))];
    return popupOf(descriptor.kind, told, preferences, descriptor.openable);
  }

  /** Puts a popup on the screen, from where it can be removed from now on. `failure`: why it could not be shown. */
  async function put(items: readonly [T, ...T[]]): Promise<{ card: Card<T>; failure: string | null }> {
    let popup: Popup | undefined;
    const removed = new AbortController();
    const shown = readPreferences({ store, trust }, party).then(async (preferences) => {
      if (stopping.signal.aborted) throw new Error(ENDED);
      popup = await render(items, preferences);
      return notifier.show(popup, removed.signal);
    });
    const card: Card<T> = { waiting: new Map(items.map((item) => [idOf(item), item])), shown, removed };
    cards.add(card);
    const [oldest] = cards;
    if (cards.size > MAX_CARDS && oldest !== undefined) remove(oldest);
    try {
      const { outcome } = await shown;
      run(outcome.then((end) => popup && finish(card, { popup, first: items[0] }, end)));
      return { card, failure: null };
    } catch (error) {
      cards.delete(card);
      const failure = error instanceof Error ? error.message : String(error);
      if (!removed.signal.aborted && !stopping.signal.aborted) run(noticeBroken(failure));
      return { card, failure };
    }
  }

  /** Notifies the human, who may believe that popups reach them. Without a desktop, and of a phone, they expect none. */
  async function noticeBroken(failure: string): Promise<void> {
    if (failure === NO_BUS || party.phone !== undefined) return;
    const text = `Desktop notifications cannot be shown for ${seat}. Questions are still announced in Emacs. M-x hive-doctor says what is wrong.`;
    await store.write((tx) =>
      giveNoticeSeldom(tx, brokenBucket(seat), { severity: 'warning', text }, BROKEN_RATE),
    );
  }

  function remove(card: Card<T>): void {
    cards.delete(card);
    card.removed.abort();
    card.shown.then(
      (shown) => shown.close(),
      () => undefined,
    );
  }

  async function showOne(item: T): Promise<void> {
    const { card, failure } = await put([item]);
    const isSettled = failure !== null && card.waiting.size === 0;
    const result: PopupResult = isSettled ? { outcome: 'suppressed', reason: 'settled' } : resultOf(failure);
    const settled = await settle([item], result);
    // A storm, here or in another process, has included it in its own popup by now.
    if (settled === 0) remove(card);
  }

  /** Shows everything pending in the seat's storm as one popup, including what other processes have leased. */
  async function showStorm(): Promise<void> {
    flush = null;
    const arrived = gathered;
    gathered = [];
    const { storm, found } = await store.read(async (tx) => {
      const storm = await tx.popups.storm(scope);
      const leases = storm?.held_by === name ? await tx.popups.inStorm(scope, storm) : [];
      const found = await Promise.all(
        leases.map(async ({ subject, outcome }) => ({ outcome, item: await descriptor.find(tx, subject) })),
      );
      return { storm, found };
    });
    // Another process found this one hanging and took over the storm, including the items gathered here.
    if (storm?.held_by !== name) return;
    const pending = found.flatMap(({ item }) => item ?? []);
    const unshown = found.flatMap(({ item, outcome }) => (item && outcome === 'leased' ? [item] : []));
    const waits = new Set(pending.map(idOf));
    const settled = arrived.filter((item) => !waits.has(idOf(item)));
    if (settled.length > 0) await settle(settled, { outcome: 'suppressed', reason: 'settled' });
    const [first, ...more] = pending;
    if (first === undefined || unshown.length === 0) return;
    removeAll(waits);
    const { failure } = await put([first, ...more]);
    // No failure is recorded for items that other processes leased: they may be on the screen.
    await settle(failure === null ? unshown : arrived, { ...resultOf(failure), count: pending.length });
    await makeRoom();
  }

  /** Removes every popup whose items are in the storm's popup. */
  function removeAll(inStorm: ReadonlySet<string>): void {
    for (const card of cards) if ([...card.waiting.keys()].some((id) => inStorm.has(id))) remove(card);
  }

  async function makeRoom(): Promise<void> {
    const leases = await store.read(async (tx) => {
      const storm = await tx.popups.storm(scope);
      return storm === null || storm.held_by === name ? [] : tx.popups.inStorm(scope, storm);
    });
    removeAll(new Set(leases.map(({ subject }) => subject)));
  }

  async function finish(
    card: Card<T>,
    { popup, first }: { popup: Popup; first: T },
    end: PopupEnd,
  ): Promise<void> {
    cards.delete(card);
    // A popup that was closed, ignored or timed out decides nothing (invariant 3).
    if (end.kind === 'closed') return;
    const item = card.waiting.values().next().value ?? first;
    if (end.kind === 'opened') return descriptor.open?.(item);
    const label = popup.buttons[end.index];
    if (label !== undefined) await descriptor.press?.(item, label, stopping.signal);
  }

  return {
    /**
     * Shows subjects that were leased together. `storm`: they belong to a storm that this process shows. Returns before the popup
     * is on the screen.
     */
    show(items: readonly T[], storm: boolean): void {
      if (!storm) {
        for (const item of items) run(showOne(item));
        return;
      }
      const now = performance.now();
      if (gathered.length === 0) gatheredSince = now;
      gathered.push(...items);
      if (flush !== null) clearTimeout(flush);
      const left = gatheredSince + STORM.window_ms - now;
      flush = setTimeout(() => run(showStorm()), Math.max(0, Math.min(STORM_QUIET_MS, left)));
    },

    /** Removes the popups here that are part of the seat's storm, which another process shows. */
    giveWay(): void {
      run(makeRoom());
    },

    /** Removes the popup of a settled subject. */
    dismiss(id: string): void {
      for (const card of cards) {
        if (card.waiting.delete(id) && card.waiting.size === 0) remove(card);
      }
    },

    /** Removes everything and shows nothing more. */
    clear(): void {
      stopping.abort();
      if (flush !== null) {
        clearTimeout(flush);
        run(settle(gathered, resultOf(ENDED)).then(() => undefined));
      }
      // A popup that is about to appear is removed as soon as it has appeared.
      for (const card of cards) remove(card);
    },

    /** Resolves when no work is in progress. */
    drained: background.ended,
  };
}

function resultOf(failure: string | null): PopupResult {
  return { outcome: failure === null ? 'sent' : 'failed', reason: failure };
}
