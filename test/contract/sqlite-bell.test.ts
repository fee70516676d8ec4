/**
 * The doorbell: a hint, and what works without it when it is lost.
 *
 * @module-tag state-not-events
 * @module-tag library
 */
import fs, { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive, whenWaiting } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, FOR_EVER_MS } from '../support/wait.ts';

const { watch } = fs;

/** As if no inotify instance were left on the machine. */
function refuseToWatch(): never {
  throw Object.assign(new Error('EMFILE: too many open files, watch'), { code: 'EMFILE' });
}

/** Everything that imports `watch` gets this one. */
function setWatch(either: typeof fs.watch): void {
  fs.watch = either;
  syncBuiltinESMExports();
}

// The clock of the slow poll stands still unless a test moves it, so whatever is noticed was noticed by the watch.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  setWatch(watch);
  vi.useRealTimers();
});

/** Two processes' worth of hives on one store, and the path of its bell. */
async function two(): Promise<{ waiting: OpenedHive; answering: OpenedHive; store: string; bell: string }> {
  const store = tempStore();
  const waiting = await openTestHive(store);
  return { waiting, answering: await openTestHive(store), store, bell: `${store}-bell` };
}

/** The prompt that a wait returns once another hive answers; `help` runs after that. The wait ends only if it is woken. */
async function finds(
  waiting: OpenedHive,
  answering: OpenedHive,
  help = (): void => undefined,
): Promise<string | undefined> {
  const { ask_id } = await ask(answering);
  const waited = waiting.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });
  await whenWaiting(waiting);
  await answering.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  help();
  return (await waited)[0]?.status;
}

/** The slow poll looks twice a second: a second of it finds everything. */
function byNet(): void {
  vi.advanceTimersByTime(1_000);
}

/** How many watches this process holds. */
function watchers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
}

/** Keeps the watch armed between waits, as a sidecar does. */
function keepWatching(hive: OpenedHive): () => void {
  return hive.store.watch(() => undefined);
}

describe('the bell', () => {
  test('wakes a wait in another process', async () => {
    const { waiting, answering } = await two();
    expect(await finds(waiting, answering)).toBe('responded');
  });

  test('wakes a wait in the process that rings', async () => {
    const hive = await openTestHive();
    expect(await finds(hive, hive)).toBe('responded');
  });

  test('carries no data and does not grow', async () => {
    const { waiting, answering, bell } = await two();
    for (let n = 0; n < 5; n += 1) await finds(waiting, answering);
    expect(readFileSync(bell)).toHaveLength(1);
  });

  test.each<[string, (bell: string) => void]>([
    ['deleted', (bell) => rmSync(bell)],
    ['moved away', (bell) => renameSync(bell, `${bell}.old`)],
    [
      'replaced by another file',
      (bell) => {
        writeFileSync(`${bell}.new`, 'other');
        renameSync(`${bell}.new`, bell);
      },
    ],
    ['overwritten with rubbish', (bell) => writeFileSync(bell, 'x'.repeat(10_000))],
  ])('that was %s costs at most a second, and works again after that', async (_how, damage) => {
    const { waiting, answering, store, bell } = await two();
    const stop = keepWatching(waiting);
    await finds(waiting, answering);
    // A writer that has rung once keeps the old file open, so removing the file causes no event.
    const silent = await openTestHive(store);
    await ask(silent);
    damage(bell);
    expect(await finds(waiting, answering, byNet)).toBe('responded');
    expect(await finds(waiting, answering)).toBe('responded');
    stop();
  });

  test('that cannot be rung fails no write, and the slow poll finds the answer', async () => {
    const { waiting, answering, bell } = await two();
    rmSync(bell, { force: true });
    mkdirSync(bell);
    expect(await finds(waiting, answering, byNet)).toBe('responded');
  });

  test('without a watch left on the machine: the slow poll finds the answer', async () => {
    setWatch(refuseToWatch);
    const { waiting, answering } = await two();
    expect(await finds(waiting, answering, byNet)).toBe('responded');
  });

  test('is watched again when there are watches again', async () => {
    setWatch(refuseToWatch);
    const { waiting, answering } = await two();
    const stop = keepWatching(waiting);
    setWatch(watch);
    await eventually(() => watchers() === 1);
    expect(await finds(waiting, answering)).toBe('responded');
    stop();
  });

  test('is silent for heartbeats', async () => {
    const { answering, bell } = await two();
    const rung = (): bigint => statSync(bell, { bigint: true }).mtimeNs;
    await ask(answering);
    const before = rung();
    await answering.store.write((tx) => tx.desks.renew('desk-1', tx.now));
    expect(rung()).toBe(before);
    await ask(answering);
    expect(rung()).toBeGreaterThan(before);
  });

  test('is closed with the last wait', async () => {
    const { waiting } = await two();
    await eventually(() => watchers() === 0);
    const stops = [keepWatching(waiting), keepWatching(waiting)];
    expect(watchers()).toBe(1);
    for (const stop of stops) stop();
    // A handle is gone when its close event has been handled.
    await eventually(() => watchers() === 0);
  });
});
