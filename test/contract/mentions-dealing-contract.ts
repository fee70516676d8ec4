/** Mentions: dealing with them, and that they end. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { hookCarrier } from '../../src/application/delivery.ts';
import { newGate } from '../../src/domain/mention-gate.ts';
import { explainUndecided } from '../../src/domain/mentions.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { GATED_SESSION, gatedEvent } from '../support/gate.ts';
import { eventsOf, HUMAN, noticesOf, openTestHive } from '../support/hive.ts';
import { fire, said } from '../support/hooks.ts';
import { actorOf, joinThree, post } from '../support/messages.ts';
import { eventually } from '../support/wait.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function mentionsDealingContract(engine: StoreEngine): void {
  const open = async (): Promise<OpenedHive> => openTestHive(await engine.freshAddress());

  describe('dealing with them', () => {
    test('one by one, by the id of the mention or of the message', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const first = await post(hive, ada, '@Claude-def34 1');
      const second = await post(hive, ada, '@Claude-def34 2');
      await post(hive, ada, '@Claude-def34 3');
      const mention_ids = [first.mentions[0]?.mention_id ?? '', second.message.message_id];
      const done = await hive.mentions.process({
        session_id: bob.session_id,
        actor: actorOf(bob),
        mention_ids,
        note: 'reviewed',
      });
      expect(done).toMatchObject({ already: [], remaining: 1 });
      expect(done.processed[0]).toMatchObject({
        status: 'processed',
        processed_by: 'Claude-def34',
        processed_via: 'mcp',
        note: 'reviewed',
      });
      expect(await hive.mentions.summary(bob.session_id)).toEqual({
        total: 3,
        unprocessed: 1,
        processed: 2,
        expired: 0,
        gating: 1,
        denials: 0,
      });
      const again = await hive.mentions.process({
        session_id: bob.session_id,
        actor: HUMAN,
        mention_ids: mention_ids.slice(0, 1),
      });
      expect(again).toMatchObject({ processed: [], already: [{ mention_id: mention_ids[0] }], remaining: 1 });
    });

    test('all at once; the result has those that had not been read', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      await post(hive, ada, '@Claude-def34 read');
      await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
      await post(hive, ada, '@Claude-def34 unread');
      const command = { session_id: bob.session_id, actor: actorOf(bob), all: true, carrier: 'mcp:1' };
      const done = await hive.mentions.process(command);
      expect(done.processed).toHaveLength(2);
      expect(done.unread.map((mention) => mention.body)).toEqual(['@Claude-def34 unread']);
      expect(done.remaining).toBe(0);
      expect(await hive.mentions.process(command)).toMatchObject({ processed: [], remaining: 0 });
    });

    test('by ids that were only named returns their text, once', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const { mentions } = await post(hive, ada, '@Claude-def34 unread');
      const mention_ids = mentions.map((mention) => mention.mention_id);
      const command = { session_id: bob.session_id, actor: actorOf(bob), mention_ids, carrier: 'mcp:1' };
      expect((await hive.mentions.process(command)).unread).toMatchObject([{ body: '@Claude-def34 unread' }]);
      expect(await hive.mentions.process(command)).toMatchObject({
        unread: [],
        already: mentions.map(({ mention_id }) => ({ mention_id })),
      });
    });

    test('all leaves those that do not fit into one result', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      for (let n = 0; n < 3; n += 1) await post(hive, ada, `@Claude-def34 ${'x'.repeat(30_000)}`);
      const command = { session_id: bob.session_id, actor: actorOf(bob), all: true, carrier: 'mcp:1' };
      expect(await hive.mentions.process(command)).toMatchObject({ remaining: 2 });
      expect(await hive.mentions.process({ ...command, actor: HUMAN, carrier: null })).toMatchObject({
        remaining: 0,
      });
    });

    test('a gate remembers who is held, since when and who was told, the longest held first, until there is progress', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const at = (minute: number): string => `2026-01-11T18:0${minute}:00.000Z`;
      const held = () => hive.store.read((tx) => tx.gates.held());
      await hive.store.write(async (tx) => {
        await tx.gates.put({
          ...newGate(bob.session_id),
          held: true,
          held_since: at(2),
          held_notified: ['ada@test'],
        });
        await tx.gates.put({ ...newGate(ada.session_id), held: true, held_since: at(1) });
        await tx.gates.put(newGate('another'));
      });
      expect(await held()).toMatchObject([
        { session_id: ada.session_id, held_since: at(1), held_notified: [] },
        { session_id: bob.session_id, held_since: at(2), held_notified: ['ada@test'] },
      ]);
      await post(hive, ada, '@Claude-def34 hello');
      await hive.mentions.process({ session_id: bob.session_id, all: true, actor: actorOf(bob) });
      expect((await held()).map(({ session_id }) => session_id)).toEqual([ada.session_id]);
    });

    test('is refused for ids of others, for no ids, and to other agents', async () => {
      const hive = await open();
      const [ada, bob, eve] = await joinThree(hive);
      const { mentions } = await post(hive, ada, '@Claude-def34 @Claude-xyz56 @Human');
      const others = mentions.find((mention) => mention.handle === 'Claude-xyz56')?.mention_id ?? '';
      const own = { session_id: bob.session_id, actor: actorOf(bob) };
      await expect(hive.mentions.process({ ...own, mention_ids: [others] })).rejects.toMatchObject({
        code: 'mention_not_found',
      });
      await expect(hive.mentions.process(own)).rejects.toMatchObject({ code: 'invalid_input' });
      const foreign = { session_id: bob.session_id, actor: actorOf(eve), all: true };
      await expect(hive.mentions.process(foreign)).rejects.toMatchObject({ code: 'not_allowed' });
      const declared = { ...actorOf(eve), declared: true };
      await expect(
        hive.mentions.process({ session_id: 'human', actor: declared, all: true }),
      ).rejects.toMatchObject({ code: 'not_allowed' });
      expect((await hive.mentions.process({ ...foreign, actor: declared })).processed[0]).toMatchObject({
        processed_by: 'Claude-xyz56',
      });
    });

    test('a reply deals with the mention it answers, and with no other', async () => {
      const hive = await open();
      const [ada, bob, eve] = await joinThree(hive);
      const { message } = await post(hive, ada, '@Claude-def34 @Claude-xyz56 @Human review?');
      await post(hive, ada, '@Claude-def34 and this?');
      const reply = await post(hive, bob, '@Claude-abc12 done', { reply_to: message.message_id });
      expect(reply.answered[0]).toMatchObject({
        session_id: bob.session_id,
        status: 'processed',
        note: 'replied',
      });
      expect((await eventsOf(hive, 'mention/processed'))[0]?.data).toMatchObject({
        message_id: message.message_id,
        answered_with: reply.message.message_id,
      });
      expect((await hive.mentions.has(bob.session_id)).count).toBe(1);
      expect((await hive.mentions.has(eve.session_id)).count).toBe(1);
      expect((await post(hive, 'human', 'fine', { reply_to: message.message_id })).answered[0]).toMatchObject(
        { session_id: 'human' },
      );
      expect((await hive.mentions.has('human')).count).toBe(0);
    });

    test('an answer that names its author settles the only mention of theirs that was read, and none if there are several', async () => {
      const hive = await open();
      const [ada, bob, eve] = await joinThree(hive);
      const mention = async (from: Session | 'human', body: string): Promise<string> =>
        (await post(hive, from, body)).mentions[0]?.mention_id ?? '';
      const of_ada = await mention(ada, '@Claude-def34 review?');
      expect((await post(hive, bob, '@Claude-abc12 I begin with the parser.')).answered, 'unread').toEqual(
        [],
      );
      await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
      const done = await post(hive, bob, '@Claude-abc12 it is fine. @Claude-xyz56 look, too.');
      expect(done.answered).toMatchObject([
        { mention_id: of_ada, status: 'processed', note: 'answered in a message' },
      ]);
      expect(done.undecided).toEqual([]);

      const first = await mention(ada, '@Claude-def34 and this?');
      const second = await mention(ada, '@Claude-def34 and that?');
      const of_human = await mention('human', '@Claude-def34 hurry');
      await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
      await post(hive, bob, '@All I am busy.');
      expect((await hive.mentions.has(bob.session_id)).count, 'nobody is named').toBe(3);
      const both = await post(hive, bob, '@Claude-abc12 yes. @Human done.');
      expect(both.answered.map(({ mention_id }) => mention_id)).toEqual([of_human]);
      expect(both.undecided.map(({ mention_id }) => mention_id)).toEqual([first, second]);
      expect(explainUndecided(both.undecided)).toContain(
        `hivemind_process_mentions {"mention_ids": ["${first}","${second}"]}`,
      );
      // Those who were mentioned meanwhile have answered nothing.
      expect((await hive.mentions.has(eve.session_id)).count).toBe(2);
    });

    test('happens once, however many do it', async () => {
      const [hive, other] = await openTwo(engine);
      const [ada, bob] = await joinThree(hive);
      await post(hive, ada, '@Claude-def34');
      const command = { session_id: bob.session_id, actor: HUMAN, all: true };
      const results = await Promise.all(
        [hive, other, hive, other].map((one) => one.mentions.process(command)),
      );
      expect(results.map((result) => result.processed.length).sort()).toEqual([0, 0, 0, 1]);
      expect(await eventsOf(hive, 'mention/processed')).toHaveLength(1);
    });
  });

  describe('time', () => {
    /** Makes every mention due. */
    const lapse = (hive: OpenedHive, session_id: string, at: string): Promise<void> =>
      hive.store.write(async (tx) => {
        for (const { mention_id } of await tx.mentions.unprocessedOf(session_id)) {
          const mention = await tx.mentions.get(mention_id);
          if (mention !== undefined) await tx.mentions.update({ ...mention, expires_at: at });
        }
        await tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data: {} });
      });

    test('a mention is kept for a day', async () => {
      const hive = await open();
      const [ada] = await joinThree(hive);
      const { mentions } = await post(hive, ada, '@Claude-def34');
      const { created_at, expires_at } = mentions[0] ?? { created_at: '', expires_at: '' };
      expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(24 * 60 * 60 * 1000);
    });

    test('at its time the mention is no longer pending, and is recorded as expired', async () => {
      const hive = await open();
      const [ada, bob] = await joinThree(hive);
      const { message } = await post(hive, ada, '@Claude-def34');
      await lapse(hive, bob.session_id, '2020-01-01T00:00:00.000Z');
      expect(await hive.mentions.has(bob.session_id)).toMatchObject({ count: 0 });
      expect(await hive.mentions.unprocessed(bob.session_id, 'mcp:1')).toEqual([]);
      expect(await hive.mentions.summary(bob.session_id)).toMatchObject({ expired: 1, unprocessed: 0 });
      expect(await eventsOf(hive, 'mention/expired')).not.toEqual([]);
      const late = await post(hive, bob, 'late', { reply_to: message.message_id });
      expect(late.answered).toEqual([]);
      const [mention] = (await hive.mentions.history({ session_id: bob.session_id, limit: 10 })).items;
      expect(mention).toMatchObject({ status: 'expired', processed_at: null });
    });

    test('both sides hear that it has expired: an agent with its next hook, the human with a notice', async () => {
      const hive = await open();
      await fire(hive, gatedEvent('SessionStart', { source: 'startup' }));
      const me = await hive.sessions.resolve(GATED_SESSION);
      const [ada, bob] = await joinThree(hive);
      const { mentions } = await post(hive, me, '@Claude-def34 my words');
      await post(hive, ada, `@${me.handle} her words`);
      await post(hive, 'human', '@Claude-def34 your words');
      for (const { session_id } of [bob, me]) await lapse(hive, session_id, '2020-01-01T00:00:00.000Z');
      await hive.mentions.expireDue();
      const event = gatedEvent('PostToolUse', { tool_name: 'Bash', tool_input: {}, tool_use_id: 'toolu_1' });
      const heard = said(await fire(hive, event))?.hookSpecificOutput?.['additionalContext'] ?? '';
      expect(heard).toMatch(/^Your mention of Claude-def34 at \S+ has expired: .* @Claude-def34 my words$/m);
      expect(heard).toMatch(/^The mention of you by Claude-abc12 at \S+ has expired .* her words$/m);
      expect(await fire(hive, event)).toBe('');
      expect((await noticesOf(hive)).at(-1)).toBe(
        'A mention of yours has expired: demo 3 did not process "@Claude-def34 your words". Write again if it still matters.',
      );
      // A call that names it says so, too.
      const late = await hive.mentions.process({
        session_id: bob.session_id,
        actor: actorOf(bob),
        mention_ids: [mentions[0]?.mention_id ?? ''],
      });
      expect(late).toMatchObject({ processed: [], already: [{ status: 'expired' }] });
      // Nothing is left when the mentions are removed.
      await hive.retention.clearMentions(0, HUMAN);
      expect(await hive.store.read((tx) => tx.deliveries.openOf(bob.session_id, 'expiry', 9))).toEqual([]);
    });

    test('what a hook did not live to print of that comes with the next prompt', async () => {
      const hive = await open();
      await fire(hive, gatedEvent('SessionStart', { source: 'startup' }));
      const me = await hive.sessions.resolve(GATED_SESSION);
      const [, bob] = await joinThree(hive);
      await post(hive, me, '@Claude-def34 my words');
      await lapse(hive, bob.session_id, '2020-01-01T00:00:00.000Z');
      await hive.mentions.expireDue();
      await fire(
        hive,
        gatedEvent('PostToolUse', { tool_name: 'Bash', tool_input: {}, tool_use_id: 'toolu_1' }),
      );
      const carrier = hookCarrier(GATED_SESSION);
      await hive.store.write((tx) => tx.deliveries.markLost(carrier));
      expect(await fire(hive, gatedEvent('UserPromptSubmit', { prompt: 'go on' }))).toContain('my words');
      expect(await fire(hive, gatedEvent('UserPromptSubmit', { prompt: 'go on' }))).toBe('');
    });

    test('however many are due at once, all are recorded as expired', async () => {
      const hive = await open();
      const [ada] = await joinThree(hive);
      const { mentions } = await post(hive, ada, '@Claude-def34');
      const found = await hive.store.read((tx) => tx.mentions.get(mentions[0]?.mention_id ?? ''));
      if (found === undefined) throw new Error('There is no mention.');
      const expires_at = '2020-01-01T00:00:00.000Z';
      await hive.store.write(async (tx) => {
        for (let n = 0; n < 450; n += 1)
          await tx.mentions.insert({
            ...found,
            mention_id: `mention-${n}`,
            session_id: `s-${n}`,
            expires_at,
          });
      });
      expect(await hive.mentions.expireDue()).toBe(450);
      expect(await hive.mentions.expireDue()).toBe(0);
    });

    test('any live process records the expiry', async () => {
      const [hive, watcher] = await openTwo(engine);
      const [ada, bob] = await joinThree(hive);
      watcher.startExpiry();
      onTestFinished(() => watcher.close());
      await post(hive, ada, '@Claude-def34');
      await lapse(hive, bob.session_id, new Date(Date.now() + 50).toISOString());
      await eventually(async () => (await eventsOf(hive, 'mention/expired')).length > 0);
    });
  });
}
