/**
 * MCP 2026-07-28 over stdio.
 *
 * @module-tag at-least-once
 * @module-tag not-consumed
 * @module-tag mcp
 */
import { expect, test } from 'vitest';
import { connectMcp } from '../support/mcp-client.ts';
import { connectModern } from '../support/modern-client.ts';
import { tempStore } from '../support/temp.ts';
import { describeModernContract } from './modern-contract.ts';

describeModernContract('stdio');

test('hooks come over a connection whose client speaks the new revision, and a model cannot send one', async () => {
  const client = await connectModern('stdio', tempStore());
  const fields = { client: 'claude-code', protocol: '1', session_id: 'session-9', cwd: '/' };
  const event = {
    name: 'hook_event',
    arguments: { ...fields, hook_event_name: 'UserPromptSubmit', prompt: 'go' },
  };
  expect(await client.ask('tools/call', event)).toMatchObject({
    result: { resultType: 'complete', content: [{ type: 'text', text: '{}' }] },
  });
  const ofModel = { ...event, _meta: { 'claudecode/toolUseId': 'toolu_1' } };
  expect((await client.ask('tools/call', ofModel)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('not for you') }],
  });
});

test('clients of both revisions say the same', async () => {
  const store = tempStore();
  const [modern, older] = [await connectModern('stdio', store), await connectMcp({ store })];
  const [listed, before] = [await modern.ask('tools/list'), await older.client.listTools()];
  expect(listed.result?.['tools']).toEqual(before.tools);
  const { ask_id } = await older.call('hivemind_ask_async', { question: 'Red or blue?' });
  expect(await modern.call('hivemind_poll', { ask_id })).toEqual(
    await older.call('hivemind_poll', { ask_id }),
  );
});
