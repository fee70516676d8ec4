/** The feed over a store that rings at the worst moment. */
import { expect, onTestFinished, test } from 'vitest';
import { createFeed } from '../../src/application/feed.ts';
import type { Store } from '../../src/application/ports.ts';
import { HiveError } from '../../src/domain/errors.ts';
import type { HiveEvent } from '../../src/domain/events.ts';
import { recordingLog } from '../support/hive.ts';
import { eventually, moment } from '../support/wait.ts';

/** A store of events; `duringRead` runs between a read and its result. */
function fakeStore(duringRead: (seen: number) => void): { store: Store; append(): void } {
  const events: HiveEvent[] = [];
  const listeners = new Set<() => void>();
  const store = {
    async read(work: (tx: unknown) => Promise<unknown>) {
      const result = await work({
        events: {
          pruned: async () => 0,
          head: async () => events.length,
          after: async (seq: number) => events.slice(seq),
        },
      });
      duringRead(events.length);
      return result;
    },
    watch(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as Store;
  return {
    store,
    append() {
      events.push({ seq: events.length + 1 } as HiveEvent);
      for (const listener of listeners) listener();
    },
  };
}

test('a ring between the last look and the sleep is not slept through', async () => {
  let rung = false;
  const fake = fakeStore(() => {
    if (rung) return;
    rung = true;
    fake.append();
  });
  const seqs: number[] = [];
  const stop = createFeed(fake.store, recordingLog()).follow({
    cursor: 0,
    onEvents: async (events) => void seqs.push(...events.map((event) => event.seq)),
    onResync: async () => undefined,
  });
  onTestFinished(() => stop());
  await eventually(() => seqs.length === 1, 300);
});

test('nor is one between the first look of a wait and its sleep', async () => {
  const fake = fakeStore(() => undefined);
  let looks = 0;
  const found = createFeed(fake.store, recordingLog()).until(
    async () => {
      looks += 1;
      const answer = looks >= 3 ? 'answer' : undefined;
      if (looks === 2) fake.append();
      return answer;
    },
    { wait_ms: 5_000 },
  );
  await eventually(() => looks === 3, 300);
  expect(await found).toBe('answer');
});

test('many rings cause one look', async () => {
  let looks = 0;
  const fake = fakeStore(() => {
    looks += 1;
  });
  const stop = createFeed(fake.store, recordingLog()).follow({
    cursor: 0,
    onEvents: async () => undefined,
    onResync: async () => undefined,
  });
  onTestFinished(() => stop());
  await eventually(() => looks === 1);
  for (let n = 0; n < 100; n += 1) fake.append();
  await eventually(() => looks > 1);
  expect(looks).toBeLessThan(10);
});

test('a request during a read waits for the next read, because this one may have begun before the change', async () => {
  let meanwhile: Promise<void> | null = null;
  let seen: number[] | null = null;
  const seqs: number[] = [];
  const fake = fakeStore(() => {
    if (meanwhile !== null) return;
    fake.append();
    meanwhile = stop.caughtUp().then(() => {
      seen = [...seqs];
    });
  });
  const stop = createFeed(fake.store, recordingLog()).follow({
    cursor: 0,
    onEvents: async (events) => void seqs.push(...events.map((event) => event.seq)),
    onResync: async () => undefined,
  });
  onTestFinished(() => stop());
  await eventually(() => seen !== null);
  expect(seen).toEqual([1]);
});

test('a wait ends when its follower is stopped', async () => {
  const fake = fakeStore(() => undefined);
  const stop = createFeed(fake.store, recordingLog()).follow({
    cursor: 0,
    onEvents: () => moment(20),
    onResync: async () => undefined,
  });
  fake.append();
  const waiting = stop.caughtUp();
  await stop();
  await waiting;
});

test('a wait outlives a store that is locked at its first look; one without time does not', async () => {
  const feed = createFeed(fakeStore(() => undefined).store, recordingLog());
  const busy = new HiveError('store_busy', 'The store is locked.');
  const lookLater = (): (() => Promise<string>) => {
    let looks = 0;
    return async () => {
      looks += 1;
      if (looks === 1) throw busy;
      return 'found';
    };
  };
  expect(await feed.until(lookLater(), { wait_ms: 5_000 })).toBe('found');
  await expect(feed.until(lookLater(), { wait_ms: 0 })).rejects.toBe(busy);
  await expect(feed.until(lookLater(), { wait_ms: 5_000, signal: AbortSignal.abort() })).rejects.toBe(busy);
});
