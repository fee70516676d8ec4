/** The expiry of one process: it sleeps until the next prompt is due, and misses none that is asked in the meantime. */
import { expect, onTestFinished, test } from 'vitest';
import { type Expiring, startExpiry } from '../../src/application/expiry.ts';
import type { Store } from '../../src/application/ports.ts';
import { recordingLog } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';

/** A store that knows only when the next prompt expires, and a bell. */
function fakes(): {
  expirations: string[];
  start(): void;
  ring(): void;
  onLook(act: () => void): void;
  expired: string[];
  fail: boolean;
  /** How far the store's clock is ahead of this machine's. */
  ahead_ms: number;
} {
  const expirations: string[] = [];
  const expired: string[] = [];
  let listener = (): void => undefined;
  let acted = (): void => undefined;
  const fake = {
    expirations,
    expired,
    fail: false,
    ahead_ms: 0,
    now: () => soon(fake.ahead_ms),
    ring: () => listener(),
    onLook: (act: () => void) => {
      acted = act;
    },
    start: () => onTestFinished(startExpiry(store, [prompts], recordingLog())),
  };
  const store = {
    watch(wanted: () => void) {
      listener = wanted;
      return () => undefined;
    },
    async read() {
      const next = expirations[0] ?? null;
      await Promise.resolve();
      acted();
      return { at: next, now: fake.now() };
    },
  } as unknown as Store;
  const prompts = {
    async expireDue() {
      if (fake.fail) throw new Error('no store');
      while (expirations[0] !== undefined && expirations[0] <= fake.now())
        expired.push(expirations.shift() ?? '');
      return 0;
    },
  } as unknown as Expiring;
  return fake;
}

function soon(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

test('a prompt expires when its time is up', async () => {
  const fake = fakes();
  fake.expirations.push(soon(50));
  fake.start();
  await eventually(() => fake.expired.length === 1, 300);
});

test('a prompt that comes between looking and sleeping is not slept through', async () => {
  const fake = fakes();
  let asked = false;
  fake.onLook(() => {
    if (asked) return;
    asked = true;
    fake.expirations.push(soon(50));
    fake.ring();
  });
  fake.start();
  await eventually(() => fake.expired.length === 1, 500);
});

test('a store that fails is read again', async () => {
  const fake = fakes();
  fake.fail = true;
  fake.expirations.push(soon(10));
  fake.start();
  await eventually(() => fake.expirations.length === 1);
  fake.fail = false;
  await eventually(() => fake.expired.length === 1, 2_000);
  expect(fake.expired).toHaveLength(1);
});

test("the store's clock decides, however far this machine's is off", async () => {
  for (const ahead_ms of [-3_600_000, 3_600_000]) {
    const fake = fakes();
    fake.ahead_ms = ahead_ms;
    fake.expirations.push(soon(ahead_ms + 50));
    fake.start();
    await eventually(() => fake.expired.length === 1, 300);
  }
});
