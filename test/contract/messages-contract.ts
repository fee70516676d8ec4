/** Messages: one order for everybody, and pages that lose none. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { humanAuthor } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive } from '../support/hive.ts';
import { bodiesOf, join, post } from '../support/messages.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function messagesContract(engine: StoreEngine): void {
  const open = async (): Promise<OpenedHive> => openTestHive(await engine.freshAddress());

  test('a message is read as it was posted, by everybody in the same order', async () => {
    const [one, other] = await openTwo(engine);
    const ada = await join(one, 'abc12-session');
    const bob = await join(other, 'def34-session');
    const { message } = await post(one, ada, 'first\r\n\r\n@Claude-def34', {
      priority: 'urgent',
      expects_reply: true,
      thread: 'talk',
    });
    await Promise.all([post(one, ada, 'second'), post(other, bob, 'third')]);
    expect(await other.messages.get(message.message_id)).toEqual({
      ...message,
      body: 'first\n\n@Claude-def34',
      from_handle: 'Claude-abc12',
      author: 'agent',
      thread: 'talk',
      priority: 'urgent',
      expects_reply: true,
      scope: 'project',
      hops: 0,
    });
    expect(await bodiesOf(one)).toEqual(await bodiesOf(other));
    expect((await one.messages.read({ limit: 10 })).items.map((item) => item.seq)).toEqual([1, 2, 3]);
  });

  test('a message that does not exist is reported as missing', async () => {
    const hive = await open();
    const ada = await join(hive, 'abc12-session');
    await expect(hive.messages.get('msg-x')).rejects.toMatchObject({ code: 'message_not_found' });
    await expect(post(hive, ada, 'a', { reply_to: 'msg-x' })).rejects.toMatchObject({
      code: 'message_not_found',
    });
    expect(await bodiesOf(hive)).toEqual([]);
  });

  describe('pages', () => {
    async function talk(hive: OpenedHive, count: number): Promise<void> {
      const ada = await join(hive, 'abc12-session');
      for (let n = 0; n < count; n += 1) await post(hive, ada, `m${n}`);
    }
    const names = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, n) => `m${from + n}`);

    test('begin with the last messages and go back to the first', async () => {
      const hive = await open();
      await talk(hive, 25);
      const seen: string[] = [];
      let before: string | null | undefined;
      do {
        const page = await hive.messages.read({ limit: 10, before });
        seen.unshift(...page.items.map((message) => message.body));
        before = page.previous_cursor;
      } while (before !== null);
      expect(seen).toEqual(names(0, 25));
    });

    test("go forward from a reader's position, and wait there for new messages", async () => {
      const hive = await open();
      await talk(hive, 12);
      const first = await hive.messages.read({ limit: 5 });
      expect(first).toMatchObject({ more: true });
      expect(first.items.map((message) => message.body)).toEqual(names(7, 12));
      const none = await hive.messages.read({ limit: 5, after: first.next_cursor });
      expect(none).toMatchObject({ items: [], more: false, next_cursor: first.next_cursor });
      await talk(hive, 7);
      const next = await hive.messages.read({ limit: 5, after: none.next_cursor });
      expect(next).toMatchObject({ more: true });
      const last = await hive.messages.read({ limit: 5, after: next.next_cursor });
      expect([...next.items, ...last.items].map((message) => message.body)).toEqual(names(0, 7));
      expect(last.more).toBe(false);
    });

    test('that fit into some bytes still fit when somebody posts while they are read', async () => {
      const hive = await open();
      const ada = await join(hive, 'abc12-session');
      for (let n = 0; n < 6; n += 1) await post(hive, ada, `${n}`.repeat(1_000));
      const read = hive.store.read.bind(hive.store);
      const spy = vi.spyOn(hive.store, 'read').mockImplementationOnce(async (work) => {
        const found = await read(work);
        await post(hive, ada, 'long '.repeat(2_000));
        return found;
      });
      onTestFinished(() => spy.mockRestore());
      const { items } = await hive.messages.readFitting({ limit: 10 }, 6_000);
      expect(items.length).toBeGreaterThan(1);
      expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThanOrEqual(6_002);
    });

    test('of an empty buffer are empty', async () => {
      const hive = await open();
      expect(await hive.messages.read({ limit: 5 })).toEqual({
        items: [],
        next_cursor: null,
        previous_cursor: null,
        more: false,
      });
    });

    test('are refused for a cursor that no list has returned', async () => {
      const hive = await open();
      await expect(hive.messages.read({ limit: 5, after: 'x' })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    });
  });

  describe('views', () => {
    test('a project shows its own messages and those to everyone, in order', async () => {
      const hive = await open();
      const ada = await join(hive, 'abc12-session');
      const far = await join(hive, 'far99-session', { project: 'far', project_dir: '/far/.git' });
      await post(hive, ada, 'near 1');
      await post(hive, far, 'far 1');
      await post(hive, far, 'to all', { scope: 'all' });
      await hive.messages.post({ body: 'human', author: humanAuthor('emacs', null) });
      await post(hive, ada, 'near to all', { scope: 'all' });
      const near = ['near 1', 'to all', 'human', 'near to all'];
      expect(await bodiesOf(hive, { project_dir: ada.project_dir })).toEqual(near);
      expect(await bodiesOf(hive, { project_dir: ada.project_dir, limit: 2 })).toEqual(near.slice(2));
      expect(await bodiesOf(hive, { project_dir: far.project_dir })).toEqual([
        'far 1',
        'to all',
        'human',
        'near to all',
      ]);
      expect(await bodiesOf(hive)).toHaveLength(5);
    });

    test('a chain of replies is a thread, with its first message', async () => {
      const hive = await open();
      const ada = await join(hive, 'abc12-session');
      const root = (await post(hive, ada, 'root')).message.message_id;
      await post(hive, ada, 'aside');
      const reply = (await post(hive, 'human', 'reply', { reply_to: root })).message.message_id;
      await post(hive, ada, 'reply to reply', { reply_to: reply });
      await post(hive, ada, 'elsewhere', { reply_to: root, thread: 'other' });
      expect(await bodiesOf(hive, { thread: root })).toEqual(['root', 'reply', 'reply to reply']);
      expect(await bodiesOf(hive, { thread: 'other' })).toEqual(['elsewhere']);
    });

    test('can be filtered by author and by words', async () => {
      const hive = await open();
      const ada = await join(hive, 'abc12-session');
      await post(hive, ada, 'The LOGIN is 100% done');
      await post(hive, 'human', 'login?');
      expect(await bodiesOf(hive, { from_handle: 'Human' })).toEqual(['login?']);
      expect(await bodiesOf(hive, { query: 'login' })).toHaveLength(2);
      expect(await bodiesOf(hive, { query: '100%' })).toEqual(['The LOGIN is 100% done']);
      expect(await bodiesOf(hive, { query: 'ogin', from_handle: 'Claude-abc12' })).toHaveLength(1);
    });
  });

  test('are listed around a known message, as well as by a cursor', async () => {
    const hive = await open();
    const ada = await join(hive, 'abc12-session');
    const posted = [];
    for (const body of ['one', 'two', 'three']) posted.push((await post(hive, ada, body)).message);
    const seq = posted[1]?.seq ?? 0;
    const bodies = (page: { items: { body: string }[] }) => page.items.map((message) => message.body);
    expect(bodies(await hive.messages.read({ before: seq, limit: 5 }))).toEqual(['one']);
    expect(bodies(await hive.messages.read({ after: seq, limit: 5 }))).toEqual(['three']);
    const nothing = await hive.messages.read({ after: posted[2]?.seq, limit: 5 });
    const cursor = nothing.next_cursor;
    await post(hive, ada, 'four');
    expect(bodies(await hive.messages.read({ after: cursor, limit: 5 }))).toEqual(['four']);
  });

  test('the last page costs the same whatever the history', async () => {
    const hive = await open();
    const ada = await join(hive, 'abc12-session');
    const { message } = await post(hive, ada, 'one');
    await hive.store.write(async (tx) => {
      for (let n = 2; n <= 1_200; n += 1) {
        const seq = await tx.messages.nextSeq();
        await tx.messages.insert({
          ...message,
          seq,
          message_id: `msg-${n}`,
          body: `body ${n}`,
          scope: n % 10 === 0 ? 'all' : 'project',
        });
      }
    });
    const page = await hive.messages.read({ limit: 500, project_dir: ada.project_dir });
    expect(page.items).toHaveLength(500);
    expect(page.items[0]?.seq).toBe(701);
  });
}
