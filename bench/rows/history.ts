/** The cost of history: a poll on a store with many settled questions against one with few, and a search through them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createMessageConnection, type MessageConnection } from 'vscode-jsonrpc/node';
import type { Prompt } from '../../src/domain/prompts.ts';
import { eventStatements } from '../../src/infrastructure/store/events.ts';
import { promptStatements } from '../../src/infrastructure/store/prompts.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { openHive } from '../../src/open-hive.ts';
import { connectHive, environment, HIVE, type Server, start, storeIn, tempFolder } from '../children.ts';
import { type Family, interleave, timed } from '../harness.ts';

const FEW = 1_000;
const BATCH = 5_000;

export const history: Family = {
  name: 'history',
  rows: ['poll, 100,000 settled', 'history search, 100,000 rows'],
  async measure(effort) {
    const many = effort === 'full' ? 100_000 : 10_000;
    const folder = tempFolder();
    const [long, short] = [await agentAfter(folder, many), await agentAfter(tempFolder(), FEW)];
    const samples = await interleave(effort === 'full' ? 300 : 60, {
      many: () => timed(() => long.call('hivemind_poll')),
      few: () => timed(() => short.call('hivemind_poll')),
    });
    return [
      {
        name: `poll, ${many.toLocaleString('en')} settled`,
        unit: 'ms',
        samples: samples.many,
        floor: samples.few,
        target: { of: 'ratio', at_most: 1.3 },
      },
      {
        name: `history search, ${many.toLocaleString('en')} rows`,
        unit: 'ms',
        samples: await searches(folder, effort === 'full' ? 60 : 10),
        floor: null,
        target: { of: 'p50', at_most: 100 },
      },
    ];
  },
};

/** An agent with one question open, on a store with this many settled ones. */
async function agentAfter(folder: string, settled: number): Promise<Server> {
  mkdirSync(join(folder, 'store'), { mode: 0o700 });
  const agent = await connectHive(folder);
  await load(folder, await settledPrompt(agent, folder), settled);
  await agent.call('hivemind_ask_async', { question: 'Go on?' });
  return agent;
}

/** The searches of Emacs, in turn: words that occur nowhere, so that every row is read; and everything, newest first. */
async function searches(folder: string, rounds: number): Promise<number[]> {
  const sidecar = await openSidecar(folder);
  const samples = await interleave(rounds, {
    nowhere: () => timed(() => sidecar.sendRequest('history/search', { query: 'no such words' })),
    newest: () => timed(() => sidecar.sendRequest('history/search', {})),
  });
  sidecar.dispose();
  return samples.nowhere.map((value, round) => Math.max(value, samples.newest[round] ?? 0));
}

async function openSidecar(folder: string): Promise<MessageConnection> {
  const { stdin, stdout } = start(process.execPath, [HIVE, 'sidecar'], {
    env: environment(folder),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (stdin === null || stdout === null) throw new Error('The sidecar has no pipes.');
  const connection = createMessageConnection(stdout, stdin);
  connection.listen();
  await connection.sendRequest('initialize', {
    protocol_version: 1,
    client: { name: 'bench', version: '1' },
  });
  await connection.sendNotification('initialized', {});
  return connection;
}

/** One question with its whole life: asked, answered, handed over, collected. */
async function settledPrompt(agent: Server, folder: string): Promise<Prompt> {
  const { ask_id } = await agent.call('hivemind_ask_async', {
    question: 'Drop the old sessions table after the migration?',
    options: ['yes', 'keep it a week', 'no'],
  });
  const hive = await openHive({ store: storeIn(folder), env: {} });
  const actor = { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
  await hive.prompts.respond({ ask_id: String(ask_id), decision: 'yes', actor });
  // The second poll proves that the first was read.
  await agent.call('hivemind_poll', { ask_id });
  await agent.call('hivemind_poll', { ask_id });
  const prompt = await hive.prompts.get(String(ask_id));
  await hive.close();
  return prompt;
}

async function load(folder: string, template: Prompt, count: number): Promise<void> {
  const driver = openSqlite(storeIn(folder));
  for (let first = 0; first < count; first += BATCH) {
    await driver.write(async (sql, now) => {
      const prompts = promptStatements(sql, now);
      const events = eventStatements(sql, now, () => undefined, null);
      for (let number = first; number < Math.min(first + BATCH, count); number++) {
        const ask_id = `ask-bench${String(number).padStart(11, '0')}`;
        const { session_id, status } = template;
        await prompts.insert({ ...template, ask_id });
        await events.append({ type: 'prompt/responded', session_id, subject: ask_id, data: { status } });
      }
    });
  }
  await driver.close();
}
