/**
 * Two agents with connections of their own work together: one asks for a review, the other reads the request and answers.
 *
 * @module-tag at-least-once
 * @module-tag sqlite
 * @module-tag mcp
 */
import { expect, test } from 'vitest';
import { openTestHive } from '../support/hive.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { tempStore } from '../support/temp.ts';

async function agent(store: string, session: string): Promise<CallerInProcess> {
  const connection = { env: { CLAUDE_CODE_SESSION_ID: session }, connection_id: `connection-${session}` };
  const caller = await callInProcess(await openTestHive(store), 'agent', { name: 'claude-code', connection });
  await caller.call('hivemind_status');
  return caller;
}

// biome-ignore lint/suspicious/noExplicitAny: results have many shapes, and the assertions say which
const look = async (caller: CallerInProcess): Promise<any> =>
  caller.call('hivemind_get_unprocessed_mentions');

test('a review is requested, read, answered and marked done', async () => {
  const store = tempStore();
  const [abc, def] = [await agent(store, 'abc12-1111'), await agent(store, 'def34-2222')];
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
