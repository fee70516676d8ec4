/** The hive: every service over one store, wired once. What starts it and with which parts, open-hive.ts says. */
import { createDelivery, type DeliveryService, deliverAnswers } from './delivery.ts';
import { createDesks, type DeskService } from './desks.ts';
import { startExpiry } from './expiry.ts';
import { createFeed, type Feed } from './feed.ts';
import { settleSession } from './hook-sessions.ts';
import { createHooks, type HookService, type Station } from './hooks.ts';
import { type PopupParty, startPopups } from './popups.ts';
import type { Ids, Logger, Notifier, Processes, Store } from './ports.ts';
import { createPrompts, type PromptService } from './prompts.ts';
import { createRetention, type RetentionService, startRetention } from './retention.ts';
import { createSessions, type SessionService } from './sessions.ts';

export interface Hive {
  readonly store_id: string;
  readonly store: Store;
  readonly log: Logger;
  readonly feed: Feed;
  readonly prompts: PromptService;
  readonly delivery: DeliveryService;
  readonly sessions: SessionService;
  readonly desks: DeskService;
  readonly hooks: HookService;
  readonly retention: RetentionService;
  /** Lets prompts expire while this process lives; every long-lived process starts it. */
  startExpiry(): void;
  /** Removes what is past retention, now and every hour, while this process lives; sidecars start it. */
  startRetention(days: number): void;
  /** Shows popups for a seat until the returned function is called; every long-lived process starts it. */
  startPopups(party: PopupParty): () => Promise<void>;
  close(): Promise<void>;
}

/** Who has a say when a hook fires, in this order (hooks.ts). */
const STATIONS: readonly Station[] = [deliverAnswers, settleSession];

export interface HiveParts {
  store: Store;
  ids: Ids;
  processes: Processes;
  log: Logger;
  notifier: Notifier;
}

export function createHive({ store, ids, processes, log, notifier }: HiveParts): Hive {
  const feed = createFeed(store, log);
  const prompts = createPrompts(store, feed, ids);
  const retention = createRetention(store);
  let stopExpiry: (() => void) | null = null;
  let stopRetention: (() => void) | null = null;
  return {
    store_id: store.store_id,
    store,
    log,
    feed,
    prompts,
    delivery: createDelivery(store),
    sessions: createSessions(store, processes),
    desks: createDesks(store, ids, log),
    hooks: createHooks({ store, ids, processes, log, stations: STATIONS }),
    retention,
    startExpiry() {
      stopExpiry ??= startExpiry(store, prompts, log);
    },
    startRetention(days) {
      stopRetention ??= startRetention(retention, days, log);
    },
    startPopups: (party) => startPopups({ store, feed, prompts, notifier, log }, party),
    async close() {
      stopExpiry?.();
      stopRetention?.();
      await store.close();
    },
  };
}
