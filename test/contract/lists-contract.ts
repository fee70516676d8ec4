/** Lists: order, pages, and that paging stays right while things change under it. */
import { expect, test } from 'vitest';
import type { PromptFilter, ReadTx } from '../../src/application/ports.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive, withoutQuotas } from '../support/hive.ts';
import { clockReaches } from '../support/wait.ts';
import type { StoreEngine } from './store-contract.ts';

type Filter = Omit<PromptFilter, 'limit' | 'cursor'>;

/** The questions of every page; `between` may change things after each. */
async function questions(
  hive: OpenedHive,
  filter: Filter,
  { limit = 2, between = async () => undefined }: { limit?: number; between?: () => Promise<unknown> } = {},
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await hive.prompts.list({ ...filter, limit, cursor });
    found.push(...page.items.map((prompt) => prompt.question));
    cursor = page.next_cursor;
    await between();
  } while (cursor !== null);
  return found;
}

async function askAll(hive: OpenedHive, ...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const question of texts) ids.push((await ask(hive, { question })).ask_id);
  return ids;
}

export function listsContract(engine: StoreEngine): void {
  test('pending prompts come by urgency, then oldest first', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await askAll(hive, 'n1');
    await ask(hive, { question: 'low', urgency: 'low' });
    await askAll(hive, 'n2');
    await ask(hive, { question: 'critical', urgency: 'critical' });
    expect(await questions(hive, { status: 'pending' })).toEqual(['critical', 'n1', 'n2', 'low']);
  });

  test('what a session and its subagents have pending is counted, up to a limit', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const ids: string[] = [];
    for (const session_id of ['main', 'main:sub', 'main', 'main2', 'main:other'])
      ids.push((await ask(hive, {}, session_id)).ask_id);
    const counted = (most: number): Promise<number> =>
      hive.store.read((tx) => tx.prompts.countPendingUnder('main', most));
    expect([await counted(100), await counted(4), await counted(3)]).toEqual([4, 4, 3]);
    await hive.prompts.cancel(ids[1] ?? '', HUMAN, 'human');
    expect(await counted(100)).toBe(3);
  });

  test('settled prompts come newest first', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    for (const ask_id of (await askAll(hive, 'a', 'b', 'c')).toReversed()) {
      await hive.prompts.cancel(ask_id, HUMAN, 'human');
      // Prompts settled in one millisecond are listed by the age of the questions.
      await clockReaches((await hive.prompts.get(ask_id)).settled_at);
    }
    expect(await questions(hive, { status: 'cancelled' })).toEqual(['a', 'b', 'c']);
    expect(await questions(hive, { status: 'pending' })).toEqual([]);
  });

  test('all pages together have everything that stays exactly once, whatever comes and goes', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const names = Array.from({ length: 30 }, (_, n) => `stays ${n}`);
    const going = await askAll(hive, ...Array.from({ length: 10 }, (_, n) => `goes ${n}`));
    await askAll(hive, ...names);
    const seen = await questions(
      hive,
      { status: 'pending' },
      {
        limit: 3,
        async between() {
          const ask_id = going.pop();
          if (ask_id !== undefined) await hive.prompts.cancel(ask_id, HUMAN, 'human');
          await ask(hive, { question: 'new', urgency: 'critical' });
        },
      },
    );
    expect(seen.filter((question) => question.startsWith('stays'))).toEqual(names);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('pages of prompts of one millisecond lose none', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const session = await introduce(hive);
    await hive.store.write(async (tx) => {
      const { prompt } = { prompt: (await tx.prompts.list({ limit: 1 })).items[0] };
      expect(prompt).toBeUndefined();
    });
    await Promise.all(Array.from({ length: 25 }, (_, n) => hive.prompts.ask({ question: `q${n}` }, session)));
    expect((await questions(hive, { status: 'pending' }, { limit: 4 })).sort()).toEqual(
      Array.from({ length: 25 }, (_, n) => `q${n}`).sort(),
    );
  });

  test('filters narrow: session, agent, project, kind and words', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await ask(hive, { question: 'Deploy the WEB server?' });
    await ask(hive, { question: 'Delete 100%_done?', kind: 'permission' }, 'session-2');
    const other = await hive.sessions.find('session-2');
    const found = (filter: Filter): Promise<string[]> => questions(hive, filter);
    expect(await found({ session_id: 'session-1' })).toEqual(['Deploy the WEB server?']);
    expect(await found({ agent: other?.handle ?? '' })).toEqual(['Delete 100%_done?']);
    expect(await found({ project: 'elsewhere' })).toEqual([]);
    expect(await found({ kind: 'permission' })).toEqual(['Delete 100%_done?']);
    expect(await found({ query: 'web  SERVER' })).toEqual(['Deploy the WEB server?']);
    expect(await found({ query: '0%_d' })).toEqual(['Delete 100%_done?']);
    expect(await found({ query: '0x_d' })).toEqual([]);
  });

  test('a snoozed prompt is not listed as pending until its time comes', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [ask_id = ''] = await askAll(hive, 'later', 'now');
    await hive.prompts.snooze(ask_id, new Date(Date.now() + 3_600_000).toISOString());
    expect(await questions(hive, { status: 'waiting' })).toEqual(['now']);
    expect(await questions(hive, { status: 'pending' })).toEqual(['later', 'now']);
    // Its time is set into the past: a test does not wait for it.
    await hive.prompts.snooze(ask_id, new Date(Date.now() - 3_600_000).toISOString());
    expect(await questions(hive, { status: 'waiting' })).toEqual(['later', 'now']);
  });

  test('a late answer has a list of its own', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [ask_id = ''] = await askAll(hive, 'late', 'other');
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect(await questions(hive, { status: 'late' })).toEqual(['late']);
  });

  test('a cursor that no list has returned is refused', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    for (const cursor of ['x', 'W10', Buffer.from('{"a":1}').toString('base64url')]) {
      await expect(hive.prompts.list({ status: 'pending', limit: 1, cursor })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    }
  });

  test("another list's cursor is refused", async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const lists: [name: string, type: string, list: (tx: ReadTx, cursor: string) => Promise<unknown>][] = [
      ['messages', 'n', (tx, after) => tx.messages.list({ project_dir: '/demo', limit: 5, after })],
      ['outreach', 'n', (tx, cursor) => tx.outreach.list({ limit: 5, cursor })],
      ['mentions', 'ns', (tx, cursor) => tx.mentions.list({ limit: 5, cursor })],
      ['pending', 's', (tx, cursor) => tx.prompts.list({ status: 'pending', limit: 5, cursor })],
      ['settled', 'ss', (tx, cursor) => tx.prompts.list({ status: 'responded', limit: 5, cursor })],
      ['history', 'ss', (tx, cursor) => tx.history.search({ limit: 5, cursor })],
    ];
    for (const key of [['a'], [1], [1.5], [1e300], ['a', 'b'], ['a', 1], [1, 2], [1, 'b'], [null]])
      for (const [name, types, list] of lists) {
        const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
        const is = key.map((part) =>
          Number.isSafeInteger(part) ? 'n' : typeof part === 'string' ? 's' : '?',
        );
        const listed = hive.store.read((tx) => list(tx, cursor)).catch(({ code }) => code);
        if (is.join('') !== types) expect(await listed, `${name} ${cursor}`).toBe('invalid_input');
        else expect(await listed, `${name} ${cursor}`).toMatchObject({ items: [] });
      }
  });

  test('a NUL in an id or in a text to search for is one as in what is stored', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await ask(hive, { question: 'one\0two' });
    const found = async (query: string): Promise<number> =>
      (await hive.prompts.list({ query, limit: 5 })).items.length;
    expect([await found('e\0t'), await found('e\0\0t')]).toEqual([1, 0]);
    await expect(hive.prompts.get('ask-\0')).rejects.toMatchObject({ code: 'prompt_not_found' });
    expect((await hive.prompts.list({ agent: '\0', limit: 5 })).items).toEqual([]);
    expect((await hive.prompts.list({ to: '\0', limit: 5 })).items).toEqual([]);
  });

  test('the open prompts of a session show settled ones before pending ones, however many there are', async () => {
    const hive = await withoutQuotas(await openTestHive(await engine.freshAddress()));
    const session = await introduce(hive);
    for (let n = 0; n < 250; n += 1) await hive.prompts.ask({ question: `pending ${n}` }, session);
    const { ask_id } = await ask(hive, { question: 'answered last' });
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const { prompts, settled, pending } = await hive.prompts.waitForOpen('session-1', { wait_ms: 0 });
    expect(prompts[0]?.question).toBe('answered last');
    expect(prompts).toHaveLength(200);
    expect([settled, pending]).toEqual([1, 250]);
  });

  test('a wait for anything that a session has open ends with an answer to a question that is not listed', async () => {
    const hive = await withoutQuotas(await openTestHive(await engine.freshAddress()));
    const session = await introduce(hive);
    for (let n = 0; n < 200; n += 1) await hive.prompts.ask({ question: `pending ${n}` }, session);
    const { ask_id } = await ask(hive, { question: 'beyond what is listed' });
    const waiting = hive.prompts.waitForOpen('session-1', { wait_ms: 60_000 });
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const { prompts, settled, pending } = await waiting;
    expect(prompts[0]).toMatchObject({ ask_id, decision: 'yes' });
    expect([settled, pending]).toEqual([1, 200]);
  });
}
