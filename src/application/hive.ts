/** The hive: every service over one store. open-hive.ts wires the parts. */
import { userOfSeat } from '../domain/humans.ts';
import { localDay } from '../domain/times.ts';
import { createCallbacks } from './callbacks.ts';
import { createCallers } from './callers.ts';
import { startCodexAnswers } from './codex-dialogs.ts';
import { createCoordinators } from './coordinators.ts';
import { createDelivery } from './delivery.ts';
import { createClaims, createDesks } from './desks.ts';
import { createDoctor } from './doctor.ts';
import { createEdits } from './edits.ts';
import { startExpiry, startSweep } from './expiry.ts';
import { createFeed } from './feed.ts';
import { heldNotices } from './held-notices.ts';
import { createHistory } from './history.ts';
import type { LoadRunHandler } from './hook-context.ts';
import { createHooks } from './hooks.ts';
import { createHumans } from './humans.ts';
import { createInterrupts } from './interrupts.ts';
import { createLoops } from './loops.ts';
import { createMentions } from './mentions.ts';
import { createMessages } from './messages.ts';
import { createNotices } from './notices.ts';
import { createOutreach } from './outreach.ts';
import type { Parts } from './parts.ts';
import type { PopupParts, PopupParty } from './popup-kinds.ts';
import { createAudience, startPopups } from './popups.ts';
import type { ReadTx } from './ports.ts';
import { createPrompts } from './prompts.ts';
import { createRetention, startRetention } from './retention.ts';
import { createRules, startProposals } from './rules.ts';
import { type AskOfRun, runOfAsk } from './run-calls.ts';
import { createSeats } from './seats.ts';
import { createSessions } from './sessions.ts';
import { createSettings } from './settings.ts';
import { createStats } from './stats.ts';
import { createTrust } from './trust.ts';
import { createTurns, readingLastWords } from './turns.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { createWaits } from './waits.ts';
import { createCodexWaker, createWakes, type WakeWait } from './wakes.ts';

/** Every service of a process, and what it starts in the background. */
export type Hive = Readonly<ReturnType<typeof createHive>>;

/** The service of an extension, created once for each hive when it is first used. */
export function oncePerHive<Service extends object>(make: (hive: Hive) => Service): (hive: Hive) => Service {
  const services = new WeakMap<Hive, Service>();
  return (hive) => {
    const service = services.get(hive) ?? make(hive);
    services.set(hive, service);
    return service;
  };
}

/** The parts of the popup engine except for the notifier. */
export type OtherPopupParts = Omit<PopupParts, 'notifier'>;

export interface HiveParts extends Omit<Parts, 'feed'> {
  /** Handles the hooks of a run's agent; null in a build without runs. */
  runHandler: LoadRunHandler | null;
}

export function createHive(parts: HiveParts) {
  const { store, ids, processes, log, notifier, findProject, machine, files, codex, seat, env } = parts;
  const feed = createFeed(store, log);
  const standing = {
    store,
    processes,
    pid: parts.pid,
    seats: () => parts.trust().seats,
    humans: [userOfSeat(seat), ...(env['HIVE_USER'] === undefined ? [] : [env['HIVE_USER']])],
  };
  const sessions = createSessions(store, processes, standing);
  const seats = createSeats({ ...parts, sessions });
  const waits = createWaits(parts);
  const seatKey = () => (seats.isRegistered() ? seats.key() : null);
  const prompts = createPrompts(store, feed, ids, { seatKey, leaveKilled: waits.leaveKilled });
  const claims = createClaims(store);
  const mentions = createMentions(store);
  const expiring = [
    // Comes first, because a damaged prompt stays due as long as it is pending.
    { expireDue: prompts.setAsideDamaged, next: async () => null },
    { expireDue: prompts.expireDue, next: (tx: ReadTx) => tx.prompts.expiries.next() },
    { expireDue: prompts.escalateDue, next: (tx: ReadTx) => tx.prompts.escalations.next() },
    { expireDue: prompts.warnDue, next: (tx: ReadTx) => tx.prompts.warnings.next() },
    { expireDue: claims.releaseLapsed, next: (tx: ReadTx) => tx.claims.lapses.next() },
    { expireDue: waits.lapseDue, next: (tx: ReadTx) => tx.waits.lapses.next() },
    { expireDue: mentions.expireDue, next: (tx: ReadTx) => tx.mentions.expiries.next() },
  ];
  const delivery = createDelivery(store, () => parts.trust().seats);
  const turns = createTurns(store, ids, readingLastWords(files, machine));
  const callbacks = createCallbacks({ feed, prompts, delivery, ids, log });
  const settings = createSettings(store);
  const trust = createTrust(store, seat, parts.trust);
  const interrupts = createInterrupts({ ...parts, feed });
  const retention = createRetention(store);
  const wakes = createWakes({ store, feed, ids, processes });
  /** The functions that end the popups, each with the party for whom this process shows them on the desktop; null: elsewhere. */
  const popups = new Map<() => Promise<void>, PopupParty | null>();
  const rules = createRules({ ...parts, seats });
  const stops: (() => Promise<void>)[] = [];
  /** The background tasks of this process, each started once. */
  const running = new Map<string, () => unknown>();
  function once(name: string, start: () => () => unknown): void {
    if (!running.has(name)) running.set(name, start());
  }

  function keepPopups(stop: () => Promise<void>, party: PopupParty | null): () => Promise<void> {
    popups.set(stop, party);
    return async () => {
      if (popups.delete(stop)) await stop();
    };
  }

  const outreach = createOutreach(
    store,
    ids,
    createAudience({ store, notifier, trust }, () => [...popups.values()].filter((party) => party !== null)),
  );
  return {
    store_id: store.store_id,
    history: createHistory(store),
    notices: createNotices(store),
    log,
    feed,
    prompts,
    claims,
    humans: createHumans(store),
    callbacks,
    delivery,
    sessions,
    callers: createCallers(store, processes, sessions),
    /** Agents that their human allows to answer other agents. */
    coordinators: createCoordinators({ ...standing, prompts, actor: sessions.actor }),
    /** The current state of files that permissions show as diffs. */
    edits: createEdits({ store, files, machine }),
    outreach,
    settings,
    trust,
    seats,
    turns,
    interrupts,
    desks: createDesks(store, ids, log),
    messages: createMessages(store, ids),
    mentions,
    waits,
    loops: createLoops(store),
    /** The project that a directory belongs to. */
    findProject,
    /** Waits until the names in these folders and above are on disk. Emacs flushes its files, but cannot flush a folder. */
    flushFolders: files.flushFolders,
    /** The parts from which an extension builds its own services over the same store. */
    parts: { store, ids, processes, machine, seat, env, placeAt: parts.placeAt },
    /** Registers a function that ends an extension's work; `close` calls it. */
    onClose(stop: () => Promise<void>): void {
      stops.push(stop);
    },
    /** The run of a call that asks; null outside of runs, and for a subagent. */
    runOfAsk: (call: AskOfRun) => runOfAsk(store, call),
    hooks: createHooks({
      store,
      ids,
      processes,
      log,
      runHandler: parts.runHandler,
      waiting: async () => ({ feed, prompts }),
    }),
    wakes,
    retention,
    doctor: createDoctor({ ...parts, seats }),
    /** A human's answers that could not be accepted. */
    unreadAnswers: createUnreadAnswers(store),
    rules,
    stats: createStats(store, localDay),
    /** Expires prompts and mentions while this process lives; every long-lived process starts it. */
    startExpiry: () => once('expiry', () => startExpiry(store, expiring, log)),
    /** Removes records past retention, now and every hour, while this process lives; sidecars start it. */
    startRetention: () => once('retention', () => startRetention(retention, log)),
    /** Ends sessions whose process is gone, and turns that ended unreported, while this process lives; sidecars start it. */
    startSweep: () =>
      once('sweep', () => startSweep({ sessions, waits, interrupts, outreach, prompts, machine, log })),
    /** Searches for rules to propose, now and every hour, while this process lives; sidecars start it. */
    startProposals: () => once('proposals', () => startProposals(rules, log)),
    /** Passes answers from desks to the dialogs of Codex on this machine (codex-dialogs.ts); sidecars start it. */
    startCodexAnswers: () => once('answers', () => startCodexAnswers(parts, { feed, delivery })),
    /** Wakes idle sessions of Codex, if Codex started this process (wakes.ts). */
    startCodexWaker: (party: Pick<WakeWait, 'seat'>) =>
      createCodexWaker({ store, feed, wakes, codex, machine, log }, party),
    /** Notifies the human of a seat of agents that are held by mentions, until the returned function is called. */
    startHeldNotices: (seat: string) => startExpiry(store, [heldNotices(store, seat)], log),
    /** Shows popups for a seat until the returned function is called; every long-lived process starts it. */
    startPopups: (party: PopupParty) =>
      keepPopups(startPopups({ store, feed, prompts, notifier, log, trust }, party), party),
    /** Starts popups that an extension shows elsewhere than on the desktop, until the returned function is called. */
    startOtherPopups: (start: (parts: OtherPopupParts) => () => Promise<void>) =>
      keepPopups(start({ store, feed, prompts, log, trust }), null),
    async close() {
      await Promise.all([...running.values()].map((stop) => stop()));
      await Promise.all([...popups.keys()].map((stop) => stop()));
      await Promise.all(stops.map((stop) => stop()));
      interrupts.close();
      await callbacks.close();
      await feed.close();
      await store.close();
    },
  };
}
