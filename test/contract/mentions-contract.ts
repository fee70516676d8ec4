/** Mentions: who gets one, reading them, and where they go. */
import { describe, expect, test } from 'vitest';
import { moveMentions } from '../../src/application/mentions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { eventsOf, HUMAN, openTestHive } from '../support/hive.ts';
import { join, joinThree, post } from '../support/messages.ts';
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
      const [mention] = await hive.mentions.get(bob.session_id, null);
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
      expect((await hive.mentions.get('human', null))[0]).toMatchObject({ gates: false, expires_at: null });
    });

    test('that fails mentions nobody', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await expect(post(hive, ada, '@All', { reply_to: 'msg-none' })).rejects.toThrow();
      expect((await hive.mentions.has(bob.session_id)).count).toBe(0);
      expect(await eventsOf(hive, 'message/posted')).toEqual([]);
    });

    test('tells a session that has ended from one that never was', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await hive.store.write((tx) => tx.sessions.upsert({ ...bob, state: 'ended', ended_at: tx.now }));
      const { unresolved } = await post(hive, ada, '@Claude-def34 @Claude-xyz @Claude-q');
      expect(unresolved).toEqual([
        { handle: 'Claude-def34', reason: 'ended', near: [] },
        { handle: 'Claude-xyz', reason: 'unknown', near: ['Claude-xyz56'] },
        { handle: 'Claude-q', reason: 'unknown', near: [] },
      ]);
    });

    test('reaches the session that went on from the one it names', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const heir = await join(hive, 'new00-session');
      await hive.store.write(async (tx) => {
        await tx.sessions.upsert({ ...bob, state: 'ended', ended_at: tx.now });
        await tx.sessions.upsert({ ...heir, continues: bob.session_id });
      });
      expect((await post(hive, ada, '@Claude-def34')).mentions[0]?.handle).toBe('Claude-new00');
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
      const read = await hive.mentions.get(bob.session_id, null);
      expect(read.map((mention) => mention.body[0])).toEqual(['b', 'd', 'a', 'c']);
      expect(await hive.mentions.get(bob.session_id, null, 1)).toHaveLength(1);
    });

    test('leaves a receipt, the first one, and processes nothing', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await post(hive, ada, '@Claude-def34');
      const [first] = await hive.mentions.get(bob.session_id, 'mcp:1');
      expect(first).toMatchObject({ carrier: 'mcp:1', status: 'unprocessed' });
      expect(first?.delivered_at).toEqual(expect.any(String));
      expect(await hive.mentions.get(bob.session_id, 'mcp:2')).toEqual([first]);
      expect(await eventsOf(hive, 'mention/delivered')).toHaveLength(1);
    });

    test('without a carrier leaves no receipt', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await post(hive, ada, '@Claude-def34');
      await hive.mentions.get(bob.session_id, null);
      expect((await hive.mentions.get(bob.session_id, null))[0]?.delivered_at).toBeNull();
    });
  });

  test('what a session has yet to deal with moves to the one that goes on from it', async () => {
    const hive = await open();
    const [ada, bob, heir] = await joinThree(hive);
    await post(hive, ada, '@Claude-def34 1');
    await post(hive, ada, '@Claude-def34 @Claude-xyz56 both');
    await hive.mentions.process({
      session_id: bob.session_id,
      actor: HUMAN,
      mention_ids: [(await hive.mentions.get(bob.session_id, null))[0]?.mention_id ?? ''],
    });
    await post(hive, ada, '@Claude-def34 2');
    await hive.loops.mute([ada.session_id, bob.session_id]);
    await hive.store.write((tx) => moveMentions(tx, bob, heir));
    expect((await hive.mentions.get(heir.session_id, null)).map((mention) => mention.body)).toEqual([
      '@Claude-def34 @Claude-xyz56 both',
      '@Claude-def34 2',
    ]);
    expect((await hive.loops.list())[0]?.handles.sort()).toEqual(['Claude-abc12', 'Claude-xyz56']);
    expect(await eventsOf(hive, 'mention/moved')).not.toEqual([]);
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
}
