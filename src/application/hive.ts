/** The hive: every service over one store. open-hive.ts wires the parts. */
import { userOfSeat } from '../domain/humans.ts';
import { localDay } from '../domain/times.ts';
import { type Callbacks, createCallbacks } from './callbacks.ts';
import { type CallerService, createCallers } from './callers.ts';
import { startCodexAnswers } from './codex-dialogs.ts';
import { type CoordinatorService, createCoordinators } from './coordinators.ts';
import { createDelivery, type DeliveryService } from './delivery.ts';
import { type ClaimService, createClaims, createDesks, type DeskService } from './desks.ts';
import { createDoctor, type DoctorService } from './doctor.ts';
import { createEdits, type EditService } from './edits.ts';
import { startExpiry, startSweep } from './expiry.ts';
import { createFeed, type Feed } from './feed.ts';
import { heldNotices } from './held-notices.ts';
import { createHistory, type HistoryService } from './history.ts';
import type { LoadRunHandler } from './hook-context.ts';
import { createHooks, type HookService } from './hooks.ts';
import { createHumans, type HumanService } from './humans.ts';
import { createInterrupts, type InterruptService } from './interrupts.ts';
import { createLoops, type LoopService } from './loops.ts';
import { createMentions, type MentionService } from './mentions.ts';
import { createMessages, type MessageService } from './messages.ts';
import { createNotices, type NoticeService } from './notices.ts';
import { createOutreach, type OutreachService } from './outreach.ts';
import type { PopupParts, PopupParty } from './popup-kinds.ts';
import { createAudience, startPopups } from './popups.ts';
import type { ReadTx } from './ports.ts';
import { createPrompts, type PromptService } from './prompts.ts';
import { createRetention, type RetentionService, startRetention } from './retention.ts';
import { createRules, type RuleParts, type RuleService, startProposals } from './rules.ts';
import { type AskOfRun, type RunOfAsk, runOfAsk } from './run-calls.ts';
import { createSeats, type SeatParts, type SeatService } from './seats.ts';
import { createSessions, type SessionService } from './sessions.ts';
import { createSettings, type SettingsService } from './settings.ts';
import { createStats, type StatsService } from './stats.ts';
import { createTrust, type TrustService } from './trust.ts';
import { createTurns, readingLastWords, type TurnService } from './turns.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';
import { createWaits, type WaitService } from './waits.ts';
import { type CodexWaker, createCodexWaker, createWakes, type WakeService, type WakeWait } from './wakes.ts';
import type {
  CodexControl,
  Examination,
  Files,
  Ids,
  Logger,
  Notifier,
  Processes,
  ProjectContext,
} from './world.ts';

export interface Hive {
  readonly store_id: string;
  readonly history: HistoryService;
  readonly notices: NoticeService;
  readonly log: Logger;
  readonly feed: Feed;
  readonly prompts: PromptService;
  readonly claims: ClaimService;
  readonly humans: HumanService;
  readonly callbacks: Callbacks;
  readonly delivery: DeliveryService;
  readonly sessions: SessionService;
  readonly callers: CallerService;
  /** Agents that their human allows to answer other agents. */
  readonly coordinators: CoordinatorService;
  readonly turns: TurnService;
  readonly interrupts: InterruptService;
  readonly desks: DeskService;
  /** The current state of files that permissions show as diffs. */
  readonly edits: EditService;
  readonly outreach: OutreachService;
  readonly settings: SettingsService;
  readonly trust: TrustService;
  readonly seats: SeatService;
  readonly messages: MessageService;
  readonly mentions: MentionService;
  readonly waits: WaitService;
  readonly loops: LoopService;
  readonly hooks: HookService;
  readonly wakes: WakeService;
  readonly retention: RetentionService;
  readonly doctor: DoctorService;
  /** A human's answers that could not be accepted. */
  readonly unreadAnswers: UnreadAnswers;
  readonly rules: RuleService;
  readonly stats: StatsService;
  /** The project that a directory belongs to. */
  readonly findProject: (directory: string) => ProjectContext;
  /** Waits until the names in these folders and above are on disk. Emacs flushes its files, but cannot flush a folder. */
  readonly flushFolders: Files['flushFolders'];
  /** The parts from which an extension builds its own services over the same store. */
  readonly parts: Pick<HiveParts, 'store' | 'ids' | 'processes' | 'machine' | 'seat' | 'env' | 'placeAt'>;
  /** Registers a function that ends an extension's work; `close` calls it. */
  onClose(stop: () => Promise<void>): void;
  /** The run of a call that asks; null outside of runs, and for a subagent. */
  runOfAsk(call: AskOfRun): Promise<RunOfAsk | null>;
  /** Expires prompts and mentions while this process lives; every long-lived process starts it. */
  startExpiry(): void;
  /** Removes records past retention, now and every hour, while this process lives; sidecars start it. */
  startRetention(): void;
  /** Ends sessions whose process is gone, now and each minute, while this process lives; sidecars start it. */
  startSweep(): void;
  /** Wakes idle sessions of Codex, if Codex started this process (wakes.ts). */
  startCodexWaker(party: Pick<WakeWait, 'seat'>): CodexWaker;
  /** Searches for rules to propose, now and every hour, while this process lives; sidecars start it. */
  startProposals(): void;
  /** Passes answers from desks to the dialogs of Codex on this machine (codex-dialogs.ts); sidecars start it. */
  startCodexAnswers(): void;
  /** Notifies the human of a seat of agents that are held by mentions, until the returned function is called. */
  startHeldNotices(seat: string): () => void;
  /** Shows popups for a seat until the returned function is called; every long-lived process starts it. */
  startPopups(party: PopupParty): () => Promise<void>;
  /** Starts popups that an extension shows elsewhere than on the desktop, until the returned function is called. */
  startOtherPopups(start: (parts: OtherPopupParts) => () => Promise<void>): () => Promise<void>;
  close(): Promise<void>;
}

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

/** With the parts of the seat and of the rules: the human's file, and what it says. */
export interface HiveParts extends Omit<SeatParts, 'sessions' | 'processes'>, Omit<RuleParts, 'seats'> {
  ids: Ids;
  processes: Processes;
  log: Logger;
  notifier: Notifier;
  findProject: (directory: string) => ProjectContext;
  files: Files;
  codex: CodexControl;
  /** Handles the hooks of a run's agent; null in a build without runs. */
  runHandler: LoadRunHandler | null;
  /** This process. */
  pid: number;
  /** The doctor's checks; loaded when it is asked. */
  examinations: () => Promise<readonly Examination[]>;
}

export function createHive(parts: HiveParts): Hive {
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
  const prompts = createPrompts(store, feed, ids, () => (seats.isRegistered() ? seats.key() : null));
  const claims = createClaims(store);
  const mentions = createMentions(store);
  const waits = createWaits(store, ids);
  const expiring = [
    // Comes first, because a damaged prompt stays due as long as it is pending.
    { expireDue: prompts.setAsideDamaged, next: async () => null },
    { expireDue: prompts.expireDue, next: (tx: ReadTx) => tx.prompts.nextExpiry() },
    { expireDue: prompts.escalateDue, next: (tx: ReadTx) => tx.prompts.nextEscalation() },
    { expireDue: prompts.warnDue, next: (tx: ReadTx) => tx.prompts.nextWarning() },
    { expireDue: claims.releaseLapsed, next: (tx: ReadTx) => tx.claims.nextLapse() },
    { expireDue: waits.lapseDue, next: (tx: ReadTx) => tx.waits.nextLapse() },
    { expireDue: mentions.expireDue, next: (tx: ReadTx) => tx.mentions.nextExpiry() },
  ];
  const delivery = createDelivery(store, () => parts.trust().seats);
  const turns = createTurns(store, ids, readingLastWords(files, machine));
  const callbacks = createCallbacks({ store, feed, prompts, delivery, ids, log });
  const settings = createSettings(store);
  const trust = createTrust(store, seat, parts.trust);
  const interrupts = createInterrupts({ ...parts, feed });
  const retention = createRetention(store);
  const wakes = createWakes({ store, feed, ids, processes });
  const popups = new Map<() => Promise<void>, PopupParty>();
  const otherPopups = new Set<() => Promise<void>>();
  const rules = createRules({ ...parts, seats });
  const stops: (() => Promise<void>)[] = [];
  /** The background tasks of this process, each started once. */
  const running = new Map<string, () => unknown>();
  function once(name: string, start: () => () => unknown): void {
    if (!running.has(name)) running.set(name, start());
  }

  const outreach = createOutreach(
    store,
    ids,
    createAudience({ store, notifier, trust }, () => popups.values()),
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
    coordinators: createCoordinators({ ...standing, prompts, actor: sessions.actor }),
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
    findProject,
    flushFolders: files.flushFolders,
    parts: { store, ids, processes, machine, seat, env, placeAt: parts.placeAt },
    onClose: (stop) => void stops.push(stop),
    runOfAsk: (call) => runOfAsk(store, call),
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
    unreadAnswers: createUnreadAnswers(store),
    rules,
    stats: createStats(store, localDay),
    startExpiry: () => once('expiry', () => startExpiry(store, expiring, log)),
    startRetention: () => once('retention', () => startRetention(retention, log)),
    startSweep: () => once('sweep', () => startSweep({ sessions, outreach, prompts, machine, log })),
    startProposals: () => once('proposals', () => startProposals(rules, log)),
    startCodexAnswers: () =>
      once('answers', () => startCodexAnswers({ store, feed, delivery, codex, machine, log })),
    startCodexWaker: (party) => createCodexWaker({ store, feed, wakes, codex, machine, log }, party),
    startHeldNotices: (seat) => startExpiry(store, [heldNotices(store, seat)], log),
    startPopups(party) {
      const stop = startPopups({ store, feed, prompts, notifier, log, trust }, party);
      popups.set(stop, party);
      return async () => {
        if (popups.delete(stop)) await stop();
      };
    },
    startOtherPopups(start) {
      const stop = start({ store, feed, prompts, log, trust });
      otherPopups.add(stop);
      return async () => {
        if (otherPopups.delete(stop)) await stop();
      };
    },
    async close() {
      await Promise.all([...running.values()].map((stop) => stop()));
      await Promise.all([...otherPopups].map((stop) => stop()));
      await Promise.all([...popups.keys()].map((stop) => stop()));
      await Promise.all(stops.map((stop) => stop()));
      interrupts.close();
      await callbacks.close();
      await feed.close();
      await store.close();
    },
  };
}
