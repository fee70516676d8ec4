/**
 * The shared buffer between Emacs and the sidecar: requests and notifications.
 *
 * @module-tag provenance
 * @module-tag emacs
 */

import { describe, expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { DEMO, join, post } from '../support/messages.ts';
import { isTold, type RpcClient, serveInProcess } from '../support/sidecar.ts';

const BY = { by: 'ada' };
const HERE = { project_dir: DEMO.project_dir };

/** A desk and two agents on one store, in this process. */
async function world(): Promise<{
  desk: RpcClient;
  hive: Awaited<ReturnType<typeof openTestHive>>;
  ada: Awaited<ReturnType<typeof join>>;
  bob: Awaited<ReturnType<typeof join>>;
}> {
  const hive = await openTestHive();
  const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  return { desk: await serveInProcess(hive), hive, ada, bob };
}

describe('Emacs', () => {
  test('posts to the store that it wrote for, and to no other', async () => {
    const { desk, hive } = await world();
    const message = { ...HERE, ...BY, body: 'Hello', response_id: 'msg-0000000000000001' };
    const posted = await desk.request('message/post', { ...message, store_id: hive.store_id });
    expect(posted).not.toHaveProperty('ignored_params');
    await expect(desk.request('message/post', { ...message, store_id: 'store-old' })).rejects.toThrow(
      /^wrong_store: The message was written for the store store-old/,
    );
    expect((await desk.request('message/list', HERE)).messages).toHaveLength(1);
  });

  test('is told of what agents post, and of each change of a mention', async () => {
    const { desk, hive, ada, bob } = await world();
    const { mentions } = await post(hive, ada, '@Claude-def34');
    const byAda = isTold('message/posted', (message) => message.from_handle === 'Claude-abc12');
    expect((await desk.seen(byAda)).params).toMatchObject({ agent_title: ada.title });
    await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
    await desk.seen(isTold('mention/changed', (mention) => mention.delivered_at !== null));
    const ids = mentions.map((mention) => mention.mention_id);
    expect(
      await desk.request('mention/process', {
        ...BY,
        session: 'Claude-def34',
        mention_ids: ids,
        note: 'told them myself',
      }),
    ).toEqual({ processed: ids, already: [], remaining: 0 });
    const done = await desk.seen(isTold('mention/changed', (mention) => mention.status === 'processed'));
    expect(done.params).toMatchObject({
      processed_by: 'ada',
      processed_via: 'emacs',
      note: 'told them myself',
    });
  });

  test('pages back through more than fits a frame, and forward again; no frame is larger than 256 KB', async () => {
    const { desk, hive, ada } = await world();
    // The JSON of these characters needs escapes, so that 32 KB grow to 96.
    for (let n = 0; n < 12; n += 1) await post(hive, ada, `${n} ${'"\u0001'.repeat(8_000)}`);
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page = await desk.request('message/list', { ...HERE, before, limit: 500 });
      seen.unshift(...page.messages.map((message: { body: string }) => message.body.split(' ')[0]));
      before = page.previous_cursor;
    } while (before !== null);
    expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => String(n)));
    const last = await desk.request('message/list', HERE);
    expect(last).toMatchObject({ project: 'demo', project_dir: '/demo/.git', more: true });
    await post(hive, ada, 'new');
    const next = await desk.request('message/list', { ...HERE, after: last.next_cursor });
    expect(next.messages).toMatchObject([{ body: 'new' }]);
    await desk.seen(isTold('message/posted', (message) => message.body === 'new'));
    expect(desk.largest()).toBeLessThan(256 * 1024);
  });

  test('mentions of the human are sent whole, long ones of others are cut until they are listed', async () => {
    const { desk, hive, ada } = await world();
    const body = `@Human and @Claude-def34 ${'x'.repeat(10_000)}`;
    await post(hive, ada, body);
    const human = await desk.seen(isTold('mention/changed', (mention) => mention.handle === 'Human'));
    expect(human.params.body).toBe(body);
    const other = await desk.seen(isTold('mention/changed', (mention) => mention.handle === 'Claude-def34'));
    expect(other.params).toMatchObject({ body: body.slice(0, 500), body_truncated: true });
    const listed = await desk.request('mention/list', { session: 'Claude-def34', status: 'unprocessed' });
    expect(listed).toMatchObject({ handle: 'Claude-def34', mentions: [{ body }], next_cursor: null });
    expect((await desk.request('mention/list')).summary).toEqual({
      total: 1,
      unprocessed: 1,
      processed: 0,
      expired: 0,
      gating: 0,
      denials: 0,
    });
  });

  test('a message that an outbox sends twice is posted once', async () => {
    const { desk } = await world();
    const message = { ...HERE, ...BY, body: '@All', message_id: 'msg-from-emacs-1' };
    expect(await desk.request('message/post', message)).toMatchObject({ existing: false });
    expect(await desk.request('message/post', message)).toMatchObject({
      existing: true,
      message: { message_id: 'msg-from-emacs-1' },
      mentioned: [],
    });
  });

  test('says how a block came into the buffer, which decides whose it is', async () => {
    const { desk } = await world();
    const author = async (handle: string, stamp: string, origin: string): Promise<unknown> => {
      const heading = { handle, stamp: `2026-01-11 18:00:${stamp}`, origin };
      const { message } = await desk.request('message/post', { ...HERE, ...BY, body: 'hello', heading });
      return [message.author, message.from_handle, message.as_handle];
    };
    expect(await author('Claude-abc12', '00', 'typed')).toEqual(['human', 'Human', 'Claude-abc12']);
    expect(await author('Claude-abc12', '01', 'inserted')).toEqual([
      'unverified',
      'unverified',
      'Claude-abc12',
    ]);
    expect(await author('Human', '02', 'inserted')).toEqual(['human', 'Human', null]);
    expect(await author('Human', '03', 'program')).toEqual(['unverified', 'unverified', 'Human']);
    await expect(author('Human', '04', 'verified')).rejects.toMatchObject({
      data: { code: 'invalid_input' },
    });
    expect((await desk.request('message/list', { ...HERE, from: 'unverified' })).messages).toHaveLength(2);
  });

  test('a block found in the buffer is posted once, by the human, and never one that is stored', async () => {
    const { desk, hive, ada } = await world();
    const heading = { handle: 'Claude-abc12', stamp: '2026-01-11 18:00:00' };
    const block = { ...HERE, ...BY, body: 'inserted by a program', heading };
    const first = await desk.request('message/post', block);
    expect(first.message).toMatchObject({ author: 'human', as_handle: 'Claude-abc12' });
    expect(await desk.request('message/post', block)).toMatchObject({
      existing: true,
      message: first.message,
    });
    const { message } = await post(hive, ada, 'a stored one');
    const stamp = message.at.slice(0, 19).replace('T', ' ');
    const yanked = { ...block, body: 'a stored one', heading: { handle: 'Claude-abc12', stamp } };
    expect(await desk.request('message/post', yanked)).toMatchObject({ existing: true, message });
  });

  test("finds the project of a buffer by its directory, and everyone's without one", async () => {
    const { desk, hive, ada } = await world();
    await post(hive, ada, 'in demo');
    const { messages, project } = await desk.request('message/list', { directory: '/nowhere/else' });
    expect({ messages, project }).toEqual({ messages: [], project: 'else' });
    const everyone = await desk.request('message/list', {});
    expect(everyone).toMatchObject({ project: null, project_dir: null, messages: [{ body: 'in demo' }] });
    const posted = await desk.request('message/post', { ...BY, body: 'to everyone @All' });
    expect(posted).toMatchObject({ message: { scope: 'all', project: null }, mentioned: expect.any(Array) });
    expect(posted.mentioned).toHaveLength(2);
  });

  test('is refused what is wrong, with its code', async () => {
    const { desk } = await world();
    for (const [method, params, code] of [
      ['message/post', { body: 'x' }, 'invalid_input'],
      ['message/post', { ...BY, body: '' }, 'invalid_input'],
      ['message/post', { ...BY, body: 'x', reply_to: 'msg-none' }, 'message_not_found'],
      ['message/post', { ...BY, body: 'x', message_id: 'ask-123456789' }, 'invalid_input'],
      ['message/post', { ...BY, body: 'x', heading: { handle: 'a', stamp: 'now' } }, 'invalid_input'],
      ['message/list', { limit: 0 }, 'invalid_input'],
      ['message/list', { after: 'nonsense' }, 'invalid_input'],
      ['mention/list', { session: 'nobody' }, 'session_not_found'],
      ['mention/process', { ...BY }, 'invalid_input'],
      ['mention/process', { ...BY, mention_ids: ['mention-none'] }, 'mention_not_found'],
      ['mention/settle_loop', { sessions: ['one'], state: 'muted' }, 'invalid_input'],
    ] as const)
      await expect(desk.request(method, params), method).rejects.toMatchObject({ data: { code } });
  });
});
