/** The hive: every service over one store, wired once. What starts it and with which parts, open-hive.ts says. */
import { type Callbacks, createCallbacks } from './callbacks.ts';
import { createDelivery, type DeliveryService, deliverAnswers } from './delivery.ts';
import { createDesks, type DeskService } from './desks.ts';
import { startExpiry } from './expiry.ts';
import { createFeed, type Feed } from './feed.ts';
import { settleSession } from './hook-sessions.ts';
import { createHooks, type HookService, type Station } from './hooks.ts';
import { gateMentions } from './mention-gate.ts';
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
  readonly callbacks: Callbacks;
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
const STATIONS: readonly Station[] = [gateMentions, deliverAnswers, settleSession];

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
  const delivery = createDelivery(store);
  const callbacks = createCallbacks({ store, feed, prompts, delivery, ids, log });
  const retention = createRetention(store);
  let stopExpiry: (() => void) | null = null;
  const popups = new Set<() => Promise<void>>();
  let stopRetention: (() => void) | null = null;
  return {
    store_id: store.store_id,
    store,
    log,
    feed,
    prompts,
    callbacks,
    delivery,
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
    startPopups(party) {
      const stop = startPopups({ store, feed, prompts, notifier, log }, party);
      popups.add(stop);
      return async () => {
        if (popups.delete(stop)) await stop();
      };
    },
    async close() {
      stopExpiry?.();
      await Promise.all([...popups].map((stop) => stop()));
      stopRetention?.();
      await callbacks.close();
      await store.close();
    },
  };
}
