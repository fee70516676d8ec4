/** A message that comes twice is one, and speaks for its author alone. */
import { describe, expect, test } from 'vitest';
import { humanAuthor, stampOf } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive } from '../support/hive.ts';
import { bodiesOf, DEMO, join, post, postUnverified } from '../support/messages.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function messagesOnceContract(engine: StoreEngine): void {
  const open = async (): Promise<OpenedHive> => openTestHive(await engine.freshAddress());

  describe('the same message', () => {
    test('sent twice under one id is posted once and mentions once', async () => {
      const [hive, other] = await openTwo(engine);
      const ada = await join(hive, 'abc12-session');
      const command = {
        body: '@Human look',
        author: humanAuthor('emacs', DEMO),
        message_id: 'msg-0123456789',
      };
      await post(hive, ada, '@Human');
      const posts = await Promise.all([hive.messages.post(command), other.messages.post(command)]);
      expect(posts.map((posted) => posted.existing).sort()).toEqual([false, true]);
      expect(await bodiesOf(hive)).toEqual(['@Human', '@Human look']);
      await expect(hive.messages.post({ ...command, body: 'other' })).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    });

    test('found as a block in a buffer is not posted again, whatever its heading there', async () => {
      const hive = await open();
      const ada = await join(hive, 'abc12-session');
      const { message } = await post(hive, ada, 'Done. @Human');
      const found = {
        body: '\nDone. @Human\n',
        author: humanAuthor('emacs', DEMO),
        heading: { handle: 'Claude-abc12', stamp: stampOf(message.at, 60) },
      };
      expect(await hive.messages.post(found)).toMatchObject({ existing: true, message, mentions: [] });
      const inserted = { ...found, heading: { handle: 'Claude-abc12', stamp: '2026-01-11 18:00:00' } };
      const posted = await hive.messages.post(inserted);
      expect(posted).toMatchObject({
        existing: false,
        message: { author: 'human', from_handle: 'Human', as_handle: 'Claude-abc12', session_id: null },
      });
      expect(await hive.messages.post(inserted)).toMatchObject({ existing: true, message: posted.message });
      expect((await hive.mentions.summary('human')).total).toBe(1);
    });

    test('that a program wrote into a buffer has no author, and is recognized by the author that it claims', async () => {
      const hive = await open();
      const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
      const asked = await post(hive, bob, '@Claude-abc12 done?');
      const written = await postUnverified(hive, 'Claude-abc12', '@All yes', {
        reply_to: asked.message.message_id,
      });
      expect(written.message).toMatchObject({
        author: 'unverified',
        session_id: null,
        from_handle: 'unverified',
        as_handle: 'Claude-abc12',
        as_stamp: '2026-01-11 18:00:00',
      });
      expect(written.mentions).toMatchObject([
        { session_id: bob.session_id, from_session_id: 'unverified', gates: true },
      ]);
      // It replies in nobody's name: what is pending for the author in its heading stays pending.
      expect(written.answered).toEqual([]);
      expect(await hive.mentions.has(ada.session_id)).toMatchObject({ count: 1 });
      expect(await postUnverified(hive, 'Claude-abc12', '@All yes')).toMatchObject({
        existing: true,
        message: written.message,
      });
      const [posted] = await hive.store.read((tx) => tx.events.of(written.message.message_id, 1));
      expect(posted?.data).toMatchObject({ from: 'unverified', by: 'unverified', author: 'unverified' });
    });

    test("under the human's own heading is the human's, and nobody else's", async () => {
      const hive = await open();
      const { message } = await hive.messages.post({
        body: 'hello',
        author: humanAuthor('emacs', DEMO),
        heading: { handle: 'Human', stamp: '2026-01-11 18:00:00' },
      });
      expect(message.as_handle).toBeNull();
    });

    test('is recognized whatever id its sender has given it since', async () => {
      const hive = await open();
      for (const handle of ['Human', 'Claude-abc12']) {
        const found = {
          body: `hello from ${handle}`,
          author: humanAuthor('emacs', DEMO),
          heading: { handle, stamp: '2026-01-11 18:00:00' },
        };
        const { message } = await hive.messages.post({ ...found, message_id: `msg-first-${handle}` });
        const again = await hive.messages.post({ ...found, message_id: `msg-second-${handle}` });
        expect(again).toMatchObject({ existing: true, message });
        const later = { ...found, heading: { handle, stamp: '2026-01-11 18:00:01' } };
        expect(await hive.messages.post(later)).toMatchObject({ existing: false });
      }
    });
  });
}
