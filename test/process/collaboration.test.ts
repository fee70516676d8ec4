/**
 * The seed's scenarios between agents with connections of their own: collaborating, broadcasting, and between real processes its
 * Quick Test.
 *
 * @module-tag at-least-once
 * @module-tag sqlite
 * @module-tag mcp
 * @module-tag emacs
 */
import { describe, expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { serveInProcess, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';

type Connect = (store: string, session: string) => Promise<CallerInProcess>;

const here: Connect = async (store, session) => {
  const connection = { env: { CLAUDE_CODE_SESSION_ID: session }, connection_id: `connection-${session}` };
  return callInProcess(await openTestHive(store), 'agent', { name: 'claude-code', connection });
};
/** Claude Code's MCP child. */
const asChild: Connect = (store, session) =>
  connectMcp({ store, env: { CLAUDE_CODE_SESSION_ID: session }, client: 'claude-code' });

/** Three sessions: Claude-abc12, Claude-def34, Claude-xyz56. */
async function agents(
  store: string,
  connect = here,
): Promise<[CallerInProcess, CallerInProcess, CallerInProcess]> {
  const start = async (session: string): Promise<CallerInProcess> => {
    const agent = await connect(store, session);
    await agent.call('hivemind_status');
    return agent;
  };
  return [await start('abc12-1111'), await start('def34-2222'), await start('xyz56-3333')];
}

// biome-ignore lint/suspicious/noExplicitAny: results have many shapes, and the assertions say which
const look = async (agent: CallerInProcess): Promise<any> => agent.call('hivemind_get_unprocessed_mentions');

describe('two agents work together', () => {
  test('a review is requested, read, answered and marked done', async () => {
    const [abc, def] = await agents(tempStore());
    const asked = await def.call('hivemind_post', {
      body: 'Review the security of my login function @Claude-abc12',
      expects_reply: true,
    });
    expect(asked).toMatchObject({ mentioned: ['Claude-abc12'] });
    expect(asked).toMatchObject({ unresolved: [] });
    expect(asked['next']).toContain('notified: Claude-abc12');

    expect(await abc.call('hivemind_has_unprocessed_mentions')).toMatchObject({
      has_mentions: true,
      count: 1,
      you: 'Claude-abc12',
    });
    const { mentions, next } = await look(abc);
    expect(mentions).toMatchObject([
      {
        message_id: asked['message_id'],
        from: 'Claude-def34',
        author: 'agent',
        body: 'Review the security of my login function @Claude-abc12',
        expects_reply: true,
      },
    ]);
    expect(next).toContain(`reply_to "${asked['message_id']}"`);
    expect((await look(abc)).count).toBe(1);

    const answer = await abc.call('hivemind_post', {
      body: "I'll review it right after finishing mine. @Claude-def34",
      reply_to: asked['message_id'],
    });
    expect(answer).toMatchObject({ answered: [mentions[0].mention_id], thread: asked['message_id'] });
    expect(await abc.call('hivemind_has_unprocessed_mentions')).toMatchObject({ count: 0 });

    const [reply] = (await look(def)).mentions;
    expect(reply).toMatchObject({ from: 'Claude-abc12', reply_to: asked['message_id'] });
    const cleared = await def.call('hivemind_process_mentions', { mention_ids: [reply.mention_id] });
    expect(cleared).toMatchObject({ processed: [expect.any(String)], remaining: 0 });
    expect(cleared['next']).toContain('go on');

    const thread = await def.call('hivemind_read', { thread: asked['message_id'] });
    expect((thread['messages'] as { from: string }[]).map((message) => message.from)).toEqual([
      'Claude-def34',
      'Claude-abc12',
    ]);
  });

  test('an agent finds out who is there, and what it mistyped', async () => {
    const [abc] = await agents(tempStore());
    const { sessions, you } = await abc.call('hivemind_sessions');
    expect(you).toBe('Claude-abc12');
    expect((sessions as { handle: string }[]).map((session) => session.handle).sort()).toEqual([
      'Claude-abc12',
      'Claude-def34',
      'Claude-xyz56',
    ]);
    const posted = await abc.call('hivemind_post', { body: '@Claude-def43 hello' });
    expect(posted).toMatchObject({
      mentioned: [],
      unresolved: [{ handle: 'Claude-def43', reason: 'unknown', near: ['Claude-def34'] }],
    });
    expect(posted['next']).toContain('Did you mean @Claude-def34?');
  });

  test('a reader continues where it left off', async () => {
    const [abc, def] = await agents(tempStore());
    await abc.call('hivemind_post', { body: '[進捗] バックエンド API の実装完了' });
    const first = await def.call('hivemind_read');
    expect(first['messages']).toHaveLength(1);
    await abc.call('hivemind_post', { body: '[進捗] 次へ' });
    const later = await def.call('hivemind_read', { after: first['next_cursor'] });
    expect(later['messages']).toMatchObject([{ from: 'Claude-abc12', body: '[進捗] 次へ' }]);
    expect(await def.call('hivemind_read', { after: later['next_cursor'] })).toMatchObject({
      messages: [],
      more: false,
      next_cursor: later['next_cursor'],
    });
  });
});

test('a broadcast reaches everyone except its author, and the human only by name', async () => {
  const store = tempStore();
  const [abc, def, xyz] = await agents(store);
  const body = 'Emergency: Found security vulnerability in auth module @All';
  const posted = await abc.call('hivemind_post', { body, priority: 'urgent' });
  expect((posted['mentioned'] as string[]).toSorted()).toEqual(['Claude-def34', 'Claude-xyz56']);
  expect(await abc.call('hivemind_has_unprocessed_mentions')).toMatchObject({ count: 0 });
  for (const other of [def, xyz]) {
    expect((await look(other)).mentions).toMatchObject([{ body, priority: 'urgent' }]);
    await other.call('hivemind_process_mentions', { all: true, note: 'on it' });
    expect((await look(other)).count).toBe(0);
  }
  const desk = await serveInProcess(await openTestHive(store));
  expect((await desk.request('mention/list')).mentions).toEqual([]);
  await abc.call('hivemind_post', { body: '@Human it is fixed' });
  const told = await desk.seen(
    ({ method, params }) => method === 'mention/changed' && params.handle === 'Human',
  );
  expect(told.params).toMatchObject({ from_handle: 'Claude-abc12', body: '@Human it is fixed' });
  expect((await desk.request('mention/list')).mentions).toEqual([told.params]);
});

test('the Quick Test: a mention is sent, seen, listed and marked, and work continues', async () => {
  const store = tempStore();
  const [first, second] = await agents(store, asChild);
  await first.call('hivemind_post', { body: 'Test mention @Claude-def34' });
  const desk = await startSidecar(store);
  const listed = await desk.request('mention/list', { session: 'Claude-def34' });
  expect(listed.mentions).toMatchObject([
    { from_handle: 'Claude-abc12', body: 'Test mention @Claude-def34', status: 'unprocessed' },
  ]);
  const marked = await desk.request('mention/process', { session: 'Claude-def34', all: true, by: 'ada' });
  expect(marked).toMatchObject({ processed: [listed.mentions[0].mention_id], remaining: 0 });
  expect(await second.call('hivemind_has_unprocessed_mentions')).toMatchObject({
    has_mentions: false,
    count: 0,
  });
  const after = await desk.request('mention/list', { session: 'Claude-def34' });
  expect(after.mentions).toMatchObject([
    { status: 'processed', processed_by: 'ada', processed_via: 'emacs' },
  ]);
  expect(after.summary).toMatchObject({ total: 1, processed: 1, unprocessed: 0 });
});
