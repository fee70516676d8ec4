/** The hive: every service over one store, wired once. What starts it and with which parts, open-hive.ts says. */
import { createDelivery, type DeliveryService } from './delivery.ts';
import { createDesks, type DeskService } from './desks.ts';
import { startExpiry } from './expiry.ts';
import { createFeed, type Feed } from './feed.ts';
import type { Ids, Logger, Store } from './ports.ts';
import { createPrompts, type PromptService } from './prompts.ts';
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
  /** Lets prompts expire while this process lives; every long-lived process starts it. */
  startExpiry(): void;
  close(): Promise<void>;
}

export interface HiveParts {
  store: Store;
  ids: Ids;
  log: Logger;
}

export function createHive({ store, ids, log }: HiveParts): Hive {
  const feed = createFeed(store, log);
  const prompts = createPrompts(store, feed, ids);
  let stopExpiry: (() => void) | null = null;
  return {
    store_id: store.store_id,
    store,
    log,
    feed,
    prompts,
    delivery: createDelivery(store),
    sessions: createSessions(store),
    desks: createDesks(store, ids, log),
    startExpiry() {
      stopExpiry ??= startExpiry(store, prompts, log);
    },
    async close() {
      stopExpiry?.();
      await store.close();
    },
  };
}
