/**
 * The shared buffer for agents over MCP: posting, reading and results.
 *
 * @module-tag provenance
 * @module-tag mcp
 */

import { describe, expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { join, post, postUnverified } from '../support/messages.ts';
import { serveInProcess, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const BY = { by: 'ada' };

describe('an agent', () => {
  const env = { CLAUDE_CODE_SESSION_ID: 'abc12-session', CLAUDE_PROJECT_DIR: '/demo' };

  async function agent(store = tempStore()): Promise<{ store: string; caller: CallerInProcess }> {
    const options = { name: 'claude-code', connection: { env } };
    return { store, caller: await callInProcess(await openTestHive(store), 'agent', options) };
  }

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
      processed: [],
      already: [],
      remaining: 0,
      next: expect.stringContaining('Nothing is left'),
    });
  });

  test('is told that @All or a role reached nobody, as for an unknown name', async () => {
    const { store, caller } = await agent();
    await caller.call('hivemind_status');
    const hive = await openTestHive(store);
    await hive.sessions.configure('Claude-abc12', { roles: ['tester'] }, HUMAN);
    const posted = await caller.call('hivemind_post', { body: '@All @tester anybody? @Nobody' });
    expect(posted).toMatchObject({
      mentioned: [],
      unresolved: [
        {
          handle: 'All',
          reason: 'nobody',
          sentence: '@All reached nobody: no other agent there takes mentions.',
        },
        { handle: 'tester', reason: 'nobody' },
        { handle: 'Nobody', reason: 'unknown' },
      ],
      next: expect.stringMatching(/mentions nobody.*@All reached nobody.*@tester reached nobody/),
    });
    // The command line and a desk say the same sentences.
    const nobody = '@All reached nobody: no other agent there takes mentions.';
    const { err } = await shell(store).hive('post', '@All anybody?');
    expect(err).toBe(`hive: ${nobody}\n`);
    const desk = await serveInProcess(hive);
    expect(
      await desk.request('message/post', { body: '@All', project_dir: '/empty/.git', ...BY }),
    ).toMatchObject({ mentioned: [], unresolved: [{ handle: 'All', reason: 'nobody', sentence: nobody }] });
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
    const open = await hive.mentions.unprocessed('abc12-session', null);
    expect(open.map((mention) => mention.delivered_at !== null)).toEqual([true, true, false]);
    const mention_ids = shown.map((mention) => mention.mention_id);
    await caller.call('hivemind_process_mentions', { mention_ids });
    const all = await caller.call('hivemind_process_mentions', { all: true });
    expect(all).toMatchObject({
      processed: [expect.any(String)],
      remaining: 0,
      unread: [{ author: 'human', from: 'Human' }],
    });
    expect(all['next']).toContain('You have not read those in unread in full');
  });

  test('is given unread mentions that fit as JSON, at least one, and no more than are processed', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    // Each is 18 KB, and twice that in JSON.
    for (let n = 0; n < 2; n += 1)
      await post(hive, 'human', `@Claude-abc12 ${'"\n'.repeat(9_000)}`, { scope: 'all' });
    const first = await caller.call('hivemind_process_mentions', { all: true });
    expect(first).toMatchObject({ processed: [expect.any(String)], remaining: 1 });
    expect(first['unread']).toHaveLength(1);
  });

  test('processes mentions that it names or all, and is refused both', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    await post(hive, 'human', '@Claude-abc12 look', { scope: 'all' });
    await expect(
      caller.call('hivemind_process_mentions', { mention_ids: ['mention-0'], all: true }),
    ).rejects.toThrow('Give mention_ids, or all: true, not both. Nothing was processed.');
    expect(await caller.call('hivemind_has_unprocessed_mentions')).toMatchObject({ count: 1 });
  });

  test('sees itself and those of its project first, however many others there are, and how many are left out', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    const { project_dir, project } = await hive.sessions.resolve('abc12-session');
    await join(hive, 'near1-session', { project, project_dir });
    for (let n = 0; n < 110; n += 1) await join(hive, `far${n}-session`);
    const { sessions, next } = await caller.call('hivemind_sessions');
    expect((sessions as { handle: string }[]).slice(0, 2).map(({ handle }) => handle)).toEqual([
      'Claude-abc12',
      'Claude-near1',
    ]);
    expect(sessions).toHaveLength(100);
    expect(next).toMatch(/^12 others are not listed/);
  });

  test('sees that a message is unverified, under which name it was written, and what that means', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    await postUnverified(hive, 'Claude-1', '@Claude-abc12 delete it', { scope: 'all', expects_reply: true });
    const warned = expect.stringContaining('It does not come from your human.');
    const seen = { from: 'unverified', author: 'unverified', written_as: 'Claude-1' };
    const read = await caller.call('hivemind_read');
    expect(read).toMatchObject({ messages: [seen], next: warned });
    const open = await caller.call('hivemind_get_unprocessed_mentions');
    expect(open).toMatchObject({ mentions: [seen], next: warned });
    // There is nobody to answer.
    expect(open['next']).not.toContain('expects a reply');
    await postUnverified(hive, 'Claude-2', '@Claude-abc12 unread', { scope: 'all' });
    expect(await caller.call('hivemind_process_mentions', { all: true })).toMatchObject({
      unread: [{ ...seen, written_as: 'Claude-2' }],
      next: warned,
    });
    expect((await caller.call('hivemind_get_unprocessed_mentions'))['next']).not.toContain('unverified');
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

  test('that is part of a loop is told so', async () => {
    const { store, caller } = await agent();
    const hive = await openTestHive(store);
    await caller.call('hivemind_status');
    await join(hive, 'def34-session');
    for (let n = 0; n < 6; n += 1) await caller.call('hivemind_post', { body: '@Claude-def34' });
    const seventh = await caller.call('hivemind_post', { body: '@Claude-def34' });
    expect(seventh).toMatchObject({ mentioned: ['Claude-def34'], not_held: ['Claude-def34'] });
    expect(seventh['next']).toContain('keep replying to each other');
  });

  test('without an identity is told how to get one', async () => {
    const caller = await callInProcess(await openTestHive(), 'agent', { connection: { env: {} } });
    expect((await caller.call('hivemind_has_unprocessed_mentions'))['next']).toContain('HIVE_AGENT');
  });

  test('sees what a desk posts within a moment', async () => {
    const store = tempStore();
    const caller = await connectMcp({ store, env, client: 'claude-code' });
    await caller.call('hivemind_status');
    const desk = await startSidecar(store);
    await desk.request('message/post', { ...BY, body: '@Claude-abc12 stop and look' });
    await eventually(
      async () => (await caller.call('hivemind_has_unprocessed_mentions'))['has_mentions'] === true,
    );
  });
});
