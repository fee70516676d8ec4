/** The shared buffer on both wires: what Emacs sends and is told, and what agents get. */
import { describe, expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { DEMO, join, post } from '../support/messages.ts';
import { type Frame, type Sidecar, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

expectNothingLeft();

const BY = { by: 'ada' };
const HERE = { project_dir: DEMO.project_dir };

const told =
  (method: string, test: (params: Frame['params']) => boolean = () => true) =>
  (frame: Frame): boolean =>
    frame.method === method && test(frame.params);

/** A desk and two agents on one store, in this process. */
async function world(): Promise<{
  desk: Sidecar;
  hive: Awaited<ReturnType<typeof openTestHive>>;
  ada: Awaited<ReturnType<typeof join>>;
  bob: Awaited<ReturnType<typeof join>>;
}> {
  const store = tempStore();
  const hive = await openTestHive(store);
  const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  return { desk: await startSidecar(store), hive, ada, bob };
}

describe('Emacs', () => {
  test('posts as the human, and every desk is told of the message and of its mentions', async () => {
    const { desk, ada } = await world();
    const posted = await desk.request('message/post', {
      ...HERE,
      ...BY,
      body: '@Claude-abc12 and @nobody, look',
      priority: 'urgent',
      reply_to: null,
    });
    expect(posted).toEqual({
      message: {
        message_id: expect.stringMatching(/^msg-[0-9a-z]{16}$/),
        seq: 1,
        at: expect.stringMatching(/Z$/),
        session_id: null,
        from_handle: 'Human',
        author: 'human',
        as_handle: null,
        as_stamp: null,
        project: 'demo',
        project_dir: '/demo/.git',
        thread: null,
        reply_to: null,
        priority: 'urgent',
        expects_reply: false,
        scope: 'project',
        body: '@Claude-abc12 and @nobody, look',
        hops: 0,
        via: 'emacs',
      },
      existing: false,
      mentioned: ['Claude-abc12'],
      unresolved: [{ handle: 'nobody', reason: 'unknown', near: [] }],
      not_held: [],
    });
    expect((await desk.seen(told('message/posted'))).params).toEqual(posted.message);
    expect((await desk.seen(told('mention/changed'))).params).toMatchObject({
      message_id: posted.message.message_id,
      session_id: ada.session_id,
      handle: 'Claude-abc12',
      status: 'unprocessed',
      priority: 'urgent',
      body: '@Claude-abc12 and @nobody, look',
      from_handle: 'Human',
    });
  });

  test('is told of what agents post, and of each change of a mention', async () => {
    const { desk, hive, ada, bob } = await world();
    const { mentions } = await post(hive, ada, '@Claude-def34');
    await desk.seen(told('message/posted', (message) => message.from_handle === 'Claude-abc12'));
    await hive.mentions.get(bob.session_id, 'mcp:1');
    await desk.seen(told('mention/changed', (mention) => mention.delivered_at !== null));
    const ids = mentions.map((mention) => mention.mention_id);
    expect(
      await desk.request('mention/process', {
        ...BY,
        session: 'Claude-def34',
        mention_ids: ids,
        note: 'told them myself',
      }),
    ).toEqual({ processed: ids, already: [], remaining: 0 });
    const done = await desk.seen(told('mention/changed', (mention) => mention.status === 'processed'));
    expect(done.params).toMatchObject({
      processed_by: 'ada',
      processed_via: 'emacs',
      note: 'told them myself',
    });
  });

  test('pages back through more than fits a frame, and forward again; no frame is larger than 256 KB', async () => {
    const { desk, hive, ada } = await world();
    // Half of each character's JSON is its escape, so that 32 KB swell to 96.
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
    await desk.seen(told('message/posted', (message) => message.body === 'new'));
    expect(desk.largest()).toBeLessThan(256 * 1024);
  });

  test('mentions of the human travel whole, long ones of others are cut until they are listed', async () => {
    const { desk, hive, ada } = await world();
    const body = `@Human and @Claude-def34 ${'x'.repeat(10_000)}`;
    await post(hive, ada, body);
    const human = await desk.seen(told('mention/changed', (mention) => mention.handle === 'Human'));
    expect(human.params.body).toBe(body);
    const other = await desk.seen(told('mention/changed', (mention) => mention.handle === 'Claude-def34'));
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

  test('settles a loop of two agents', async () => {
    const { desk, hive, ada, bob } = await world();
    for (let n = 0; n < 7; n += 1) {
      const [from, to] = n % 2 === 0 ? [ada, bob] : [bob, ada];
      await post(hive, from, `@${to.handle}`);
    }
    const notice = await desk.seen(told('desk/notice'));
    expect(notice.params).toMatchObject({ notice: 'loop_tripped', severity: 'warning' });
    const [pair] = notice.params.pairs;
    expect((await desk.request('mention/loops')).loops).toMatchObject([{ state: 'tripped' }]);
    expect(await desk.request('mention/mute', { sessions: pair.sessions })).toEqual({});
    expect((await post(hive, ada, '@Claude-def34')).unresolved).toMatchObject([{ reason: 'muted' }]);
    expect(await desk.request('mention/allow', { sessions: pair.handles })).toEqual({});
    expect((await post(hive, ada, '@Claude-def34')).mentions).toMatchObject([{ gates: true }]);
  });

  test.each([
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
    ['mention/mute', { sessions: ['one'] }, 'invalid_input'],
  ])('%s %j is refused with %s', async (method, params, code) => {
    const { desk } = await world();
    await expect(desk.request(method, params)).rejects.toMatchObject({ data: { code } });
  });
});

describe('an agent', () => {
  async function agent(store = tempStore()): Promise<{ store: string; caller: McpCaller }> {
    const env = { CLAUDE_CODE_SESSION_ID: 'abc12-session', CLAUDE_PROJECT_DIR: '/demo' };
    return { store, caller: await connectMcp({ store, env, client: 'claude-code' }) };
  }

  test('sees the tools with their limits', async () => {
    const { caller } = await agent();
    const { tools } = await caller.client.listTools();
    const named = tools.filter(({ name }) => /post|read|mention|sessions/.test(name));
    expect(named.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['hivemind_post', false],
      ['hivemind_read', true],
      ['hivemind_has_unprocessed_mentions', true],
      ['hivemind_get_unprocessed_mentions', true],
      ['hivemind_process_mentions', false],
      ['hivemind_sessions', true],
    ]);
    expect(named[0]?.inputSchema.required).toEqual(['body']);
  });

  test('is told in every result what to do next', async () => {
    const { caller } = await agent();
    for (const name of ['has_unprocessed_mentions', 'get_unprocessed_mentions', 'read', 'sessions']) {
      expect((await caller.call(`hivemind_${name}`))['next'], name).toMatch(/\.$/);
    }
    expect(await caller.call('hivemind_post', { body: 'to nobody' })).toMatchObject({
      mentioned: [],
      next: expect.stringContaining('mentions nobody'),
    });
    expect(await caller.call('hivemind_process_mentions', { all: true })).toMatchObject({
      processed: 0,
      mention_ids: [],
      remaining: 0,
      next: expect.stringContaining('Nothing is left'),
    });
  });

  test('reads as many mentions as fit a result, and the rest after those', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    for (let n = 0; n < 3; n += 1)
      await post(hive, 'human', `@Claude-abc12 ${n} ${'x'.repeat(20_000)}`, { scope: 'all' });
    const first = await caller.call('hivemind_get_unprocessed_mentions');
    expect(first).toMatchObject({ count: 3, next: expect.stringContaining('1 more come') });
    const shown = first['mentions'] as { mention_id: string }[];
    expect(shown).toHaveLength(2);
    const open = await hive.mentions.get('abc12-session', null);
    expect(open.map((mention) => mention.delivered_at !== null)).toEqual([true, true, false]);
    const mention_ids = shown.map((mention) => mention.mention_id);
    await caller.call('hivemind_process_mentions', { mention_ids });
    const all = await caller.call('hivemind_process_mentions', { all: true });
    expect(all).toMatchObject({ processed: 1, remaining: 0, unread: [{ author: 'human', from: 'Human' }] });
    expect(all['next']).toContain('had not read in full');
  });

  test('reads a long buffer page by page', async () => {
    const { caller } = await agent();
    for (let n = 0; n < 5; n += 1) await caller.call('hivemind_post', { body: `${n} ${'x'.repeat(15_000)}` });
    const last = await caller.call('hivemind_read');
    const bodies = (result: Record<string, unknown>): string[] =>
      (result['messages'] as { body: string }[]).map((message) => message.body.split(' ')[0] ?? '');
    expect(bodies(last)).toEqual(['2', '3', '4']);
    const seen: string[] = [];
    let after = Buffer.from('[0]').toString('base64url');
    for (let more = true; more; ) {
      const page = await caller.call('hivemind_read', { after });
      seen.push(...bodies(page));
      after = String(page['next_cursor']);
      more = page['more'] === true;
    }
    expect(seen).toEqual(['0', '1', '2', '3', '4']);
  });

  test('that talks in circles is told so', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    await join(hive, 'def34-session');
    for (let n = 0; n < 6; n += 1) await caller.call('hivemind_post', { body: '@Claude-def34' });
    const seventh = await caller.call('hivemind_post', { body: '@Claude-def34' });
    expect(seventh).toMatchObject({ mentioned: ['Claude-def34'], not_held: ['Claude-def34'] });
    expect(seventh['next']).toContain('keep answering each other');
  });

  test('without an identity is told how to have one', async () => {
    const caller = await connectMcp({ store: tempStore(), env: {} });
    expect((await caller.call('hivemind_has_unprocessed_mentions'))['next']).toContain('HIVE_AGENT');
  });

  test('is refused what makes no sense, in a sentence', async () => {
    const { caller } = await agent();
    await expect(caller.call('hivemind_post', { body: '' })).rejects.toThrow(
      'invalid_input: The message is empty',
    );
    await expect(caller.call('hivemind_post', { body: 'x'.repeat(40_000) })).rejects.toThrow('at most 32 KB');
    await expect(caller.call('hivemind_post', { body: 'x', reply_to: 'msg-0' })).rejects.toThrow(
      'message_not_found: There is no message msg-0',
    );
    await expect(caller.call('hivemind_process_mentions', {})).rejects.toThrow(
      'give mention_ids, or all: true',
    );
    await expect(caller.call('hivemind_process_mentions', { mention_ids: ['x'] })).rejects.toThrow(
      'mention_not_found',
    );
  });

  test('sees what a desk posts within a moment', async () => {
    const { store, caller } = await agent();
    await caller.call('hivemind_status');
    const desk = await startSidecar(store);
    await desk.request('message/post', { ...BY, body: '@Claude-abc12 stop and look' });
    await eventually(
      async () => (await caller.call('hivemind_has_unprocessed_mentions'))['has_mentions'] === true,
    );
  });
});
