/**
 * Somebody sets the clock of this machine while Hive waits: nothing comes later for that, and no wait ends early.
 *
 * @module-tag silence
 * @module-tag library
 */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startPopups } from '../../src/application/popups.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { shell } from '../support/cli.ts';
import { fakeNotifier } from '../support/fake-notifier.ts';
import { ask, openTestHive, recordingLog } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, FOR_EVER_MS } from '../support/wait.ts';

const HOUR_MS = 60 * 60 * 1000;

function setClock(by_ms: number): void {
  vi.setSystemTime(Date.now() + by_ms);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a popup that lets others go first comes when they have had their time, although the clock was set back', async () => {
  const hive = await openTestHive();
  const notifier = fakeNotifier();
  let asked = 0;
  const wait = (): number => {
    asked += 1;
    if (asked > 1) return 0;
    // Once the popup knows when to look again.
    setImmediate(() => setClock(-HOUR_MS));
    return 50;
  };
  const party = { seat: 'ada@home', name: 'desk-1', desk_id: 'desk-1', open: null, cursor: 0, wait };
  onTestFinished(startPopups({ ...hive, notifier, log: recordingLog() }, party));
  await ask(hive);
  await eventually(() => notifier.cards.length === 1);
});

test('the lease of a wait lasts as long as its heartbeat needs, although the clock was set forward', async () => {
  const hive = await openTestHive();
  const { ask_id } = await ask(hive);
  const cut = new AbortController();
  const waiting = hive.prompts.wait([ask_id], {
    wait_ms: FOR_EVER_MS,
    signal: cut.signal,
    waiter: 'session-1',
  });
  onTestFinished(async () => {
    cut.abort();
    await waiting;
  });
  await eventually(async () => (await leaseOf(hive)) !== null);
  setClock(2 * HOUR_MS);
  vi.advanceTimersByTime(30_000);
  const renewed = new Date(Date.now() + 60_000).toISOString();
  await eventually(async () => (await leaseOf(hive)) === renewed);
});

const leaseOf = (hive: OpenedHive): Promise<string | null> => hive.store.read((tx) => tx.waits.lapses.next());

test('a poll ends after its time, although the clock was set back', async () => {
  const path = tempStore();
  const { ask_id } = await ask(await openTestHive(path));
  // Each look at the clock is an hour before the last one.
  const preload = `let looks = 0; const now = Date.now; Date.now = () => now() - ${HOUR_MS} * looks++;`;
  const person = shell(path, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
  });
  const ran = await person.hive('poll', ask_id, '--wait', '--timeout', '200ms', '--json');
  expect(ran.json()).toMatchObject({ status: 'pending' });
});
