/**
 * The doorbell: a hint, and what carries on when it is lost.
 *
 * @module-tag state-not-events
 * @module-tag sqlite
 * @module-tag library
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, sleep } from '../support/wait.ts';

const files = vi.hoisted(() => ({ refuseToWatch: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const watch = (...args: Parameters<typeof fs.watch>): ReturnType<typeof fs.watch> => {
    if (!files.refuseToWatch) return fs.watch(...args);
    throw Object.assign(new Error('EMFILE: too many open files, watch'), { code: 'EMFILE' });
  };
  return { ...fs, watch };
});

// The clock of the slow poll stands still unless a test moves it, so whatever is noticed was noticed by the watch.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  files.refuseToWatch = false;
  vi.useRealTimers();
});

/** Two processes' worth of hives on one store, and the path of its bell. */
async function two(): Promise<{ waiting: OpenedHive; answering: OpenedHive; store: string; bell: string }> {
  const store = tempStore();
  const waiting = await openTestHive(store);
  return { waiting, answering: await openTestHive(store), store, bell: `${store}-bell` };
}

/** Whether one that waits finds the answer that another gives; `help` runs when it has been given. */
async function finds(
  waiting: OpenedHive,
  answering: OpenedHive,
  help = (): void => undefined,
): Promise<boolean> {
  const { ask_id } = await ask(answering);
  const waited = waiting.prompts.wait([ask_id], { wait_ms: 3_000 });
  await sleep(30);
  const { prompt } = await answering.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  help();
  await waited;
  // Woken by the answer, not by the end of its waiting time.
  return Date.now() - Date.parse(prompt.responded_at ?? '') < 2_500;
}

/** The net looks twice a second: a second of it finds everything. */
function byNet(): void {
  vi.advanceTimersByTime(1_000);
}

/** Keeps the watch armed between waits, as a sidecar does. */
function keepWatching(hive: OpenedHive): () => void {
  return hive.store.watch(() => undefined);
}

describe('the bell', () => {
  test('wakes who waits in another process', async () => {
    const { waiting, answering } = await two();
    expect(await finds(waiting, answering)).toBe(true);
  });

  test('wakes who waits in the process that rings', async () => {
    const hive = await openTestHive();
    expect(await finds(hive, hive)).toBe(true);
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
    expect(await finds(waiting, answering, byNet)).toBe(true);
    expect(await finds(waiting, answering)).toBe(true);
    stop();
  });

  test('that cannot be rung fails no write, and the net finds the answer', async () => {
    const { waiting, answering, bell } = await two();
    rmSync(bell, { force: true });
    mkdirSync(bell);
    expect(await finds(waiting, answering, byNet)).toBe(true);
  });

  test('without a watch left on the machine: the net carries on', async () => {
    files.refuseToWatch = true;
    const { waiting, answering } = await two();
    expect(await finds(waiting, answering, byNet)).toBe(true);
  });

  test('is watched again when there are watches again', async () => {
    files.refuseToWatch = true;
    const { waiting, answering } = await two();
    const stop = keepWatching(waiting);
    files.refuseToWatch = false;
    await sleep(1_200);
    expect(await finds(waiting, answering)).toBe(true);
    stop();
  });

  test('is silent for heartbeats', async () => {
    const { waiting, answering } = await two();
    let woken = 0;
    const stop = waiting.store.watch(() => {
      woken += 1;
    });
    await sleep(30);
    const before = woken;
    await answering.store.write((tx) => tx.desks.renew('desk-1', tx.now));
    await sleep(100);
    stop();
    expect(woken).toBe(before);
  });

  test('is put away with the last who waits', async () => {
    const { waiting } = await two();
    const watchers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
    await eventually(() => watchers() === 0);
    const stops = [keepWatching(waiting), keepWatching(waiting)];
    expect(watchers()).toBe(1);
    for (const stop of stops) stop();
    // A handle is gone when its close has come round.
    await eventually(() => watchers() === 0, 500, 'the end of the watch');
  });
});
