/** Mentions: who gets one, reading them, and where they go. */
import { describe, expect, test } from 'vitest';
import { takeOver } from '../../src/application/takeovers.ts';
import { newGate } from '../../src/domain/mention-gate.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { eventsOf, HUMAN, openTestHive } from '../support/hive.ts';
import { join, joinThree, post, postUnverified } from '../support/messages.ts';
import type { StoreEngine } from './store-contract.ts';

export function mentionsContract(engine: StoreEngine): void {
  const open = async (): Promise<OpenedHive> => openTestHive(await engine.freshAddress());

  describe('a post', () => {
    test('mentions each addressee once, and each finds the message in full', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const body = '@claude-def34 and @All, @Human: the login is done. `@Claude-abc12`';
      const posted = await post(hive, ada, body, { priority: 'urgent', expects_reply: true });
      expect(posted.mentions.map((mention) => mention.handle).sort()).toEqual([
        'Claude-def34',
        'Claude-xyz56',
        'Human',
      ]);
      expect(posted.unresolved).toEqual([]);
      const [mention] = await hive.mentions.unprocessed(bob.session_id, null);
      expect(mention).toMatchObject({
        message_id: posted.message.message_id,
        session_id: bob.session_id,
        from_session_id: ada.session_id,
        from_handle: 'Claude-abc12',
        author: 'agent',
        body,
        at: posted.message.at,
        priority: 'urgent',
        expects_reply: true,
        gates: true,
        status: 'unprocessed',
        delivered_at: null,
      });
      expect(await hive.mentions.has(bob.session_id)).toEqual({ count: 1, gating: 1, urgent: 1 });
      expect(await hive.mentions.has(ada.session_id)).toEqual({ count: 0, gating: 0, urgent: 0 });
      expect((await hive.mentions.unprocessed('human', null))[0]).toMatchObject({
        gates: false,
        expires_at: null,
      });
    });

    test('says of each addressee whether it was named, or only reached by @All', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await hive.sessions.configure('Claude-xyz56', { roles: ['reviewer'] }, HUMAN);
      const named = async (body: string) =>
        Object.fromEntries((await post(hive, ada, body)).mentions.map((one) => [one.handle, one.by_name]));
      expect(await named('@All')).toEqual({ 'Claude-def34': false, 'Claude-xyz56': false });
      expect(await named('@All @Claude-def34')).toEqual({ 'Claude-def34': true, 'Claude-xyz56': false });
      expect(await named('@Claude-def34 @All')).toEqual({ 'Claude-def34': true, 'Claude-xyz56': false });
      expect(await named('@reviewer')).toEqual({ 'Claude-xyz56': true });
      expect((await hive.mentions.unprocessed(bob.session_id, null)).map(({ by_name }) => by_name)).toEqual([
        false,
        true,
        true,
      ]);
    });

    test('is undelivered until something has carried it; of those that gate, urgent ones come first', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const undelivered = () => hive.store.read((tx) => tx.mentions.undelivered(bob.session_id, 10));
      await post(hive, ada, '@Claude-def34 one');
      const [urgent] = (await post(hive, ada, '@Claude-def34 two', { priority: 'urgent' })).mentions;
      expect(await undelivered()).toMatchObject([{ mention_id: urgent?.mention_id }, { priority: 'normal' }]);
      await hive.mentions.unprocessed(bob.session_id, 'mcp:1', 1);
      expect(await undelivered()).toMatchObject([{ priority: 'normal', delivered_at: null }]);
      for (let n = 0; n < 5; n += 1) await post(hive, ada, `@Claude-def34 more ${n}`);
      expect((await undelivered()).map(({ gates }) => gates)).toEqual([true, true, true, true, true]);
    });

    test('that fails mentions nobody', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await expect(post(hive, ada, '@All', { reply_to: 'msg-none' })).rejects.toThrow();
      expect((await hive.mentions.has(bob.session_id)).count).toBe(0);
      expect(await eventsOf(hive, 'message/posted')).toEqual([]);
    });

    test('reaches the session that continues the one it names', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const heir = await join(hive, 'new00-session');
      await hive.store.write(async (tx) => {
        await tx.sessions.upsert({ ...bob, state: 'ended', ended_at: tx.now });
        await tx.sessions.upsert({ ...heir, continues: bob.session_id });
      });
      expect((await post(hive, ada, '@Claude-def34')).mentions[0]?.handle).toBe('Claude-new00');
      // So a block under the old name does not mention it either.
      const { mentions, unresolved } = await postUnverified(hive, 'Claude-def34', '@Claude-new00');
      expect({ mentions, unresolved }).toEqual({
        mentions: [],
        unresolved: [{ handle: 'Claude-new00', reason: 'own_heading', near: [] }],
      });
    });
  });

  describe('reading', () => {
    test('shows urgent ones first, then the oldest', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      for (const [text, priority] of [
        ['a', 'normal'],
        ['b', 'urgent'],
        ['c', 'normal'],
        ['d', 'urgent'],
      ] as const) {
        await post(hive, ada, `${text} @Claude-def34`, { priority });
      }
      const read = await hive.mentions.unprocessed(bob.session_id, null);
      expect(read.map((mention) => mention.body[0])).toEqual(['b', 'd', 'a', 'c']);
      expect(await hive.mentions.unprocessed(bob.session_id, null, 1)).toHaveLength(1);
    });

    test('leaves a receipt, the first one, and processes nothing', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await post(hive, ada, '@Claude-def34');
      const [first] = await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
      expect(first).toMatchObject({ carrier: 'mcp:1', status: 'unprocessed' });
      expect(first?.delivered_at).toEqual(expect.any(String));
      expect(await hive.mentions.unprocessed(bob.session_id, 'mcp:2')).toEqual([first]);
      expect(await eventsOf(hive, 'mention/delivered')).toHaveLength(1);
    });

    test('without a carrier leaves no receipt', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await post(hive, ada, '@Claude-def34');
      await hive.mentions.unprocessed(bob.session_id, null);
      expect((await hive.mentions.unprocessed(bob.session_id, null))[0]?.delivered_at).toBeNull();
    });
  });

  test('what a session has yet to process moves to the session that continues it', async () => {
    const hive = await open();
    const [ada, bob, heir] = await joinThree(hive);
    await post(hive, ada, '@Claude-def34 1');
    await post(hive, ada, '@Claude-def34 @Claude-xyz56 both');
    await hive.mentions.process({
      session_id: bob.session_id,
      actor: HUMAN,
      mention_ids: [(await hive.mentions.unprocessed(bob.session_id, null))[0]?.mention_id ?? ''],
    });
    await post(hive, ada, '@Claude-def34 2');
    await hive.loops.settle([ada.session_id, bob.session_id], 'muted');
    await hive.store.write((tx) => takeOver(tx, bob, heir));
    expect((await hive.mentions.unprocessed(heir.session_id, null)).map((mention) => mention.body)).toEqual([
      '@Claude-def34 @Claude-xyz56 both',
      '@Claude-def34 2',
    ]);
    expect((await hive.loops.list())[0]?.handles.sort()).toEqual(['Claude-abc12', 'Claude-xyz56']);
    expect(await eventsOf(hive, 'mention/moved')).not.toEqual([]);
  });

  test('a pair that the human has muted stays muted, whatever pairs move to it', async () => {
    const hive = await open();
    const [ada, bob, heir] = await joinThree(hive);
    for (let n = 0; n < 20; n += 1)
      await post(hive, n % 2 === 0 ? ada : bob, n % 2 === 0 ? '@Claude-def34' : '@Claude-abc12');
    expect(await hive.loops.list()).toMatchObject([{ state: 'tripped' }]);
    await hive.loops.settle([ada.session_id, heir.session_id], 'muted');
    await hive.store.write((tx) => takeOver(tx, bob, heir));
    expect(await hive.loops.list()).toMatchObject([{ state: 'muted' }]);
    expect((await post(hive, ada, '@Claude-xyz56')).mentions).toEqual([]);
    // A pair of one session with itself is none.
    await hive.store.write((tx) => takeOver(tx, ada, heir));
    expect(await hive.loops.list()).toEqual([]);
  });

  test('the history of a session comes newest first, in pages', async () => {
    const hive = await open();
    const [ada, bob] = await joinThree(hive);
    for (let n = 0; n < 7; n += 1) await post(hive, ada, `@Claude-def34 ${n}`);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await hive.mentions.history({ session_id: bob.session_id, limit: 3, cursor });
      seen.push(...page.items.map((mention) => mention.body.at(-1) ?? ''));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.join('')).toBe('6543210');
    expect((await hive.mentions.history({ status: 'processed', limit: 10 })).items).toEqual([]);
  });

  test('held-up calls are counted', async () => {
    const hive = await open();
    const [ada, bob] = await joinThree(hive);
    await post(hive, ada, '@Claude-def34');
    await hive.store.write((tx) => tx.mentions.deny(bob.session_id));
    expect(await hive.mentions.summary(bob.session_id)).toMatchObject({ denials: 1, unprocessed: 1 });
  });

  test('clearing removes only mentions, processed or not, frees the agents that they held, and is recorded', async () => {
    const hive = await open();
    const [ada, bob] = await joinThree(hive);
    const first = await post(hive, ada, '@Claude-def34 @Human');
    await post(hive, ada, '@Claude-def34 again');
    await hive.mentions.process({ session_id: 'human', actor: HUMAN, all: true });
    await hive.store.write((tx) =>
      tx.gates.put({ ...newGate(bob.session_id), gave_up: true, steps: 5, held: true }),
    );
    expect(await hive.retention.previewMentions(1)).toEqual({});
    expect(await hive.retention.clearMentions(1, HUMAN)).toEqual({});
    const found = await hive.retention.previewMentions(0);
    expect(found).toMatchObject({ mentions: 3 });
    expect(await hive.retention.clearMentions(0, HUMAN)).toEqual(found);
    for (const session_id of [bob.session_id, 'human'])
      expect(await hive.mentions.summary(session_id)).toMatchObject({ total: 0, unprocessed: 0 });
    expect(await hive.store.read((tx) => tx.gates.get(bob.session_id))).toMatchObject({ gave_up: false });
    expect((await hive.messages.get(first.message.message_id)).body).toContain('@Human');
    expect((await eventsOf(hive, 'mention/cleared')).at(-1)?.data).toMatchObject({
      by: 'ada',
      via: 'emacs',
      days: 0,
      records: { mentions: 3 },
    });
    const left = await hive.store.read((tx) => tx.events.of(String(first.mentions[0]?.mention_id), 10));
    expect(left).toEqual([]);
    expect((await post(hive, ada, '@Claude-def34 again')).mentions).toHaveLength(1);
  });
}
