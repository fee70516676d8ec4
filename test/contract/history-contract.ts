/** History: what a search finds, in which order, and how it pages. */
import { expect, test } from 'vitest';
import type { HistoryFilter } from '../../src/application/ports.ts';
import type { HistoryEntry } from '../../src/domain/history.ts';
import { agentAuthor, humanAuthor } from '../../src/domain/messages.ts';
import { statement } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { agent } from '../support/outreach.ts';
import type { StoreEngine } from './store-contract.ts';

const search = async (hive: OpenedHive, filter: Partial<HistoryFilter> = {}): Promise<HistoryEntry[]> =>
  (await hive.store.read((tx) => tx.history.search({ limit: 50, ...filter }))).items;

async function filled(engine: StoreEngine): Promise<OpenedHive> {
  const hive = await openTestHive(await engine.freshAddress());
  const first = await ask(hive, { question: 'Drop the TABLE sessions?' });
  await hive.messages.post({
    body: 'The table is gone.',
    author: humanAuthor('cli', { project: 'demo', project_dir: '/demo/.git' }),
  });
  await ask(hive, { question: '100% sure_' }, 'session-2');
  await hive.prompts.respond({ ask_id: first.ask_id, decision: 'keep it', actor: HUMAN });
  return hive;
}

export function historyContract(engine: StoreEngine): void {
  test('is everything asked and posted, newest first, with what was decided', async () => {
    const entries = await search(await filled(engine));
    expect(entries.map(({ kind, text }) => [kind, text])).toEqual([
      ['prompt', '100% sure_'],
      ['message', 'The table is gone.'],
      ['prompt', 'Drop the TABLE sessions?'],
    ]);
    expect(entries[2]).toMatchObject({ status: 'responded', decision: 'keep it', by: 'ada' });
  });

  test('has a late answer, with the human who gave it', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive, { question: 'Which?' });
    await hive.prompts.cancel(ask_id, { ...HUMAN, by: 'bob' }, 'human');
    expect(await search(hive)).toMatchObject([{ status: 'cancelled', decision: null, by: 'bob' }]);
    await hive.prompts.respond({ ask_id, decision: 'this one', actor: HUMAN });
    expect(await search(hive)).toMatchObject([{ status: 'cancelled', decision: 'this one', by: 'ada' }]);
  });

  test('has a question also where its late answer is damaged, and then without that', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const { ask_id } = await ask(hive, { question: 'Which?' });
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await hive.prompts.respond({ ask_id, decision: 'this one', actor: HUMAN });
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write((sql) => sql.run(statement(`UPDATE prompts SET late_response = '{'`), []));
    expect(await search(hive)).toMatchObject([{ text: 'Which?', status: 'cancelled', decision: null }]);
  });

  test('says where each agent ran, and nothing about the human', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const fork = await agent(hive, 'fork-1', 'fork');
    await hive.prompts.ask({ question: 'Which?' }, fork);
    await hive.messages.post({ body: 'Done.', author: agentAuthor(fork, 'mcp') });
    await hive.messages.post({
      body: 'Fine.',
      author: humanAuthor('cli', { project: 'demo', project_dir: '/demo/.git' }),
    });
    const sources = (await search(hive)).map(({ text, source }) => [text, source]);
    expect(Object.fromEntries(sources)).toEqual({ 'Which?': 'fork', 'Done.': 'fork', 'Fine.': null });
  });

  test('finds words whatever their case, in questions, answers and messages', async () => {
    const hive = await filled(engine);
    expect(await search(hive, { query: 'table' })).toHaveLength(2);
    expect(await search(hive, { query: 'KEEP it' })).toHaveLength(1);
    expect(await search(hive, { query: 'nowhere' })).toEqual([]);
  });

  test('takes the characters of a pattern literally', async () => {
    const hive = await filled(engine);
    expect(await search(hive, { query: '0% s' })).toHaveLength(1);
    expect(await search(hive, { query: 'sure_' })).toHaveLength(1);
    expect(await search(hive, { query: 'sur%' })).toEqual([]);
  });

  test('narrows by agent, project and time', async () => {
    const hive = await filled(engine);
    const [, , oldest] = await search(hive);
    expect(await search(hive, { agent: oldest?.agent ?? '' })).toHaveLength(1);
    expect(await search(hive, { project: 'elsewhere' })).toEqual([]);
    expect(await search(hive, { until: oldest?.at ?? '' })).toEqual([]);
    expect(await search(hive, { since: oldest?.at ?? '' })).toHaveLength(3);
  });

  test('has every entry once over all pages, across both kinds', async () => {
    const hive = await filled(engine);
    for (let n = 0; n < 7; n += 1) await ask(hive, { question: `q${n}` });
    const met: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: HistoryEntry[]; next_cursor: string | null } = await hive.store.read((tx) =>
        tx.history.search({ limit: 3, cursor }),
      );
      met.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(new Set(met).size).toBe(10);
    expect(met).toHaveLength(10);
  });

  test('refuses a cursor that it did not return', async () => {
    await expect(search(await filled(engine), { cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
}
