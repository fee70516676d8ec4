/** The doorbell: a hint, and what carries on when it is lost. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Hive } from '../../src/application/hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, sleep, timed } from '../support/wait.ts';

const files = vi.hoisted(() => ({ refuseToWatch: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const watch = (...args: Parameters<typeof fs.watch>): ReturnType<typeof fs.watch> => {
    if (!files.refuseToWatch) return fs.watch(...args);
    throw Object.assign(new Error('EMFILE: too many open files, watch'), { code: 'EMFILE' });
  };
  return { ...fs, watch };
});

expectNothingLeft();
afterEach(() => {
  files.refuseToWatch = false;
});

/** Two processes' worth of hives on one store, and the path of its bell. */
async function two(): Promise<{ waiting: Hive; answering: Hive; bell: string }> {
  const store = tempStore();
  return { waiting: await openTestHive(store), answering: await openTestHive(store), bell: `${store}-bell` };
}

/** How long one waits for an answer that the other gives 30 ms after the waiting began. */
async function latency(waiting: Hive, answering: Hive): Promise<number> {
  const { ask_id } = await ask(answering);
  const waited = timed(() => waiting.prompts.wait([ask_id], { wait_ms: 4_000 }));
  await sleep(30);
  const started = performance.now();
  await answering.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  const { result } = await waited;
  expect(result[0]?.status).toBe('responded');
  return performance.now() - started;
}

/** By the watch it takes a few milliseconds; the net looks twice a second. */
const BY_WATCH = 200;
const BY_NET = 1_000;
/** The net also notices that the bell is another file. */
const HEALED = 600;

/** Keeps the watch armed between waits, as a sidecar does. */
function keepWatching(hive: Hive): () => void {
  return hive.store.watch(() => undefined);
}

describe('the bell', () => {
  test('wakes at once', async () => {
    const { waiting, answering } = await two();
    expect(await latency(waiting, answering)).toBeLessThan(BY_WATCH);
  });

  test('carries no data and does not grow', async () => {
    const { waiting, answering, bell } = await two();
    for (let n = 0; n < 5; n += 1) await latency(waiting, answering);
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
    const { waiting, answering, bell } = await two();
    const stop = keepWatching(waiting);
    await latency(waiting, answering);
    damage(bell);
    expect(await latency(waiting, answering)).toBeLessThan(BY_NET);
    await sleep(HEALED);
    expect(await latency(waiting, answering)).toBeLessThan(BY_WATCH);
    stop();
  });

  test('that cannot be rung fails no write, and the net finds the answer', async () => {
    const { waiting, answering, bell } = await two();
    rmSync(bell, { force: true });
    mkdirSync(bell);
    expect(await latency(waiting, answering)).toBeLessThan(BY_NET);
    chmodSync(bell, 0o700);
  });

  test('without a watch left on the machine: the net carries on', async () => {
    files.refuseToWatch = true;
    const { waiting, answering } = await two();
    expect(await latency(waiting, answering)).toBeLessThan(BY_NET);
  });

  test('is watched again when there are watches again', async () => {
    files.refuseToWatch = true;
    const { waiting, answering } = await two();
    const stop = keepWatching(waiting);
    files.refuseToWatch = false;
    await sleep(BY_NET + 200);
    expect(await latency(waiting, answering)).toBeLessThan(BY_WATCH);
    stop();
  });

  test('wakes who waits in the process that rings', async () => {
    const hive = await openTestHive();
    expect(await latency(hive, hive)).toBeLessThan(BY_WATCH);
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
