/**
 * The popup engine decides which process of a seat shows a popup. Every process of the seat follows the feed and waits before it
 * acts: the focused desk not at all, other desks a little, an agent's own process longer. Then a lease in the store, one for each
 * subject and seat, gives the popup to one of them. Storms are counted over these leases, so it does not matter how many
 * processes serve a seat, or which of them dies. popup-kinds.ts defines the kinds of popups, popup-board.ts has the popups on the
 * screen.
 */

import type { HiveEvent } from '../domain/events.ts';
import type { Absence } from '../domain/outreach.ts';
import type { PopupSubject, Storm } from '../domain/popups.ts';
import {
  breaksQuiet,
  goesOn,
  isStormy,
  QUIET_RATE,
  quietBucket,
  STORM,
  stormOwnedUntil,
  whyNoPopup,
} from '../domain/popups.ts';
import { momentOf, type Preferences, preferencesFrom, type SuppressReason } from '../domain/preferences.ts';
import { timeAfter } from '../domain/times.ts';
import { beside, createRetries } from './background.ts';
import { spendCredit } from './notices.ts';
import type { Audience } from './outreach.ts';
import { createPopupBoard } from './popup-board.ts';
import {
  mentionPopups,
  outreachPopups,
  type PopupDescriptor,
  type PopupParts,
  type PopupParty,
  type PopupResult,
  preferencesOf,
  promptPopups,
} from './popup-kinds.ts';
import type { Store, WriteTx } from './ports.ts';
import type { Notifier } from './world.ts';

/** In ms: how long a desk lets the focused one go first. */
export const OTHER_DESK_MS = 300;
/** In ms: how long a process without a desk lets the desks go first. */
export const NO_DESK_MS = 2_000;
/** In ms: how long a process whose popup has no buttons leaves a question to a live desk. */
export const HUNG_DESK_MS = 6_000;
/** In ms: after this time without an outcome, the process that holds the lease counts as dead. */
export const LOST_LEASE_MS = 10_000;
/** How many subjects one transaction leases or settles. */
const BATCH = 100;
/** How many pending subjects of a kind a phone begins with. */
const MOST_PENDING = 500;

/** How long this process lets others go first, in ms. */
export async function popupDelay(store: Store, { seat, desk_id, phone }: PopupParty): Promise<number> {
  // A phone lets no other process go first.
  if (phone !== undefined) return 0;
  if (desk_id === null) return NO_DESK_MS;
  const desks = await store.read((tx) => tx.desks.online(tx.now));
  const focused = desks.filter((desk) => desk.seat === seat && desk.focused);
  return focused.length === 0 || focused.some((desk) => desk.desk_id === desk_id) ? 0 : OTHER_DESK_MS;
}

/** Runs until the returned function is called, which removes the remaining popups. */
export function startPopups(parts: PopupParts, party: PopupParty): () => Promise<void> {
  const { store, feed, notifier, log } = parts;
  const queues = [
    createQueue(parts, party, promptPopups(parts, party)),
    createQueue(parts, party, outreachPopups(party)),
    createQueue(parts, party, mentionPopups(party)),
  ];
  const unfollow = feed.follow({
    cursor: party.cursor,
    debounce: true,
    async onEvents(events) {
      const isDue = events.some((event) => queues.some((queue) => queue.isDue(event)));
      const at = isDue ? performance.now() + (await popupDelay(store, party)) : 0;
      for (const queue of queues) queue.take(events, at);
    },
    // Missed events are in the list; a popup for them would come too late.
    onResync: async () => undefined,
  });
  if (party.phone !== undefined)
    void beside(log, 'What waits already is not pushed.', async () => {
      // Reads what is pending after the feed has begun, so that nothing is missed in between.
      await unfollow.caughtUp();
      await Promise.all(queues.map((queue) => queue.addPending()));
    });

  return async () => {
    const halted = Promise.all(queues.map((queue) => queue.halt()));
    await unfollow();
    // A lease in progress still reaches the board, which completes it.
    await halted;
    for (const { board } of queues) board.clear();
    await notifier.close();
    await Promise.all(queues.map(({ board }) => board.drained()));
  };
}

/** The popups of one kind that are due and not leased yet. */
function createQueue<T>(parts: PopupParts, party: PopupParty, descriptor: PopupDescriptor<T>) {
  const { store, log } = parts;
  const { seat, name } = party;
  const { kind } = descriptor;
  const due = new Map<string, number>();
  const board = createPopupBoard(parts, party, descriptor, recordOutcomes);
  const retries = createRetries(log, {
    fails: 'Popups could not be leased and will be tried again.',
    works: 'Popups can be leased again.',
  });
  let timer: NodeJS.Timeout | null = null;
  let leasing: Promise<void> = Promise.resolve();
  let stopped = false;

  async function recordOutcomes(items: readonly T[], result: PopupResult): Promise<number> {
    // A storm of thousands must not block the store for others until it is settled.
    let settled = 0;
    for (let from = 0; from < items.length; from += BATCH) {
      settled += await store.write(async (tx) => {
        let count = 0;
        for (const item of items.slice(from, from + BATCH))
          if (await recordPopupOutcome(tx, item, { descriptor, seat, result })) count += 1;
        // The seat's other processes remove their popups only once the whole storm is settled.
        if (from + BATCH >= items.length && result.outcome === 'sent' && result.count !== undefined)
          await tx.events.append({
            type: 'popup/storm',
            data: { kind, seat, held_by: name, count: result.count },
          });
        return count;
      });
    }
    return settled;
  }

  function schedule(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (stopped || due.size === 0) return;
    let next = Number.POSITIVE_INFINITY;
    for (const at of due.values()) next = Math.min(next, at);
    timer = setTimeout(
      () => {
        timer = null;
        leasing = leasing.then(leaseDue).catch((error: unknown) => {
          const later = performance.now() + retries.failed(error);
          for (const [id, at] of due) due.set(id, Math.max(at, later));
          schedule();
        });
      },
      Math.max(0, next - performance.now()),
    );
  }

  async function leaseDue(): Promise<void> {
    if (stopped) return;
    const now = performance.now();
    const ids = [...due]
      .filter(([, at]) => at <= now)
      .map(([id]) => id)
      .slice(0, BATCH);
    // Reading takes no lock: most processes of a seat find that another was first, or that the subject is settled.
    const open = await store.read(async (tx) =>
      Promise.all(
        ids.map(async (id) => {
          const outcome = await tx.popups.outcome(id, seat);
          const isOpen = outcome === undefined || outcome === 'leased';
          return isOpen && (await descriptor.find(tx, id)) !== undefined;
        }),
      ),
    );
    const leases = open.includes(true)
      ? await store.write((tx) => leasePopups(tx, ids, party, descriptor))
      : { shown: [], again: new Map<string, number>(), storm: false };
    retries.worked();
    for (const id of ids) {
      const at = leases.again.get(id);
      if (at === undefined) due.delete(id);
      else due.set(id, at);
    }
    schedule();
    if (leases.shown.length > 0) board.show(leases.shown, leases.storm);
  }

  function isStormOfAnother({ type, data }: HiveEvent): boolean {
    return (
      type === 'popup/storm' && data['kind'] === kind && data['seat'] === seat && data['held_by'] !== name
    );
  }

  return {
    /** Makes subjects due that are already pending. */
    async addPending(): Promise<void> {
      for (const id of await store.read((tx) => descriptor.pending(tx, MOST_PENDING)))
        due.set(id, performance.now());
      schedule();
    },
    isDue: (event: HiveEvent): boolean => descriptor.due(event) !== null,
    /** Processes events; subjects that they make due may be leased from `at` on (by performance.now). */
    take(events: readonly HiveEvent[], at: number): void {
      for (const event of events) {
        const arrived = descriptor.due(event);
        if (arrived !== null) due.set(arrived, at);
        const settled = descriptor.settled?.(event) ?? null;
        if (settled === null) continue;
        board.dismiss(settled);
        due.delete(settled);
      }
      schedule();
      if (events.some(isStormOfAnother)) board.giveWay();
    },
    /** Leases nothing more; resolves when nothing is being leased. */
    async halt(): Promise<void> {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await leasing;
    },
    board,
  };
}

// ---- Leases ----
// In one transaction, a process leases the subjects that it has to show, and finds out whether they belong to a storm.

/** The result of one attempt to lease popups. */
interface Leases<T> {
  /** The subjects that were leased now, to be shown. */
  shown: readonly T[];
  /** The subjects that are not available yet, and when to try again (by performance.now). */
  again: ReadonlyMap<string, number>;
  /** Whether the shown subjects belong to a storm, which this process then holds. */
  storm: boolean;
}

async function leasePopups<T>(
  tx: WriteTx,
  ids: readonly string[],
  party: PopupParty,
  descriptor: PopupDescriptor<T>,
): Promise<Leases<T>> {
  const { seat, name, answers, phone } = party;
  const scope = { seat, kind: descriptor.kind };
  const standing = await tx.popups.storm(scope);
  const clock = Date.parse(tx.now);
  const again = new Map<string, number>();
  if (standing !== null && standing.held_by !== name && clock < stormOwnedUntil(standing)) {
    for (const id of ids) again.set(id, performance.now() + stormOwnedUntil(standing) - clock);
    return { shown: [], again, storm: false };
  }
  const preferences = await preferencesOf(tx, party);
  const desks = await tx.desks.online(tx.now);
  const focused = desks.some((desk) => desk.seat === seat && desk.focused);
  const givesWay =
    answers === undefined && scope.kind === 'prompt' && desks.some((desk) => desk.seat === seat);
  const shown: T[] = [];
  for (const id of ids) {
    const item = await descriptor.find(tx, id);
    if (item === undefined) continue;
    // While a desk is alive, the popup is left to it, because its popup has buttons. A hanging desk is not waited for.
    if (givesWay && descriptor.subjectOf(item).created_at > before(tx, HUNG_DESK_MS)) {
      const outcome = await tx.popups.outcome(id, seat);
      if (outcome === undefined) again.set(id, performance.now() + NO_DESK_MS);
      if (outcome === 'leased') again.set(id, performance.now() + LOST_LEASE_MS);
      continue;
    }
    const moment = { kind: scope.kind, preferences, desks, now: tx.now };
    const wait_ms = phone === undefined ? 0 : phone.wait(descriptor.subjectOf(item), moment);
    if (wait_ms !== null && wait_ms > 0) {
      again.set(id, performance.now() + wait_ms);
      continue;
    }
    const lease = { ...scope, subject: id, held_by: name };
    const isLeased =
      (await tx.popups.lease(lease, tx.now)) ||
      (await tx.popups.takeOver(lease, tx.now, before(tx, LOST_LEASE_MS)));
    if (!isLeased) {
      // The process that holds the lease may die before the popup is on the screen.
      if ((await tx.popups.outcome(id, seat)) === 'leased') again.set(id, performance.now() + LOST_LEASE_MS);
      continue;
    }
    const reason =
      wait_ms === null
        ? 'focused'
        : await reasonNotToShow(tx, descriptor.subjectOf(item), { seat, preferences, focused });
    if (reason === null) shown.push(item);
    else await recordPopupOutcome(tx, item, { descriptor, seat, result: { outcome: 'suppressed', reason } });
  }
  const subjects = shown.map((item) => descriptor.subjectOf(item));
  return { shown, again, storm: await joinStorm(tx, subjects, { descriptor, seat, standing }) };
}

/** Why a popup is not shown; null if it is. One that breaks through do-not-disturb or quiet hours is charged. */
async function reasonNotToShow(
  tx: WriteTx,
  subject: PopupSubject,
  { seat, preferences, focused }: { seat: string; preferences: Preferences; focused: boolean },
): Promise<SuppressReason | null> {
  const moment = momentOf(tx.now);
  const reason = whyNoPopup(subject, preferences, { focused }, moment);
  if (reason !== null || !breaksQuiet(subject, preferences, moment)) return reason;
  return (await spendCredit(tx, quietBucket(seat), QUIET_RATE)) ? null : 'quiet_criticals';
}

/** Whether these new leases belong to a storm; marks them if they do. */
async function joinStorm<T>(
  tx: WriteTx,
  subjects: readonly PopupSubject[],
  { descriptor, seat, standing }: { descriptor: PopupDescriptor<T>; seat: string; standing: Storm | null },
): Promise<boolean> {
  const newest = subjects
    .map(({ created_at }) => created_at)
    .toSorted()
    .at(-1);
  if (newest === undefined) return false;
  const scope = { seat, kind: descriptor.kind };
  const arrival = { newest, now: tx.now };
  const { count, first } = await tx.popups.recent(scope, before(tx, STORM.window_ms));
  if (!isStormy(standing, count, arrival)) return false;
  // The popup of a past storm stays on the screen while something in it is unsettled, and becomes part of the new storm.
  // Kinds that are never settled start a new storm.
  const grows =
    standing !== null &&
    (goesOn(standing, arrival) ||
      (descriptor.settled !== null && (await tx.popups.isStormOpen(scope, standing))));
  const since = grows ? standing.since : (first ?? tx.now);
  for (const { id } of subjects) await tx.popups.joinStorm(id, seat, since);
  return true;
}

function before(tx: WriteTx, ms: number): string {
  return timeAfter(tx.now, -ms);
}

/** Settles a lease once; false if another process has settled it as part of its storm. */
async function recordPopupOutcome<T>(
  tx: WriteTx,
  item: T,
  { descriptor, seat, result }: { descriptor: PopupDescriptor<T>; seat: string; result: PopupResult },
): Promise<boolean> {
  const { id } = descriptor.subjectOf(item);
  if (!(await tx.popups.settle(id, seat, result.outcome, result.reason))) return false;
  await descriptor.record(tx, item, result);
  return true;
}

// ---- Whether a popup would be shown now ----

/** `parties` are the parties for whom this process shows popups now. */
export function createAudience(
  { store, notifier, trust }: Pick<PopupParts, 'store' | 'trust'> & { notifier: Pick<Notifier, 'reachable'> },
  parties: () => Iterable<Pick<PopupParty, 'seat'>>,
): Audience {
  return async (sent) => {
    let absence: Absence = 'nobody_there';
    const { desks, preferences, now } = await store.read(async (tx) => ({
      desks: await tx.desks.online(tx.now),
      preferences: await Promise.all(
        [...parties()].map(async ({ seat }) => preferencesFrom(await tx.desks.preferences(seat))),
      ),
      now: tx.now,
    }));
    if (desks.length > 0) return null;
    for (const preferred of preferences) {
      const reason = whyNoPopup(sent, preferred, { focused: false }, momentOf(now));
      if (reason !== null) absence = reason;
      else if (await notifier.reachable(trust.authority().notify_command)) return null;
    }
    return absence;
  };
}
