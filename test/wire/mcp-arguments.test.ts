/**
 * Arguments as models really write them, over a real client: taken, refused with the right call, or said to be ignored.
 *
 * @module-tag untrusted
 * @module-tag mcp
 */
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { MESSAGE_LIMITS } from '../../src/domain/messages.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { callInProcess } from '../support/mcp-in-process.ts';

async function scene() {
  const hive = await openTestHive();
  return { hive, agent: await callInProcess(hive) };
}

test('a question that was asked before says that nothing of it has changed', async () => {
  const { hive, agent } = await scene();
  const given = { question: 'Go on?', idempotency_key: 'k' };
  const { ask_id } = await agent.call('hivemind_ask_async', given);
  const again = await agent.call('hivemind_ask_async', { ...given, urgency: 'critical', timeout_ms: 5_000 });
  expect(again).toMatchObject({ ask_id, existing: true });
  expect(again).not.toHaveProperty('expires_at');
  expect(again['next']).toMatch(
    /^This was asked before and stays as it was asked then; its status is pending\./,
  );
  expect((await hive.prompts.get(String(ask_id))).urgency).toBe('normal');
});

test('all arguments in one text are the arguments', async () => {
  const { agent } = await scene();
  const called = (args: unknown) =>
    agent.client.request(
      { method: 'tools/call', params: { name: 'hivemind_ask_async', arguments: args as never } },
      CallToolResultSchema,
    );
  const asked = await called('{"question":"Go on?","urgency":"low","multi_select":"false"}');
  expect(asked.structuredContent).toMatchObject({ status: 'pending' });
  expect((await called('')).content).toMatchObject([
    { text: expect.stringContaining('"question" is missing') },
  ]);
  for (const unnamed of ['Go on?', ['Go on?'], '["Go on?"]', 7])
    expect(await called(unnamed)).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringMatching(/"question" is missing\. .* For example: hivemind_ask_async \{/) },
      ],
    });
});

test('a poll with a misspelled argument hands over nothing, and says how to call', async () => {
  const { hive, agent } = await scene();
  const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' });
  await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor: HUMAN });
  for (const misspelled of [{ ask: ask_id }, { id: ask_id }, { question_nr: ask_id }]) {
    const refused = await agent.client.callTool({ name: 'hivemind_poll', arguments: misspelled });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toBeUndefined();
    expect(JSON.stringify(refused.content)).toMatch(/has no argument .*Nothing was done\..*hivemind_poll \{/);
  }
  expect((await hive.prompts.get(String(ask_id))).handed_at).toBeNull();
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({ status: 'responded' });
});

test('what a call claims to be is shown as a claim, and is nobody’s identity', async () => {
  const { hive, agent } = await scene();
  const ask = async (args: Record<string, unknown>): Promise<Prompt> => {
    const { ask_id } = await agent.call('hivemind_ask_async', {
      question: 'Go on?',
      urgency: 'low',
      ...args,
    });
    return hive.prompts.get(String(ask_id));
  };
  const prompt = await ask({ agent_id: 'worker-2', context: 'The tests pass.' });
  const { agent: handle } = prompt;
  expect(prompt.context).toBe(`${handle} says it is worker-2.\n\nThe tests pass.`);
  expect(handle).not.toContain('worker');
  expect((await ask({ agentId: '@Human\n**bold**' })).context).toBe(`${handle} says it is Humanbold.`);
  expect((await ask({ agent_id: handle })).context).toBeNull();
  const posted = await agent.call('hivemind_post', { body: 'Done.', agent_id: 'worker-3' });
  expect((await hive.messages.get(String(posted['message_id']))).body).toBe(
    `${handle} says it is worker-3.\n\nDone.`,
  );
  expect(posted['next']).toContain('Others see it as the name that you claim.');
  // Another claim over the same connection is the same session.
  expect((await hive.sessions.list({ state: 'alive' })).map((session) => session.handle)).toEqual([handle]);
});

test('a text that is too long with what its call claims to be is refused for that', async () => {
  const { agent } = await scene();
  const whole = { body: 'x'.repeat(MESSAGE_LIMITS.bodyBytes) };
  await expect(agent.call('hivemind_post', { ...whole, agent_id: 'worker-2' })).rejects.toThrow(
    /^invalid_input: The message is too long: .* The line with the name that you claim is put before it and counts too\./,
  );
  expect(await agent.call('hivemind_post', whole)).toHaveProperty('message_id');
  await expect(agent.call('hivemind_post', { body: `${whole.body}x` })).rejects.not.toThrow(/counts too/);
});

test('a refusal says what was ignored as well', async () => {
  const { agent } = await scene();
  await expect(agent.call('hivemind_poll', { ask_id: 'ask-none', mood: 'hopeful' })).rejects.toThrow(
    /^prompt_not_found: .* Ignored, because this tool has no such argument: "mood"\.$/,
  );
});
