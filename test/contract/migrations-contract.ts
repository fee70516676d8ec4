/** Migrations: once, however many processes start, and never on a store that is newer than this code, or far older. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkVersion } from '../../src/infrastructure/store/copy.ts';
import { migrate, runFile } from '../../src/infrastructure/store/migrations.ts';
import { MIGRATION_NAMES, OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/infrastructure/store/schema.ts';
import { type Driver, type Sql, type SqlValue, statement } from '../../src/infrastructure/store/sql.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { childEnvironment, outputOf, spawnScript, startTogether } from '../support/children.ts';
import { append, openOn, seqsAfter } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function migrationsContract(engine: StoreEngine): void {
  test('run once when eight processes start at once on a missing store', async () => {
    const address = await engine.missingAddress();
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
    expect(applied.map((row) => Number(row['number']))).toEqual([SCHEMA_VERSION]);
  });

  test('leave what is stored as it is', async () => {
    const address = await engine.missingAddress();
    const first = await openOn(engine, address);
    await append(first, 3);
    await first.close();
    const again = await openOn(engine, address);
    expect(again.store_id).toBe(first.store_id);
    expect(await seqsAfter(again, 0)).toEqual([1, 2, 3]);
  });

  test('bring a store of the oldest schema up to date, with the same tables as a new one and all that was in it', async () => {
    const address = await engine.missingAddress();
    await makeOld(engine, address);
    const store = await openOn(engine, address);
    const prompts = await store.read((tx) => tx.prompts.list({ limit: 10 }));
    const became = prompts.items.map(({ question, when_turn_aborted }) => [question, when_turn_aborted]);
    expect(Object.fromEntries(became)).toEqual({
      'Deploy now?': 'cancelled_if_interrupted',
      'Keep the old name?': 'cancelled',
      'Which colours?': 'stays',
      'Drop the table?': 'cancelled_if_interrupted',
      'Shall I wait?': 'cancelled_if_interrupted',
    });
    const answered = prompts.items.find(({ status }) => status === 'responded');
    expect(answered).toMatchObject({ decision: 'no', comment: 'Never on a Friday.', by: 'ada' });
    const messages = await store.read((tx) => tx.messages.list({ limit: 10 }));
    expect(messages.items.map(({ seq, thread }) => [seq, thread])).toEqual([
      [1, 'review'],
      [2, null],
    ]);
    const mentions = await store.read((tx) => tx.mentions.list({ session_id: 'session-2', limit: 10 }));
    expect(mentions.items).toMatchObject([{ body: '@Codex-sessi please review the schema.' }]);
    expect(await store.read((tx) => tx.desks.preferences('seat'))).toMatchObject({ do_not_disturb: true });
    expect(await store.read((tx) => tx.humans.teams())).toMatchObject([{ name: 'Ops', members: ['ada'] }]);
    await append(store, 1);
    const [there, next] = await seqsAfter(store, 11);
    expect(there).toBe(12);
    // If a number can be visible before it is on disk, an older Hive may have shown some that are lost.
    expect(next).toBeGreaterThan(12);

    const fresh = await engine.missingAddress();
    await openOn(engine, fresh);
    expect(await shapeOf(engine, address)).toEqual(await shapeOf(engine, fresh));
    const driver = await engine.openDriver(address);
    const applied = await driver.read((sql) => sql.all(LEDGER, []));
    await driver.close();
    expect(applied.map(({ name }) => name)).toEqual(['outreach_unseen', ...MIGRATION_NAMES]);
    expect(applied.at(-1)?.['number']).toBe(SCHEMA_VERSION);
  });

  test('that are cut off have changed nothing, and are repeated by the next process that opens the store', async () => {
    const address = await engine.missingAddress();
    await makeOld(engine, address);
    const before = await shapeOf(engine, address);
    const driver = await engine.openDriver(address);
    const cut = driver.write(async (sql, now) => {
      await migrate(sql, now);
      throw new Error('The machine stops here.');
    });
    await expect(cut).rejects.toThrow('stops here');
    await driver.close();
    expect(await shapeOf(engine, address)).toEqual(before);
    const store = await openOn(engine, address);
    expect(await store.read((tx) => tx.prompts.list({ limit: 10 }))).toMatchObject({ items: { length: 5 } });
  });

  test('are refused on a store that is older than any of them, which stays as it is', async () => {
    const address = await engine.missingAddress();
    await makeOld(engine, address);
    const driver = await engine.openDriver(address);
    onTestFinished(() => driver.close());
    await driver.write((sql) => sql.run(statement('UPDATE migrations SET number = $1'), [OLDEST_SCHEMA - 1]));
    const before = await shapeOf(engine, address);
    const refusal = {
      code: 'store_foreign',
      message: expect.stringMatching(/development version of Hive.*Nothing was changed; move it away/),
    };
    await expect(openStore(driver, address)).rejects.toMatchObject(refusal);
    await expect(driver.read((sql) => checkVersion(sql, address))).rejects.toMatchObject(refusal);
    expect(await shapeOf(engine, address)).toEqual(before);
  });

  test('merge the receipts of all kinds, and deliveries under way continue from there', async () => {
    const address = await engine.missingAddress();
    await makeOld(engine, address);
    const driver = await engine.openDriver(address);
    await driver.write(oldReceipts);
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
      const open = await tx.prompts.openOf('session-9', 10);
      expect(open.map(({ ask_id }) => ask_id)).toEqual(['ask-handed', 'ask-new', 'ask-waiting']);
      expect(open[0]).toMatchObject({ ...mcp, collected_at: null });
      expect(await tx.deliveries.carriedBy('mcp:1', '9999')).toMatchObject([{ subject: 'ask-handed' }]);
      expect(await tx.outreach.get('report-1')).toMatchObject({ carrier: 'hook:session-9', handed_at: AT });
      expect(await tx.turns.unreadAborts('session-9', 10)).toMatchObject([
        { turn: { turn_id: 'turn-told' }, delivery: { carrier: 'hook:session-9', handed_at: AT } },
        { turn: { turn_id: 'turn-new' }, delivery: { carrier: null, handed_at: null } },
      ]);
      expect(await tx.hookOutputs.of('session-9')).toEqual([
        { output_id: 'print-1', session_id: 'session-9', at: AT },
      ]);
    });
  });

  test('give each popup its kind, and call a claim that was not shown a lease', async () => {
    const address = await engine.missingAddress();
    await makeOld(engine, address);
    const driver = await engine.openDriver(address);
    await driver.inspect(async () => undefined);
    await driver.write(async (sql, now) => {
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

  test('keep what the renamed columns and events hold', async () => {
    const address = await engine.missingAddress();
    await makeOld(engine, address);
    const driver = await engine.openDriver(address);
    await driver.inspect(async () => undefined);
    await driver.write(async (sql, now) => {
      const insert = (table: string, columns: string, values: string): Promise<unknown> =>
        sql.run(statement(`INSERT INTO ${table} (${columns}) VALUES (${values})`), [now]);
      await insert(
        'gates',
        'session_id, steps, denials, gave_up, held, held_since, held_told',
        `'s-1', 0, 0, 0, 0, $1, '["ada@home"]'`,
      );
      await insert('wakers', 'session_id, until, told', `'s-1', $1, '["ask-1"]'`);
      await insert('budgets', 'name, tokens, since, critical', `'*', 3, $1, 0`);
      await insert('events', 'seq, at, type, subject, data', `99, $1, 'turn/told', 'turn-1', '{}'`);
    });
    await driver.close();
    const store = await openOn(engine, address);
    await store.read(async (tx) => {
      expect(await tx.gates.get('s-1')).toMatchObject({ held_notified: ['ada@home'] });
      expect(await tx.wakers.get('s-1')).toMatchObject({ woken_for: ['ask-1'] });
      expect(await tx.outreach.bucket('*')).toMatchObject({ credits: 3 });
      expect(await tx.events.after(98, 1)).toMatchObject([{ type: 'turn/abort_handed', subject: 'turn-1' }]);
    });
  });

  test('are not tried if the version of the store cannot be read', async () => {
    const address = await engine.missingAddress();
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

  test('by a newer Hive stop the processes that were open before: they write nothing more, and say to restart them', async () => {
    const address = await engine.missingAddress();
    const store = await openOn(engine, address);
    await append(store, 1);
    const newer = await engine.openDriver(address);
    onTestFinished(() => newer.close());
    const change = (text: string) => newer.write((sql) => sql.run(statement(text), []));
    // A change of another kind leaves the number as it is.
    await change('ALTER TABLE prompts ADD COLUMN of_somebody TEXT');
    await append(store, 1);
    await change('ALTER TABLE prompts ADD COLUMN of_tomorrow TEXT');
    await newer.write((sql, now) =>
      sql.run(statement('INSERT INTO migrations (number, name, applied_at) VALUES ($1, $2, $3)'), [
        SCHEMA_VERSION + 1,
        'tomorrow',
        now,
      ]),
    );
    const refusal = {
      code: 'store_too_new',
      message: expect.stringMatching(/newer Hive has updated.*Nothing was written; restart this process/),
    };
    await expect(append(store, 1)).rejects.toMatchObject(refusal);
    await expect(store.writeUnflushed((tx) => tx.events.head())).rejects.toMatchObject(refusal);
    // What this one can still read, it reads.
    expect(await seqsAfter(store, 0)).toHaveLength(2);
    await change('ALTER TABLE events RENAME TO happenings');
    await expect(seqsAfter(store, 0)).rejects.toMatchObject(refusal);
    const stored = await newer.read((sql) => sql.all(statement('SELECT seq FROM happenings'), []));
    expect(stored).toHaveLength(2);
  });

  test('are refused on a store that a newer Hive has written, which stays as it is', async () => {
    const address = await engine.missingAddress();
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
    expect(numbers).toHaveLength(2);
  });
}

const LEDGER = statement('SELECT number, name FROM migrations ORDER BY number');

/** A store of the oldest schema that is still brought up to date, as that Hive left it. */
async function makeOld(engine: StoreEngine, address: string): Promise<void> {
  const file = join(import.meta.dirname, `fixtures/schema-${OLDEST_SCHEMA}.sql`);
  const driver = await engine.openDriver(address);
  await driver.inspect(async () => undefined);
  await driver.write((sql) => runFile(sql, readFileSync(file, 'utf8')));
  await driver.close();
}

/**
 * The tables of a store as its engine describes them: columns by name, their types, what may be null, and the indexes. Not
 * the order of columns, nor their defaults: a migration adds a column after the others, with a default for older rows.
 */
async function shapeOf(engine: StoreEngine, address: string): Promise<unknown> {
  const driver = await engine.openDriver(address);
  try {
    const onPostgres = address.includes('://');
    const schema = new URL(onPostgres ? address : 'file:///').searchParams.get('schema') ?? 'hive';
    const [columns, indexes] = onPostgres
      ? [POSTGRES_COLUMNS, POSTGRES_INDEXES]
      : [SQLITE_COLUMNS, SQLITE_INDEXES];
    const params = onPostgres ? [schema] : [];
    return await driver.read(async (sql) => ({
      columns: await sql.all(columns, params),
      // PostgreSQL names the index of a primary key after the table as it was called when it was made.
      indexes: (await sql.all(indexes, params))
        .map(({ text }) => String(text).replaceAll(`${schema}.`, '').replace(/\s+/g, ' '))
        .map((text) => text.replace(/ \w+_pkey /, ' pkey '))
        .sort(),
    }));
  } finally {
    await driver.close();
  }
}

const SQLITE_COLUMNS = statement(
  `SELECT m.name AS "table", c.name AS "column", c.type AS type, c."notnull" AS required, c.pk AS key
   FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.name`,
);
const SQLITE_INDEXES = statement(
  `SELECT sql AS text FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
);
const POSTGRES_COLUMNS = statement(
  `SELECT table_name AS "table", column_name AS "column", data_type AS type, is_nullable AS required
   FROM information_schema.columns WHERE table_schema = $1 ORDER BY table_name, column_name`,
);
const POSTGRES_INDEXES = statement(
  'SELECT indexdef AS text FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname',
);
const AT = '2026-01-01T00:00:00.000Z';

/** One row of each kind that had its own receipts, in each state. */
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
  await into('mentions', { ...MENTION, mention_id: 'mention-new', message_id: 'msg-1' });
  const read = { delivered_at: AT, carrier: 'mcp:1' };
  await into('mentions', { ...MENTION, mention_id: 'mention-read', message_id: 'msg-2', ...read });
  await into('outreach', { ...REPORT, handed_at: AT, carrier: 'hook:session-9' });
  await into('turns', { ...TURN, turn_id: 'turn-told', number: 1, told_handed_at: AT });
  await into('turns', { ...TURN, turn_id: 'turn-new', number: 2 });
  const done = { told_handed_at: AT, told_collected_at: AT };
  await into('turns', { ...TURN, turn_id: 'turn-read', number: 3, ...done });
  await into('turns', { ...TURN, turn_id: 'turn-ended', number: 4, state: 'completed' });
  await into('prints', { print_id: 'print-1', session_id: 'session-9', at: AT });
}

const OF_SESSION = { session_id: 'session-9', source: 'main', project: 'demo', project_dir: '/demo' };
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
  session_id: 'session-9',
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
  session_id: 'session-9',
  chain_id: 'turn-1',
  state: 'aborted',
  started_at: AT,
  cancelled_prompts: '[]',
  steps: 0,
  batches: 0,
  open_tools: '[]',
  stops: 0,
} as const;
