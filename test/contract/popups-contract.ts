/** Popups of a seat: claimed once, and its storm as its claims tell it. */
import { expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import type { StoreEngine } from './store-contract.ts';

const SEAT = 'ada@home';
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();

export function popupsContract(engine: StoreEngine): void {
  /** One prompt for each second, claimed in turn. */
  async function claimed(count: number): Promise<{ hive: OpenedHive; ids: string[] }> {
    const hive = await openTestHive(await engine.freshAddress());
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { ask_id } = await ask(hive, { question: `${n}?` });
      ids.push(ask_id);
      expect(await hive.store.write((tx) => tx.prompts.claimPopup(ask_id, SEAT, 'desk-1', at(n)))).toBe(true);
    }
    return { hive, ids };
  }

  test('what became of a claim is written once', async () => {
    const { hive, ids } = await claimed(1);
    const [ask_id = ''] = ids;
    const outcome = () => hive.store.read((tx) => tx.popups.outcome(ask_id, SEAT));
    expect(await outcome()).toBe('claimed');
    const write = (became: 'sent' | 'failed') =>
      hive.store.write((tx) => tx.prompts.setPopupOutcome(ask_id, SEAT, became, null));
    expect(await write('sent')).toBe(true);
    expect(await write('failed')).toBe(false);
    expect(await outcome()).toBe('sent');
    expect(await hive.store.read((tx) => tx.popups.outcome(ask_id, 'bob@home'))).toBeUndefined();
  });

  test('a claim is taken over when it is old and was never shown, by one', async () => {
    const { hive, ids } = await claimed(2);
    const [first = '', second = ''] = ids;
    const takeOver = (ask_id: string, by: string, before: string) =>
      hive.store.write((tx) => tx.popups.takeOver(ask_id, SEAT, by, at(20), before));
    expect(await takeOver(first, 'desk-2', at(0))).toBe(false);
    expect(await takeOver(first, 'desk-2', at(10))).toBe(true);
    expect(await takeOver(first, 'desk-3', at(10))).toBe(false);
    await hive.store.write((tx) => tx.prompts.setPopupOutcome(second, SEAT, 'sent', null));
    expect(await takeOver(second, 'desk-2', at(10))).toBe(false);
  });

  test('the popups of late are those of prompts at that seat that were not suppressed', async () => {
    const { hive, ids } = await claimed(4);
    await hive.store.write(async (tx) => {
      await tx.prompts.setPopupOutcome(ids[1] ?? '', SEAT, 'suppressed', 'focused');
      await tx.prompts.claimPopup(ids[2] ?? '', 'bob@home', 'desk-9', at(3));
      await tx.prompts.claimPopup('mention-1', SEAT, 'desk-1', at(3));
    });
    const recent = (after: string) => hive.store.read((tx) => tx.popups.recent(SEAT, after));
    expect(await recent(at(-1))).toEqual({ count: 3, first: at(0) });
    expect(await recent(at(0))).toEqual({ count: 2, first: at(2) });
    expect(await recent(at(9))).toEqual({ count: 0, first: null });
  });

  test('a storm is held by its newest claim, and stands for all that waits since its oldest', async () => {
    const { hive, ids } = await claimed(5);
    expect(await hive.store.read((tx) => tx.popups.storm(SEAT))).toBeNull();
    await hive.store.write(async (tx) => {
      await tx.popups.joinStorm(ids[2] ?? '', SEAT, at(1));
      await tx.popups.takeOver(ids[3] ?? '', SEAT, 'desk-2', at(3), at(4));
      await tx.popups.joinStorm(ids[3] ?? '', SEAT, at(1));
      await tx.prompts.setPopupOutcome(ids[1] ?? '', SEAT, 'sent', null);
    });
    const storm = { held_by: 'desk-2', since: at(1), at: at(3) };
    expect(await hive.store.read((tx) => tx.popups.storm(SEAT))).toEqual(storm);
    expect(await hive.store.read((tx) => tx.popups.storm('bob@home'))).toBeNull();
    const waiting = () => hive.store.read((tx) => tx.popups.inStorm(SEAT, storm));
    expect(await waiting()).toEqual([
      { ask_id: ids[1], outcome: 'sent' },
      { ask_id: ids[2], outcome: 'claimed' },
      { ask_id: ids[3], outcome: 'claimed' },
    ]);
    const waits = () => hive.store.read((tx) => tx.popups.stormWaits(SEAT, storm));
    for (const ask_id of ids.slice(1, 4)) {
      expect(await waits()).toBe(true);
      await hive.prompts.cancel(ask_id, HUMAN, 'human');
    }
    expect(await waits()).toBe(false);
    expect(await waiting()).toEqual([]);
  });
}
