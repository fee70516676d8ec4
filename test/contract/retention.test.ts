/**
 * Retention: what is removed, what stays, and that a preview says what a sweep does.
 *
 * @module-tag not-consumed
 * @module-tag library
 */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { settingNamed } from '../../src/domain/settings.ts';
import { countOf, grow } from '../support/ageing.ts';
import { ask, HUMAN, newHive, openTestHive, recordingLog, withoutQuotas } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const DAYS = 90;

it('removes what settled long ago, with its answers and its events', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  grow(store, DAYS + 1);
  const { ask_id: kept } = await ask(hive);
  await hive.prompts.cancel(kept, HUMAN, 'human');

  expect(await hive.retention.preview(DAYS)).toEqual({ prompts: 1, responses: 1, deliveries: 1, events: 2 });
  expect(await hive.retention.sweep(DAYS)).toEqual({ prompts: 1, responses: 1, deliveries: 1, events: 2 });
  await expect(hive.prompts.get(ask_id)).rejects.toThrow('There is no question');
  expect((await hive.prompts.get(kept)).status).toBe('cancelled');
  expect(countOf(store, 'responses')).toBe(0);
  // That of the one that stays.
  expect(countOf(store, 'deliveries')).toBe(1);
  expect(await hive.store.read((tx) => tx.events.of(ask_id, 10))).toEqual([]);
  expect(await hive.store.read((tx) => tx.events.of(kept, 10))).toHaveLength(2);
});

it('keeps what was answered late for as long as an answer in time, counted from the answer', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  grow(store, DAYS + 1);
  await hive.prompts.respond({ ask_id, decision: 'after all', actor: HUMAN });
  await hive.retention.sweep(DAYS);
  expect((await hive.prompts.get(ask_id)).late_response).toMatchObject({ decision: 'after all' });
  grow(store, DAYS + 1);
  await hive.retention.sweep(DAYS);
  await expect(hive.prompts.get(ask_id)).rejects.toThrow('There is no question');
});

it('keeps what is pending, however old, with its events', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  await hive.prompts.mark(ask_id, 'seen');
  grow(store, 10_000);
  expect(await hive.retention.preview(DAYS)).toEqual({});
  await hive.retention.sweep(DAYS);
  expect((await hive.prompts.get(ask_id)).status).toBe('pending');
  expect(await hive.store.read((tx) => tx.events.of(ask_id, 10))).toHaveLength(2);
  expect(await hive.sessions.find('session-1')).toBeDefined();
});

it('removes old events also where one was recorded while the clock was ahead, which stays', async () => {
  const { store, hive } = await newHive();
  const notice = (subject: string) =>
    hive.store.write((tx) => tx.events.append({ type: 'desk/notice', session_id: null, subject, data: {} }));
  await notice('from a wrong clock');
  grow(store, -10_000);
  await notice('old');
  const database = new DatabaseSync(store, { timeout: 60_000 });
  database.prepare('UPDATE events SET at = ? WHERE subject = ?').run('2020-01-01T00:00:00.000Z', 'old');
  database.close();
  expect(await hive.retention.preview(DAYS)).toEqual({ events: 1 });
  expect(await hive.retention.sweep(DAYS)).toEqual({ events: 1 });
  expect(await hive.store.read((tx) => tx.events.of('old', 10))).toEqual([]);
  expect(await hive.store.read((tx) => tx.events.of('from a wrong clock', 10))).toHaveLength(1);
});

it('counts from the settlement, not from the question', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  grow(store, DAYS + 1);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  await hive.retention.sweep(DAYS);
  expect((await hive.prompts.get(ask_id)).decision).toBe('yes');
  expect(await hive.store.read((tx) => tx.events.of(ask_id, 10))).toHaveLength(2);
});

it('works through more than one batch', async () => {
  const store = tempStore();
  const hive = await withoutQuotas(await openTestHive(store));
  for (let n = 0; n < 250; n += 1) {
    const { ask_id } = await ask(hive);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
  }
  grow(store, DAYS + 1);
  expect(await hive.retention.sweep(DAYS)).toEqual({ prompts: 250, deliveries: 250, events: 500 });
});

it('the owner of a cursor before what was removed is told, and a seq is never reused', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  const head = await hive.store.read((tx) => tx.events.head());
  grow(store, DAYS + 1);
  await hive.retention.sweep(DAYS);
  const resynced: number[] = [];
  const stop = hive.feed.follow({
    cursor: 1,
    onEvents: async () => undefined,
    onResync: async (at) => void resynced.push(at),
  });
  await eventually(() => resynced.length > 0);
  await stop();
  expect(resynced).toEqual([head]);
  await ask(hive);
  expect(await hive.store.read((tx) => tx.events.head())).toBeGreaterThan(head);
});

it('sweeps by itself when started, and says so when it cannot', async () => {
  const store = tempStore();
  const log = recordingLog();
  const hive = await openTestHive(store, log);
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  grow(store, DAYS + 1);
  await hive.settings.set(settingNamed('retention_days'), DAYS, 'ada@test', 'cli');
  hive.startRetention();
  await eventually(() => countOf(store, 'prompts') === 0);
  expect(log.lines).toEqual([]);
});

it('keeps records for ninety days, or for those that are stored', async () => {
  const hive = await openTestHive();
  expect(await hive.retention.days()).toBe(90);
  await hive.settings.set(settingNamed('retention_days'), 30, 'ada@test', 'cli');
  expect(await hive.retention.days()).toBe(30);
});
