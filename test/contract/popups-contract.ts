/** Popups of a seat: one lease each, and storms of a seat and kind counted from its leases. */
import { describe, expect, test } from 'vitest';
import type { PopupLease } from '../../src/application/ports.ts';
import type { PopupKind } from '../../src/domain/popups.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import { agent } from '../support/outreach.ts';
import type { StoreEngine } from './store-contract.ts';

const SEAT = 'ada@home';
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();
const scopeOf = (kind: PopupKind) => ({ seat: SEAT, kind });

export function popupsContract(engine: StoreEngine): void {
  const lease = (subject: string, changes: Partial<PopupLease> = {}): PopupLease => ({
    subject,
    kind: 'prompt',
    seat: SEAT,
    held_by: 'desk-1',
    ...changes,
  });

  /** Something of each kind that can pop up. */
  async function make(hive: OpenedHive, kind: PopupKind, n: number): Promise<string> {
    if (kind === 'prompt') return (await ask(hive, { question: `${n}?` })).ask_id;
    if (kind === 'mention') {
      const author = await join(hive, 'abc12-session');
      return (await post(hive, author, `@Human ${n}`)).mentions[0]?.mention_id ?? '';
    }
    return (await hive.outreach.card({ title: `${n}` }, await agent(hive, 'main-1', 'main'))).outreach_id;
  }

  /** One subject for each second, leased in turn. */
  async function leased(
    count: number,
    kind: PopupKind = 'prompt',
  ): Promise<{ hive: OpenedHive; ids: string[] }> {
    const hive = await openTestHive(await engine.freshAddress());
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const id = await make(hive, kind, n);
      ids.push(id);
      expect(await hive.store.write((tx) => tx.popups.lease(lease(id, { kind }), at(n)))).toBe(true);
    }
    return { hive, ids };
  }

  test('a lease is taken once at a seat, and once at each other seat', async () => {
    const { hive, ids } = await leased(1);
    const take = (changes: Partial<PopupLease>) =>
      hive.store.write((tx) => tx.popups.lease(lease(ids[0] ?? '', changes), at(1)));
    expect(await take({ held_by: 'desk-2' })).toBe(false);
    expect(await take({ held_by: 'desk-9', seat: 'bob@home' })).toBe(true);
  });

  test('the outcome of a lease is written once', async () => {
    const { hive, ids } = await leased(1);
    const [ask_id = ''] = ids;
    const outcome = () => hive.store.read((tx) => tx.popups.outcome(ask_id, SEAT));
    expect(await outcome()).toBe('leased');
    const settle = (became: 'sent' | 'failed') =>
      hive.store.write((tx) => tx.popups.settle(ask_id, SEAT, became, null));
    expect(await settle('sent')).toBe(true);
    expect(await settle('failed')).toBe(false);
    expect(await outcome()).toBe('sent');
    expect(await hive.store.read((tx) => tx.popups.outcome(ask_id, 'bob@home'))).toBeUndefined();
  });

  test('an old lease whose popup was never shown is taken over, by one process', async () => {
    const { hive, ids } = await leased(2);
    const [first = '', second = ''] = ids;
    const takeOver = (subject: string, held_by: string, before: string) =>
      hive.store.write((tx) => tx.popups.takeOver(lease(subject, { held_by }), at(20), before));
    expect(await takeOver(first, 'desk-2', at(0))).toBe(false);
    expect(await takeOver(first, 'desk-2', at(10))).toBe(true);
    expect(await takeOver(first, 'desk-3', at(10))).toBe(false);
    await hive.store.write((tx) => tx.popups.settle(second, SEAT, 'sent', null));
    expect(await takeOver(second, 'desk-2', at(10))).toBe(false);
  });

  test('the recent popups are those of one kind at that seat that were not suppressed', async () => {
    const { hive, ids } = await leased(4);
    await hive.store.write(async (tx) => {
      await tx.popups.settle(ids[1] ?? '', SEAT, 'suppressed', 'focused');
      await tx.popups.lease(lease(ids[2] ?? '', { seat: 'bob@home', held_by: 'desk-9' }), at(3));
      await tx.popups.lease(lease('mention-1', { kind: 'mention' }), at(3));
    });
    const recent = (after: string, kind: PopupKind = 'prompt') =>
      hive.store.read((tx) => tx.popups.recent(scopeOf(kind), after));
    expect(await recent(at(-1))).toEqual({ count: 3, first: at(0) });
    expect(await recent(at(0))).toEqual({ count: 2, first: at(2) });
    expect(await recent(at(9))).toEqual({ count: 0, first: null });
    expect(await recent(at(-1), 'mention')).toEqual({ count: 1, first: at(3) });
  });

  test('what was leased before the clock was set back holds nothing up', async () => {
    const { hive, ids } = await leased(1);
    const [ask_id = ''] = ids;
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const now = new Date().toISOString();
    await hive.store.write(async (tx) => {
      await tx.popups.takeOver(lease(ask_id, { held_by: 'desk-9' }), ahead, at(1));
      await tx.popups.joinStorm(ask_id, SEAT, ahead);
    });
    expect(await hive.store.read((tx) => tx.popups.storm(scopeOf('prompt')))).toBeNull();
    expect(await hive.store.read((tx) => tx.popups.recent(scopeOf('prompt'), at(0)))).toMatchObject({
      count: 0,
    });
    expect(await hive.store.write((tx) => tx.popups.takeOver(lease(ask_id), now, at(0)))).toBe(true);
  });

  describe.each(['prompt', 'mention', 'outreach'] as const)('a storm of the kind %s', (kind) => {
    const scope = scopeOf(kind);
    const settle: Record<PopupKind, ((hive: OpenedHive, id: string) => Promise<unknown>) | null> = {
      prompt: (hive, ask_id) => hive.prompts.cancel(ask_id, HUMAN, 'human'),
      mention: (hive, mention_id) =>
        hive.mentions.process({ session_id: 'human', actor: HUMAN, mention_ids: [mention_id] }),
      outreach: null,
    };

    test('is held by its newest lease, and is one popup for everything since the oldest that is not settled', async () => {
      const { hive, ids } = await leased(5, kind);
      expect(await hive.store.read((tx) => tx.popups.storm(scope))).toBeNull();
      await hive.store.write(async (tx) => {
        await tx.popups.joinStorm(ids[2] ?? '', SEAT, at(1));
        await tx.popups.takeOver(lease(ids[3] ?? '', { kind, held_by: 'desk-2' }), at(3), at(4));
        await tx.popups.joinStorm(ids[3] ?? '', SEAT, at(1));
        await tx.popups.settle(ids[1] ?? '', SEAT, 'sent', null);
      });
      const storm = { held_by: 'desk-2', since: at(1), at: at(3) };
      expect(await hive.store.read((tx) => tx.popups.storm(scope))).toEqual(storm);
      expect(await hive.store.read((tx) => tx.popups.storm({ ...scope, seat: 'bob@home' }))).toBeNull();
      for (const other of (['prompt', 'mention', 'outreach'] as const).filter((one) => one !== kind))
        expect(await hive.store.read((tx) => tx.popups.storm(scopeOf(other)))).toBeNull();
      const waiting = () => hive.store.read((tx) => tx.popups.inStorm(scope, storm));
      expect(await waiting()).toEqual([
        { subject: ids[1], outcome: 'sent' },
        { subject: ids[2], outcome: 'leased' },
        { subject: ids[3], outcome: 'leased' },
      ]);
      const waits = () => hive.store.read((tx) => tx.popups.isStormOpen(scope, storm));
      for (const id of ids.slice(1, 4)) {
        expect(await waits()).toBe(true);
        await settle[kind]?.(hive, id);
      }
      // A ping is never settled.
      expect(await waits()).toBe(kind === 'outreach');
      expect(await waiting()).toHaveLength(kind === 'outreach' ? 3 : 0);
    });
  });
}
