/** Whose turn it is: the focused desk at once, another after 0.3 s, an agent's process after 2 s, and not before. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PopupParty } from '../../src/application/popup-kinds.ts';
import {
  HUNG_DESK_MS,
  NO_DESK_MS,
  OTHER_DESK_MS,
  patienceOf,
  startPopups,
} from '../../src/application/popups.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { fakeNotifier, leasedAt } from '../support/fake-notifier.ts';
import { ask, openTestHive, recordingLog } from '../support/hive.ts';
import { recorded, trail } from '../support/popup-trail.ts';
import { tempStore } from '../support/temp.ts';
import { sleep } from '../support/wait.ts';

const SEAT = 'ada@home';
/** A timer may ring a millisecond early, and a time in the store has lost its fraction. */
const CLOCK_MS = 2;

/** A desk that lives, whether or not its process gets popups done. */
async function openDesk(hive: OpenedHive, { focused = false, seat = SEAT } = {}): Promise<PopupParty> {
  const desk = await hive.desks.open({ seat, pid: 1, client: 'test' });
  onTestFinished(() => desk.close());
  if (focused) await desk.setFocused(true);
  return { seat, name: desk.desk_id, desk_id: desk.desk_id, open: null, answers: async () => undefined };
}

const agent: PopupParty = { seat: SEAT, name: 'connection-1', desk_id: null, open: null };

/** Starts the popups of a party over a hive of its own. */
async function start(store: string, party: PopupParty): Promise<void> {
  const hive = await openTestHive(store);
  const cursor = await hive.store.read((tx) => tx.events.head());
  onTestFinished(
    startPopups({ ...hive, notifier: fakeNotifier(), log: recordingLog() }, { ...party, cursor }),
  );
}

describe('how long a process lets others go first', () => {
  it('is nothing at the focused desk, 300 ms at another, and 2 s where there is none', async () => {
    const hive = await openTestHive();
    const focused = await openDesk(hive, { focused: true });
    const other = await openDesk(hive);
    expect(await patienceOf(hive.store, focused)).toBe(0);
    expect(await patienceOf(hive.store, other)).toBe(300);
    expect(await patienceOf(hive.store, agent)).toBe(2_000);
    expect([OTHER_DESK_MS, NO_DESK_MS]).toEqual([300, 2_000]);
  });

  it('is nothing at any desk while none of its seat has the focus', async () => {
    const hive = await openTestHive();
    const one = await openDesk(hive);
    await openDesk(hive, { focused: true, seat: 'bob@home' });
    expect(await patienceOf(hive.store, one)).toBe(0);
  });
});

describe('a popup', () => {
  it('is had by the focused desk as long as that does its work', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const focused = await openDesk(hive, { focused: true });
    const other = await openDesk(hive);
    for (const party of [other, focused, agent]) await start(store, party);
    const { ask_id } = await ask(hive);
    expect(await recorded(hive, ask_id)).toMatchObject({ claimed_by: focused.name });
  });

  it('goes to another desk when the focused one hangs, after its time and not before', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    await openDesk(hive, { focused: true });
    const other = await openDesk(hive);
    for (const party of [other, agent]) await start(store, party);
    const { ask_id, created_at } = await ask(hive);
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', claimed_by: other.name });
    expect(leasedAt(store, ask_id) - Date.parse(created_at)).toBeGreaterThanOrEqual(OTHER_DESK_MS - CLOCK_MS);
  });

  it("goes to an agent's process when every desk hangs, after its time and not before", async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    await openDesk(hive, { focused: true });
    await openDesk(hive);
    await start(store, agent);
    await start(store, { ...agent, name: 'connection-2' });
    const { ask_id, created_at } = await ask(hive);
    expect((await recorded(hive, ask_id)).claimed_by).toMatch(/^connection-/);
    expect(leasedAt(store, ask_id) - Date.parse(created_at)).toBeGreaterThanOrEqual(HUNG_DESK_MS - CLOCK_MS);
    await sleep(OTHER_DESK_MS);
    expect(await trail(hive, ask_id)).toHaveLength(1);
  });
});
