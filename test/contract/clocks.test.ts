/**
 * The store's clock is another machine's: what was stamped by it is compared with it, never with this machine's.
 *
 * @module-tag silence
 * @module-tag library
 */
import { expect, onTestFinished, test } from 'vitest';
import { createDelivery } from '../../src/application/delivery.ts';
import { createFeed } from '../../src/application/feed.ts';
import { startPopups } from '../../src/application/popups.ts';
import { createSessions } from '../../src/application/sessions.ts';
import type { Processes } from '../../src/application/world.ts';
import { clockOf } from '../../src/domain/times.ts';
import { openWithClock } from '../support/clock.ts';
import { fakeNotifier } from '../support/fake-notifier.ts';
import { ask, HUMAN, introduction, openTestHive, recordingLog } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { recorded } from '../support/popup-trail.ts';
import { tempStore } from '../support/temp.ts';

const HOUR_MS = 60 * 60 * 1000;
const NOBODY = { alive: () => true, ancestors: () => [] } as unknown as Processes;

test('what was handed over is collected although the clock of this machine is behind', async () => {
  const path = tempStore();
  const hive = await openTestHive(path);
  const { ask_id } = await ask(hive);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  const delivery = createDelivery(await openWithClock(path, 2 * HOUR_MS), () => []);
  const [handed] = await delivery.hand([ask_id], 'cli:session-1');
  expect(Date.parse(handed?.prompt.handed_at ?? '')).toBeGreaterThan(Date.now() + HOUR_MS);
  // Even by a store whose clock was set back in between.
  expect(await hive.delivery.collect('cli:session-1')).toBe(1);
  expect((await hive.prompts.get(ask_id)).collected_at).not.toBeNull();
});

test.each([
  ['behind', -30],
  ['ahead', 30],
])(
  'a session that has just spoken is not silent where the clock of the store is %s',
  async (_where, hours) => {
    const store = await openWithClock(tempStore(), hours * HOUR_MS);
    const sessions = createSessions(store, NOBODY);
    await sessions.introduce(introduction({ machine: 'another' }));
    expect(await sessions.sweep('this')).toEqual([]);
    expect(await sessions.list({ state: 'alive' })).toHaveLength(1);
  },
);

test('an agent that was silent for longer than a day counts as such by the clock of the store', async () => {
  const path = tempStore();
  const before = createSessions(await openWithClock(path, -60 * HOUR_MS), NOBODY);
  await before.introduce(introduction({ machine: 'another' }));
  const after = createSessions(await openWithClock(path, -30 * HOUR_MS), NOBODY);
  expect(await after.sweep('this')).toMatchObject([{ session_id: 'session-1', state: 'ended' }]);
});

test.each([
  ['it is quiet by the clock of the store', 6, { outcome: 'suppressed', reason: 'quiet_hours' }],
  ['it is quiet only by the clock of this machine', 0, { outcome: 'sent', reason: null }],
])('a popup when %s', async (_when, quiet_in_hours, expected) => {
  const path = tempStore();
  const hive = await openTestHive(path);
  const store = await openWithClock(path, 6 * HOUR_MS);
  const clockIn = (hours: number): string => clockOf(new Date(Date.now() + hours * HOUR_MS));
  const quiet_hours = { from: clockIn(quiet_in_hours - 1), to: clockIn(quiet_in_hours + 1) };
  await hive.desks.setPreferences('ada@home', { quiet_hours });
  const feed = closedAtEnd(createFeed(store, recordingLog()));
  const stop = startPopups(
    { ...hive, store, feed, notifier: fakeNotifier(), log: recordingLog() },
    { seat: 'ada@home', name: 'desk-1', desk_id: 'desk-1', open: null, cursor: 0 },
  );
  onTestFinished(stop);
  const { ask_id } = await ask(hive);
  expect(await recorded(hive, ask_id)).toMatchObject(expected);
});
