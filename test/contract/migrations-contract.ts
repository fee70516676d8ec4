/** Migrations: once, however many processes start, and never on a store that is newer than this code. */
import { expect, onTestFinished, test } from 'vitest';
import { checkVersion } from '../../src/infrastructure/store/copy.ts';
import { MIGRATIONS, migrate, SCHEMA_VERSION } from '../../src/infrastructure/store/migrations.ts';
import { sealPrompts } from '../../src/infrastructure/store/prompts.ts';
import { type Driver, type Sql, type SqlValue, statement } from '../../src/infrastructure/store/sql.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { childEnvironment, outputOf, spawnScript, startTogether } from '../support/children.ts';
import { append, openOn, seqsAfter } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function migrationsContract(engine: StoreEngine): void {
  test('run once when eight processes start at once on a missing store', async () => {
    const address = await engine.freshAddress();
    const env = childEnvironment(address);
    const children = Array.from({ length: 8 }, () => spawnScript('test/contract/children/open.ts', [], env));
    const opening = children.map(outputOf);
    await startTogether(children);
    const found = await Promise.all(opening);
    const store = await openOn(engine, address);
    expect(new Set(found)).toEqual(new Set([store.store_id]));
    const driver = await engine.openDriver(address);
    const applied = await driver.read((sql) => sql.all(statement('SELECT number FROM migrations'), []));
    await driver.close();
    expect(applied.map((row) => Number(row['number']))).toEqual(MIGRATIONS.map(({ number }) => number));
  }, 30_000);

  test('leave what is stored as it is', async () => {
    const address = await engine.freshAddress();
    const first = await openOn(engine, address);
    await append(first, 3);
    await first.close();
    const again = await openOn(engine, address);
    expect(again.store_id).toBe(first.store_id);
    expect(await seqsAfter(again, 0)).toEqual([1, 2, 3]);
  });

  test('make the table of events anew: each keeps its number, and that of one that was pruned is not used again', async () => {
    const address = await engine.freshAddress();
    const driver = await engine.openDriver(address);
    await driver.inspect(async () => undefined);
    await driver.write(async (sql, now) => {
      await migrate(sql, now, 13);
      const event = statement(
        `INSERT INTO events (seq, at, type, data) VALUES ($1, $2, 'desk/notice', '{}')`,
      );
      for (const seq of [3, 4, 6]) await sql.run(event, [seq, now]);
      const counter = statement('UPDATE counters SET value = $2 WHERE name = $1');
      for (const name of ['event', 'pruned_event']) await sql.run(counter, [name, 8]);
    });
    await driver.close();
    const store = await openOn(engine, address);
    await append(store, 2);
    expect(await seqsAfter(store, 0)).toEqual([3, 4, 6, 9, 10]);
    expect(await store.read((tx) => tx.events.pruned())).toBe(8);
  });

  test('bring the receipts of everything together, and what was under way goes on from there', async () => {
    const address = await engine.freshAddress();
    const driver = await engine.openDriver(address);
    await driver.inspect(async () => undefined);
    await driver.write(async (sql, now) => {
      await migrate(sql, now, 15);
      await oldReceipts(sql);
    });
    await driver.close();
    const store = await openOn(engine, address);
    const receipts = (subject: string) => store.read((tx) => tx.deliveries.get(subject));
    const mcp = { carrier: 'mcp:1', handed_at: AT };
    expect(await receipts('ask-waiting')).toBeUndefined();
    expect(await receipts('ask-dialog')).toBeUndefined();
    expect(await receipts('ask-read')).toMatchObject({ kind: 'prompt', ...mcp, collected_at: AT });
    expect(await receipts('mention-read')).toMatchObject({ kind: 'mention', ...mcp, collected_at: AT });
    expect(await receipts('mention-new')).toBeUndefined();
    await store.read(async (tx) => {
      expect((await tx.prompts.get('ask-read'))?.collected_at).toBe(AT);
      const open = await tx.prompts.openOf('session-1', 10);
      expect(open.map(({ ask_id }) => ask_id)).toEqual(['ask-handed', 'ask-new', 'ask-waiting']);
      expect(open[0]).toMatchObject({ ...mcp, collected_at: null });
      expect(await tx.deliveries.carriedBy('mcp:1', '9999')).toMatchObject([{ subject: 'ask-handed' }]);
      expect(await tx.outreach.get('report-1')).toMatchObject({ carrier: 'hook:session-1', handed_at: AT });
      expect(await tx.turns.untold('session-1', 10)).toMatchObject([
        { turn: { turn_id: 'turn-told' }, delivery: { carrier: 'hook:session-1', handed_at: AT } },
        { turn: { turn_id: 'turn-new' }, delivery: { carrier: null, handed_at: null } },
      ]);
      expect(await tx.hookOutputs.of('session-1')).toEqual([
        { output_id: 'print-1', session_id: 'session-1', at: AT },
      ]);
    });
  });

  test('give each popup its kind, and call a claim that was not shown a lease', async () => {
    const address = await engine.freshAddress();
    const driver = await engine.openDriver(address);
    await driver.inspect(async () => undefined);
    await driver.write(async (sql, now) => {
      await migrate(sql, now, 30);
      const popup = statement(
        `INSERT INTO popups (ask_id, seat, claimed_by, claimed_at, outcome, storm) VALUES ($1, 'ada@home', 'desk-1', $2, $3, $2)`,
      );
      await sql.run(popup, ['ask-1', now, 'claimed']);
      await sql.run(popup, ['outreach-1', now, 'sent']);
      await sql.run(popup, ['mention-1', now, 'suppressed']);
      const outreach = statement(
        `INSERT INTO outreach (outreach_id, number, kind, session_id, agent, source, project, project_dir, fields, actions, critical, status, created_at)
         VALUES ('outreach-1', 1, 'ping', 's', 'a', 'main', 'p', '/p', '[]', '[]', 0, 'sent', $1)`,
      );
      await sql.run(outreach, [now]);
      const mention = statement(
        `INSERT INTO mentions (mention_id, message_id, seq, session_id, handle, priority, by_name, gates, denials, status, created_at)
         VALUES ('mention-1', 'm', 1, 'human', 'human', 'normal', 1, 0, 0, 'unprocessed', $1)`,
      );
      await sql.run(mention, [now]);
    });
    await driver.close();
    const store = await openOn(engine, address);
    const outcomes = await store.read((tx) =>
      Promise.all(['ask-1', 'outreach-1', 'mention-1'].map((id) => tx.popups.outcome(id, 'ada@home'))),
    );
    expect(outcomes).toEqual(['leased', 'sent', 'suppressed']);
    for (const kind of ['prompt', 'outreach', 'mention'] as const)
      expect(await store.read((tx) => tx.popups.storm({ seat: 'ada@home', kind }))).toMatchObject({
        held_by: 'desk-1',
      });
  });

  test('are not tried where the store only cannot be asked which it is', async () => {
    const address = await engine.freshAddress();
    await (await openOn(engine, address)).close();
    const driver = await engine.openDriver(address);
    onTestFinished(() => driver.close());
    await driver.write((sql) => sql.run(statement('ALTER TABLE meta RENAME COLUMN value TO words'), []));
    let written = 0;
    const watched: Driver = {
      ...driver,
      write: (work, options) => {
        written += 1;
        return driver.write(work, options);
      },
    };
    await expect(openStore(watched, address)).rejects.toThrow(/value/);
    await expect(driver.read((sql) => checkVersion(sql, address))).rejects.toThrow(/value/);
    expect(written).toBe(0);
  });

  test('are refused on a store that a newer Hive has written, which stays as it is', async () => {
    const address = await engine.freshAddress();
    await openOn(engine, address);
    const newer = statement(`INSERT INTO migrations (number, name, applied_at) VALUES ($1, 'future', $2)`);
    const driver = await engine.openDriver(address);
    await driver.write((sql, now) => sql.run(newer, [SCHEMA_VERSION + 1, now]));
    await expect(openStore(driver, address)).rejects.toMatchObject({
      code: 'store_too_new',
      message: expect.stringMatching(/newer Hive.*Nothing was changed.*update/),
    });
    const numbers = await driver.read((sql) => sql.all(statement('SELECT number FROM migrations'), []));
    await driver.close();
    expect(numbers).toHaveLength(MIGRATIONS.length + 1);
  });
}

const AT = '2026-01-01T00:00:00.000Z';

/** One of everything that had receipts of its own, in each state that they had. */
async function oldReceipts(sql: Sql): Promise<void> {
  const into = async (table: string, row: Record<string, SqlValue>): Promise<void> => {
    const columns = Object.keys(row).map((column) => `"${column}"`);
    const values = columns.map((_, index) => `$${index + 1}`);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`;
    await sql.run(statement(text), Object.values(row));
  };
  const handed = { handed_at: AT, carrier: 'mcp:1' };
  await into('prompts', { ...PROMPT, ask_id: 'ask-waiting', status: 'pending', settled_at: null });
  await into('prompts', { ...PROMPT, ask_id: 'ask-dialog', status: 'cancelled', dialog: 1 });
  await into('prompts', { ...PROMPT, ask_id: 'ask-new' });
  await into('prompts', { ...PROMPT, ask_id: 'ask-handed', ...handed });
  await into('prompts', { ...PROMPT, ask_id: 'ask-read', ...handed, collected_at: AT });
  await sealPrompts(sql);
  await into('mentions', { ...MENTION, mention_id: 'mention-new', message_id: 'msg-1' });
  const read = { delivered_at: AT, carrier: 'mcp:1' };
  await into('mentions', { ...MENTION, mention_id: 'mention-read', message_id: 'msg-2', ...read });
  await into('outreach', { ...REPORT, handed_at: AT, carrier: 'hook:session-1' });
  await into('turns', { ...TURN, turn_id: 'turn-told', number: 1, told_handed_at: AT });
  await into('turns', { ...TURN, turn_id: 'turn-new', number: 2 });
  const done = { told_handed_at: AT, told_collected_at: AT };
  await into('turns', { ...TURN, turn_id: 'turn-read', number: 3, ...done });
  await into('turns', { ...TURN, turn_id: 'turn-ended', number: 4, state: 'completed' });
  await into('prints', { print_id: 'print-1', session_id: 'session-1', at: AT });
}

const OF_SESSION = { session_id: 'session-1', source: 'main', project: 'demo', project_dir: '/demo' };
const PROMPT = {
  ...OF_SESSION,
  agent: 'Claude-abc12',
  kind: 'question',
  question: 'Go on?',
  options: '[]',
  multi_select: 0,
  allow_free_text: 1,
  urgency: 'normal',
  urgency_rank: 1,
  survives_turn: 0,
  fingerprint: '',
  created_at: AT,
  status: 'responded',
  settled_at: AT,
  selected: '[]',
  amended: 0,
  orphaned: 0,
  search_text: '',
} as const;
const MENTION = {
  seq: 1,
  session_id: 'session-1',
  handle: 'Claude-abc12',
  priority: 'normal',
  gates: 1,
  denials: 0,
  status: 'unprocessed',
  created_at: AT,
} as const;
const REPORT = {
  ...OF_SESSION,
  outreach_id: 'report-1',
  number: 1,
  kind: 'report',
  agent: 'Claude-abc12',
  fields: '[]',
  actions: '[]',
  critical: 0,
  status: 'sent',
  created_at: AT,
} as const;
const TURN = {
  session_id: 'session-1',
  chain_id: 'turn-1',
  state: 'aborted',
  started_at: AT,
  cancelled_prompts: '[]',
  steps: 0,
  batches: 0,
  open_tools: '[]',
  stops: 0,
} as const;
