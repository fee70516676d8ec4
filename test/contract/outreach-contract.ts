/** Outreach on an engine: the rules, the shared budget, settings, lists and retention. */
import { describe, expect, test } from 'vitest';
import { BUDGET, DEFAULT_OUTREACH_SETTINGS, type Outreach } from '../../src/domain/outreach.ts';
import { eventsOf, HUMAN, openTestHive } from '../support/hive.ts';
import { agent, attended, creditsOf, leaveCredits, refusalOf } from '../support/outreach.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function outreachContract(engine: StoreEngine): void {
  const away = async () => openTestHive(await engine.freshAddress());
  const open = async () => attended(await away());

  describe('the rules', () => {
    test('a ping from the background is sent and charged; one from main or a fork is refused and leaves nothing', async () => {
      const hive = await open();
      const sent = await hive.outreach.ping({ message: 'Look' }, await agent(hive, 'bg-1'));
      expect(sent).toMatchObject({ kind: 'ping', status: 'sent', source: 'bg', charged: '*' });
      expect(await creditsOf(hive)).toBe(BUDGET.capacity - 1);
      for (const source of ['main', 'fork'] as const) {
        const refusal = await refusalOf(
          hive.outreach.ping({ message: 'Look' }, await agent(hive, source, source)),
        );
        expect(refusal).toMatchObject({ code: 'outreach_refused' });
        expect(refusal.message).toContain('only available in background sessions');
      }
      expect((await hive.outreach.list({ limit: 10 })).items).toHaveLength(1);
    });

    test('what a rule suppresses is kept, and an event says by which rule', async () => {
      const hive = await open();
      const session = await agent(hive, 'bg-1');
      await hive.sessions.configure('bg-1', { allow_ping: false }, HUMAN);
      const refusal = await refusalOf(hive.outreach.ping({ message: 'Look', critical: true }, session));
      expect(refusal.details).toMatchObject({ rule: 'allow_ping', passes_at: null });
      const [item] = (await hive.outreach.list({ limit: 10 })).items;
      expect(item).toMatchObject({ status: 'suppressed', reason: 'allow_ping', charged: null });
      expect((await eventsOf(hive, 'outreach/suppressed'))[0]).toMatchObject({
        subject: item?.outreach_id,
        data: { kind: 'ping', rule: 'allow_ping' },
      });
    });

    test('a session that ended and comes back owes its report again, and not what its Stop guard gave up before', async () => {
      const hive = await open();
      const session = await agent(hive, 'bg-1');
      await hive.outreach.ping({ message: 'Look' }, session);
      const owed = async (): Promise<number> =>
        hive.store.read(async (tx) => (await tx.outreach.unreported('bg-1')).length);
      await hive.sessions.end('bg-1');
      expect(await owed()).toBe(0);
      await agent(hive, 'bg-1');
      expect(await owed()).toBe(1);
      await hive.store.write(async (tx) => {
        for (const item of await tx.outreach.unreported('bg-1'))
          await tx.outreach.update({ ...item, let_go_at: '2026-01-01T00:00:00.000Z' });
      });
      await hive.sessions.end('bg-1');
      await agent(hive, 'bg-1');
      expect(await owed()).toBe(0);
    });

    test('what was seen or may still be shown is unreported, until a report, or until the guard gives up', async () => {
      const hive = await open();
      const session = await agent(hive, 'bg-1');
      const sent = await hive.outreach.ping({ message: 'Look' }, session);
      const unreported = (changes: Partial<Outreach>): Promise<number> =>
        hive.store.write(async (tx) => {
          await tx.outreach.update({ ...sent, ...changes });
          return (await tx.outreach.unreported('bg-1')).length;
        });
      const at = '2026-01-01T00:00:00.000Z';
      expect(await unreported({ status: 'unseen' })).toBe(0);
      expect(await unreported({ status: 'shown', reason: 'nobody_there' })).toBe(0);
      expect(await unreported({ status: 'suppressed' })).toBe(0);
      expect(await unreported({ reported_at: at })).toBe(0);
      expect(await unreported({ let_go_at: at })).toBe(0);
      expect(await unreported({ status: 'shown' })).toBe(1);
      expect(await unreported({})).toBe(1);
      await hive.outreach.report({ message: 'Done' }, session);
      expect(await hive.store.read((tx) => tx.outreach.unreported('bg-1'))).toEqual([]);
    });

    test('all background sessions share one budget; critical ones cost nothing; a report is always possible', async () => {
      const hive = await leaveCredits(await open(), 5);
      for (let n = 1; n <= 5; n += 1)
        await hive.outreach.ping({ message: 'x' }, await agent(hive, `bg-${n}`));
      const sixth = await agent(hive, 'bg-6');
      const refusal = await refusalOf(hive.outreach.ping({ message: 'x' }, sixth));
      expect(refusal.details['rule']).toBe('budget');
      expect(refusal.message).toContain('A report is always possible');
      await hive.outreach.ping({ message: 'Fire', critical: true }, sixth);
      await hive.outreach.report({ message: 'All of it.' }, sixth);
      expect(await hive.store.read((tx) => tx.outreach.bucket('*'))).toMatchObject({ credits: 0 });
    });

    test('the current source counts, not the one from when the caller was looked up', async () => {
      const hive = await open();
      const session = await agent(hive, 'one', 'main');
      await hive.sessions.configure('one', { source: 'bg' }, HUMAN);
      expect(await hive.outreach.ping({ message: 'x' }, session)).toMatchObject({ source: 'bg' });
    });
  });

  test('the last token goes to one of many that race for it, over two connections', async () => {
    const [one, other] = await openTwo(engine);
    await leaveCredits(await attended(one), 1);
    const racers = await Promise.all(Array.from({ length: 16 }, (_, n) => agent(one, `late-${n}`)));
    const outcomes = await Promise.allSettled(
      racers.map((session, n) => (n % 2 === 0 ? one : other).outreach.ping({ message: 'x' }, session)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await creditsOf(one)).toBe(0);
  });

  describe('charged only when shown', () => {
    test('what nobody sees returns its token and requires no report, even if it is shown later', async () => {
      const hive = await open();
      const { outreach_id } = await hive.outreach.ping({ message: 'x' }, await agent(hive, 'bg-1'));
      expect(await hive.outreach.settle(outreach_id, { status: 'unseen', reason: 'no screen' })).toBe(true);
      expect(await creditsOf(hive)).toBe(BUDGET.capacity);
      expect(await hive.outreach.find(outreach_id)).toMatchObject({ status: 'unseen', charged: null });
      expect((await hive.outreach.unseen(10)).map((item) => item.outreach_id)).toEqual([outreach_id]);
      const shown = { status: 'shown', shown_via: 'emacs' } as const;
      expect(await hive.outreach.settle(outreach_id, shown)).toBe(true);
      expect(await hive.outreach.settle(outreach_id, shown)).toBe(false);
      expect(await hive.outreach.unseen(10)).toEqual([]);
      expect(await creditsOf(hive)).toBe(BUDGET.capacity);
      expect(await hive.store.read((tx) => tx.outreach.unreported('bg-1'))).toEqual([]);
    });

    test('with nobody there it is unseen at once and costs nothing; a loop is refused when enough is stored', async () => {
      const hive = await away();
      const session = await agent(hive, 'bg-1');
      const sent = await hive.outreach.ping({ message: 'x' }, session);
      expect(sent).toMatchObject({ status: 'unseen', reason: 'nobody_there', charged: null });
      expect((await eventsOf(hive, 'outreach/unseen'))[0]).toMatchObject({ subject: sent.outreach_id });
      expect(await eventsOf(hive, 'outreach/sent')).toEqual([]);
      expect(await creditsOf(hive)).toBeNull();
      for (let n = 2; n <= BUDGET.capacity; n += 1) await hive.outreach.ping({ message: 'x' }, session);
      expect((await refusalOf(hive.outreach.ping({ message: 'x' }, session))).message).toContain(
        `${BUDGET.capacity} pings and cards are kept for your human already`,
      );
      // Cards of others are not rationed, and are stored too.
      expect(await hive.outreach.card({ title: 'x' }, await agent(hive, 'main-1', 'main'))).toMatchObject({
        status: 'unseen',
      });
      expect(await hive.store.read((tx) => tx.outreach.unreported('bg-1'))).toEqual([]);
    });

    test('what was shown keeps its cost', async () => {
      const hive = await open();
      const { outreach_id } = await hive.outreach.ping({ message: 'x' }, await agent(hive, 'bg-1'));
      await hive.outreach.settle(outreach_id, { status: 'shown', shown_via: 'notification' });
      expect(await hive.outreach.settle(outreach_id, { status: 'unseen', reason: 'late' })).toBe(false);
      expect(await creditsOf(hive)).toBe(BUDGET.capacity - 1);
      expect((await eventsOf(hive, 'outreach/shown'))[0]?.data).toMatchObject({ via: 'notification' });
    });

    test('what nobody showed within a minute is unseen', async () => {
      const hive = await open();
      const { outreach_id } = await hive.outreach.ping({ message: 'x' }, await agent(hive, 'bg-1'));
      expect(await hive.outreach.markUnshown()).toBe(0);
      await hive.store.write(async (tx) => {
        const item = await tx.outreach.get(outreach_id);
        if (item !== undefined)
          await tx.outreach.update({
            ...item,
            created_at: new Date(Date.parse(tx.now) - 61_000).toISOString(),
          });
      });
      expect(await hive.outreach.markUnshown()).toBe(1);
      expect(await creditsOf(hive)).toBe(BUDGET.capacity);
    });
  });

  describe('a card with actions', () => {
    test('is a prompt whose options are the labels: it is answered as any other', async () => {
      const hive = await open();
      const session = await agent(hive, 'main-1', 'main');
      const card = await hive.outreach.card(
        {
          title: 'Deploy?',
          description: 'All green.',
          actions: [{ label: 'Now', ask: 'Deploy it now.' }, { label: 'Later' }],
        },
        session,
      );
      const prompt = await hive.prompts.get(card.ask_id ?? '');
      expect(prompt).toMatchObject({
        session_id: 'main-1',
        question: 'Deploy?',
        context: 'All green.',
        options: [
          { label: 'Now', description: 'Deploy it now.' },
          { label: 'Later', description: null },
        ],
      });
      expect(
        (await hive.prompts.respond({ ask_id: prompt.ask_id, selected: ['Now'], actor: HUMAN })).outcome,
      ).toBe('accepted');
    });

    test('that is suppressed asks nothing', async () => {
      const hive = await open();
      await hive.outreach.setSettings({ allow_ping: false });
      const session = await agent(hive, 'bg-1');
      await refusalOf(hive.outreach.card({ title: 'x', actions: [{ label: 'y' }] }, session));
      expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
    });
  });

  describe('settings', () => {
    test('apply everywhere until reset, and survive a restart', async () => {
      const address = await engine.freshAddress();
      const hive = await openTestHive(address);
      expect(await hive.outreach.settings()).toEqual(DEFAULT_OUTREACH_SETTINGS);
      await hive.outreach.setSettings({ allow_ping: false, report_policy: 'always' });
      const again = await openTestHive(address);
      expect(await again.outreach.settings()).toEqual({ allow_ping: false, report_policy: 'always' });
      expect(await again.outreach.setSettings({ allow_ping: null })).toEqual({
        allow_ping: true,
        report_policy: 'always',
      });
    });

    test('a session that may send no reports is told so, and is not held for one', async () => {
      const hive = await open();
      const session = await agent(hive, 'bg-1');
      await hive.sessions.configure('bg-1', { report_policy: 'blocked' }, HUMAN);
      expect((await refusalOf(hive.outreach.report({ message: 'x' }, session))).message).toContain(
        'report_policy blocked',
      );
    });
  });

  test('the list is newest first, by kind and session, and continues from its cursor', async () => {
    const hive = await open();
    const main = await agent(hive, 'main-1', 'main');
    for (let n = 1; n <= 5; n += 1) await hive.outreach.card({ title: `card ${n}` }, main);
    await hive.outreach.ping({ message: 'x' }, await agent(hive, 'bg-1'));
    const first = await hive.outreach.list({ kind: 'card', limit: 2 });
    expect(first.items.map(({ title }) => title)).toEqual(['card 5', 'card 4']);
    const rest = await hive.outreach.list({ kind: 'card', limit: 10, cursor: first.next_cursor });
    expect(rest.items.map(({ title }) => title)).toEqual(['card 3', 'card 2', 'card 1']);
    expect(rest.next_cursor).toBeNull();
    expect((await hive.outreach.list({ session_id: 'bg-1', limit: 10 })).items).toHaveLength(1);
  });

  test('retention removes what was shown, but no report that nobody has read and no ping that nobody has seen', async () => {
    const hive = await away();
    const session = await agent(hive, 'bg-1');
    const { outreach_id } = await hive.outreach.ping({ message: 'unseen' }, session);
    expect(await hive.store.write((tx) => tx.retention.prune('outreach', '9999', 10))).not.toMatchObject({
      outreach: 1,
    });
    expect(await hive.outreach.find(outreach_id)).toMatchObject({ status: 'unseen' });
    await hive.outreach.settle(outreach_id, { status: 'shown', shown_via: 'emacs' });
    await hive.store.write((tx) => tx.retention.prune('outreach', '9999', 10));
    expect(await hive.outreach.find(outreach_id)).toBeUndefined();
    await attended(hive);
    await hive.outreach.ping({ message: 'x' }, session);
    await hive.outreach.report({ message: 'kept' }, session);
    const swept = await hive.store.write((tx) => tx.retention.prune('outreach', '9999', 10));
    expect(swept).toMatchObject({ outreach: 1 });
    expect((await hive.outreach.list({ limit: 10 })).items.map(({ kind }) => kind)).toEqual(['report']);
  });
}
