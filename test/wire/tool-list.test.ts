/** The cost of our tools for a model in tokens: the list that is in every request, and each kind of result. */
import { describe, expect, test } from 'vitest';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { callInProcess } from '../support/mcp-in-process.ts';
import { sentToModel, tokensOf } from '../support/tokens.ts';

async function scene() {
  const hive = await openTestHive();
  return { hive, agent: await callInProcess(hive) };
}

const cost = (tools: readonly Parameters<typeof sentToModel>[0][]): number =>
  tools.map((tool) => tokensOf(sentToModel(tool))).reduce((sum, tokens) => sum + tokens, 0);

describe('the tool list', () => {
  test('of what is loaded always has at most 1,000 tokens, the whole list 2,400', async () => {
    const { agent } = await scene();
    const { tools } = await agent.client.listTools();
    const always = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true);
    expect(always.map(({ name }) => name)).toEqual([
      'hivemind_ask_async',
      'hivemind_poll',
      'hivemind_post',
      'hivemind_get_unprocessed_mentions',
      'hivemind_process_mentions',
    ]);
    expect(cost(always)).toBeLessThanOrEqual(1_000);
    expect(cost(tools)).toBeLessThanOrEqual(2_400);
  });

  test('describes no argument in the same words twice', async () => {
    const agent = await callInProcess(await openTestHive(), 'coordinator');
    const { tools } = await agent.client.listTools();
    const seen = new Map<string, string>();
    for (const { name, inputSchema } of tools)
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
        const text = JSON.stringify([argument, schema]);
        // A schema this short costs less than a reference to it.
        if (tokensOf(text) < 25) continue;
        expect(seen.get(text), `${argument} of ${name}`).toBeUndefined();
        seen.set(text, name);
      }
    expect(seen.size).toBeGreaterThan(10);
  });

  test('comes with instructions of at most 150 tokens', async () => {
    const { agent } = await scene();
    expect(tokensOf(agent.client.getInstructions() ?? '')).toBeLessThanOrEqual(150);
  });
});

const QUESTION = {
  question: 'Drop the old sessions table after the migration?',
  options: ['yes', 'keep it a week', 'no'],
};

/** The tokens of a result, with the same letters in each id: random ones have 13 to 22 tokens, most of them up to 18, like these. */
const spentOn = (result: object): number =>
  tokensOf(JSON.stringify(result).replaceAll(/(?<=-)[0-9a-z]{16}\b/g, '04s1s7r51gdtmatp'));

describe('a result has a limited number of tokens:', () => {
  test('of asking, polling and the answer', async () => {
    const { hive, agent } = await scene();
    const asked = await agent.call('hivemind_ask_async', QUESTION);
    const ask_id = String(asked['ask_id']);
    const spent: Record<string, number> = { ask: spentOn(asked) };
    spent['pending'] = spentOn(await agent.call('hivemind_poll', { ask_id }));
    await hive.prompts.respond({ ask_id, decision: 'keep it a week', actor: HUMAN });
    spent['answer'] = spentOn(await agent.call('hivemind_poll', { ask_id }));
    spent['nothing open'] = spentOn(await agent.call('hivemind_poll'));
    expectWithin(spent, { ask: 75, pending: 80, answer: 90, 'nothing open': 15 });
  });

  test('of mentions and messages', async () => {
    const { hive, agent } = await scene();
    const connection = { connection_id: 'connection-2', env: { HIVE_AGENT: 'agent-2' } };
    const other = await callInProcess(hive, 'agent', { connection });
    await other.call('hivemind_sessions');
    const spent: Record<string, number> = {};
    spent['no mention'] = spentOn(await other.call('hivemind_get_unprocessed_mentions'));
    const body = '@agent-2 the schema is done.';
    spent['post'] = spentOn(await agent.call('hivemind_post', { body }));
    spent['one mention'] = spentOn(await other.call('hivemind_get_unprocessed_mentions'));
    spent['processed'] = spentOn(await other.call('hivemind_process_mentions', { all: true }));
    spent['one message'] = spentOn(await other.call('hivemind_read'));
    expectWithin(spent, {
      'no mention': 30,
      post: 50,
      'one mention': 175,
      processed: 50,
      'one message': 105,
    });
  });
});

function expectWithin(
  spent: Readonly<Record<string, number>>,
  budget: Readonly<Record<string, number>>,
): void {
  const over = Object.entries(budget).filter(([kind, most]) => !((spent[kind] ?? Infinity) <= most));
  expect(over.map(([kind, most]) => `${kind}: ${spent[kind]} of ${most}`)).toEqual([]);
}
