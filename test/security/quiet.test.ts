/**
 * An agent that calls everything critical while the human does not want to be disturbed.
 *
 * @module-tag no-authority
 * @module-tag popup
 */
import { expect, onTestFinished, test } from 'vitest';
import { startPopups } from '../../src/application/popups.ts';
import type { PreferenceChanges } from '../../src/domain/preferences.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { fakeNotifier } from '../support/fake-notifier.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { recorded } from '../support/popup-trail.ts';

const SEAT = 'ada@home';

/** A desk of a seat with these preferences; what becomes of the popup of one critical question after the other. */
async function alarms(
  hive: OpenedHive,
  preferences: PreferenceChanges,
  count: number,
  urgency: 'critical' | 'normal' = 'critical',
): Promise<string[]> {
  await hive.desks.setPreferences(SEAT, preferences);
  const party = { seat: SEAT, name: 'desk-1', desk_id: 'desk-1', open: null, answers: async () => undefined };
  const cursor = await hive.store.read((tx) => tx.events.head());
  const stop = startPopups({ ...hive, notifier: fakeNotifier() }, { ...party, cursor });
  onTestFinished(stop);
  const became: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { ask_id } = await ask(hive, { urgency });
    const { outcome, reason } = await recorded(hive, ask_id);
    became.push(reason ?? outcome);
  }
  await stop();
  return became;
}

test.each<[string, PreferenceChanges]>([
  ['do-not-disturb', { do_not_disturb: true }],
  ['quiet hours', { quiet_hours: { from: '00:00', to: '00:00' } }],
])('%s let through three critical questions; the next ones arrive silently', async (_when, preferences) => {
  const hive = await openTestHive();
  expect(await alarms(hive, preferences, 5)).toEqual([
    'sent',
    'sent',
    'sent',
    'quiet_criticals',
    'quiet_criticals',
  ]);
  // They are pending like any other question, and once the quiet time is over they pop up again.
  expect(await hive.prompts.count({ status: 'pending' })).toBe(5);
  const awake = { do_not_disturb: null, quiet_hours: null };
  expect(await alarms(hive, awake, 1)).toEqual(['sent']);
});

test('another process of the seat continues the count', async () => {
  const hive = await openTestHive();
  expect(await alarms(hive, { do_not_disturb: true }, 3)).toEqual(['sent', 'sent', 'sent']);
  expect(await alarms(hive, { do_not_disturb: true }, 1)).toEqual(['quiet_criticals']);
});

test('what is not critical does not count', async () => {
  const hive = await openTestHive();
  const quiet = { do_not_disturb: true };
  expect(await alarms(hive, quiet, 3, 'normal')).toEqual(Array(3).fill('do_not_disturb'));
  expect(await alarms(hive, quiet, 3)).toEqual(['sent', 'sent', 'sent']);
});
