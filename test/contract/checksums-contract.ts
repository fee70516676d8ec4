/**
 * Checksums: a prompt or a message that does not read as it was written is refused, whichever of its columns differs. The
 * columns are those that the engine names, so a new one is forged here without a line of this file changing.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { hookCarrier } from '../../src/application/delivery.ts';
import { damagedRecords } from '../../src/application/doctor.ts';
import type { MessagePage } from '../../src/application/ports.ts';
import type { HiveEvent } from '../../src/domain/events.ts';
import { agentAuthor, humanAuthor } from '../../src/domain/messages.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { UNCOVERED_OF_MESSAGE } from '../../src/infrastructure/store/messages.ts';
import { UNCOVERED_OF_PROMPT } from '../../src/infrastructure/store/prompts.ts';
import {
  type Driver,
  type Row,
  type Sql,
  type SqlValue,
  statement,
} from '../../src/infrastructure/store/sql.ts';
import { ask, HUMAN, introduce, openTestHive, withoutQuotas } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { DEMO, join, post } from '../support/messages.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { eventually } from '../support/wait.ts';
import { openOn } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

const DAMAGED = {
  code: 'store_foreign',
  message: expect.stringContaining('does not read as it was written'),
};

/** In place of an error, for what a list leaves out. */
const LEFT_OUT = Object.assign(new Error('It does not read as it was written.'), { code: 'store_foreign' });

export function checksumsContract(engine: StoreEngine): void {
  /** A store with an answered prompt and a message with a mention, and direct access to its rows. */
  async function open() {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const { ask_id } = await ask(hive, { options: ['yes', 'no'] });
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const author = agentAuthor(await introduce(hive), 'mcp');
    const other = await introduce(hive, 'session-2');
    const { message } = await hive.messages.post({ body: `@${other.handle} Look at this.`, author });
    await hive.close();
    const driver = closedAtEnd(await engine.openDriver(address));
    return { driver, store: await openOn(engine, address), ask_id, message_id: message.message_id };
  }

  test('refuse a prompt, whichever of its columns was forged', async () => {
    const { driver, store, ask_id } = await open();
    const row = { table: 'prompts', key: 'ask_id', id: ask_id };
    const read = (id: string) => store.read((tx) => tx.prompts.get(id));
    const list = async () => {
      const { items } = await store.read((tx) => tx.prompts.list({ limit: 10 }));
      if (items.length === 0) throw LEFT_OUT;
    };
    expect(await forgeEach(driver, row, [read, list])).toEqual(Object.keys(UNCOVERED_OF_PROMPT).sort());
  });

  test('refuse a message, whichever of its columns was forged', async () => {
    const { driver, store, message_id } = await open();
    const row = { table: 'messages', key: 'message_id', id: message_id };
    const read = (id: string) => store.read((tx) => tx.messages.get(id));
    expect(await forgeEach(driver, row, [read])).toEqual(Object.keys(UNCOVERED_OF_MESSAGE).sort());
  });

  test('show a mention without its message, whichever column of the message was forged', async () => {
    const { driver, store, message_id } = await open();
    const row = { table: 'messages', key: 'message_id', id: message_id, joined: true };
    const read = async () => {
      const { items } = await store.read((tx) => tx.mentions.list({ session_id: 'session-2', limit: 10 }));
      if (items[0]?.body.startsWith('This message is damaged') === true) throw LEFT_OUT;
    };
    expect(await forgeEach(driver, row, [read])).toEqual(Object.keys(UNCOVERED_OF_MESSAGE).sort());
  });

  test('one damaged prompt and one damaged message do not stop the rest: they are set aside, and the doctor names them', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const [bad, good, other] = [
      await ask(hive, { timeout_ms: 1_000 }),
      await ask(hive, { timeout_ms: 1_000 }),
      await ask(hive),
    ];
    const author = agentAuthor(await introduce(hive), 'mcp');
    const [torn, whole] = [
      await hive.messages.post({ body: 'The first.', author }),
      await hive.messages.post({ body: 'The second.', author }),
    ];
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write((sql) =>
      sql.run(statement(`UPDATE prompts SET question = 'forged' WHERE ask_id = $1`), [bad.ask_id]),
    );
    await driver.write((sql) =>
      sql.run(statement(`UPDATE messages SET body = 'forged' WHERE message_id = $1`), [
        torn.message.message_id,
      ]),
    );
    // Both are due; the damaged one comes first.
    await driver.write((sql) =>
      sql.run(statement(`UPDATE prompts SET expires_at = created_at WHERE ask_id = $1`), [bad.ask_id]),
    );
    await eventually(async () => (await hive.prompts.expireDue()) === 1);
    expect(await hive.prompts.get(good.ask_id)).toMatchObject({ status: 'expired' });
    const pending = await hive.store.read((tx) => tx.prompts.list({ status: 'pending', limit: 10 }));
    expect(pending.items.map(({ ask_id }) => ask_id)).toEqual([other.ask_id]);
    const messages = await hive.store.read((tx) => tx.messages.list({ limit: 10 }));
    expect(messages.items.map(({ body }) => body)).toEqual([whole.message.body]);

    expect(await hive.prompts.setAsideDamaged()).toBe(1);
    expect(await hive.prompts.setAsideDamaged()).toBe(0);
    expect(await hive.store.read((tx) => tx.prompts.expiries.next()), 'nothing is due for ever').toBeNull();
    expect(await hive.prompts.countPending()).toMatchObject({ normal: 1 });
    const [notice] = await hive.notices.list(1);
    expect(notice?.data).toMatchObject({ notice: 'damaged', ask_id: bad.ask_id, severity: 'error' });
    await expect(hive.prompts.get(bad.ask_id)).rejects.toMatchObject(DAMAGED);
    const check = (await hive.doctor.run()).find(({ name }) => name === 'Records');
    expect(check).toMatchObject({ state: 'broken', text: expect.stringContaining(bad.ask_id) });
    expect(check?.text).toContain(torn.message.message_id);
  });

  test('a damaged prompt and a damaged message stop no work that goes on without them', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const { handle } = await introduce(hive);
    const { ask_id } = await ask(hive);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    await hive.delivery.hand([ask_id], hookCarrier('session-1'));
    const { message } = await hive.messages.post({
      body: `@${handle} Look.`,
      author: humanAuthor('emacs', null),
    });
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write(async (sql) => {
      const past = '2026-01-01T00:00:00.000Z';
      await sql.run(statement(`INSERT INTO waits (ask_id, wait_id, lease_until) VALUES ($1, 'wait-1', $2)`), [
        ask_id,
        past,
      ]);
      await sql.run(statement('UPDATE mentions SET expires_at = created_at'), []);
      await sql.run(statement(`UPDATE prompts SET question = 'forged' WHERE ask_id = $1`), [ask_id]);
      await sql.run(statement(`UPDATE messages SET body = 'forged' WHERE message_id = $1`), [
        message.message_id,
      ]);
    });
    expect(await hive.prompts.find(ask_id)).toBeUndefined();
    expect(await hive.delivery.collect(hookCarrier('session-1'))).toBe(1);
    expect(await hive.waits.lapseDue()).toBe(1);
    expect(await hive.waits.lapseDue()).toBe(0);
    expect(await hive.mentions.expireDue()).toBe(1);
    expect((await hive.notices.list(1))[0]).toMatchObject({ data: { notice: 'mention_expired' } });
  });

  test('damaged messages keep no intact one from a page, in either direction', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const ada = await join(hive, 'abc12-session');
    const far = await join(hive, 'far99-session', { project: 'far', project_dir: '/far/.git' });
    for (let n = 1; n <= 15; n += 1) await post(hive, ada, `m${n}`);
    await post(hive, far, 'm16', { scope: 'all' });
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write((sql) =>
      sql.run(
        statement(
          `UPDATE messages SET hops = 7 WHERE body IN ('m2', 'm4', 'm5', 'm6', 'm7', 'm8', 'm13', 'm15')`,
        ),
        [],
      ),
    );
    const intact = ['m1', 'm3', 'm9', 'm10', 'm11', 'm12', 'm14', 'm16'];
    const { project_dir } = DEMO;
    const forward: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: MessagePage = await hive.messages.read({ project_dir, limit: 3, after: after ?? 0 });
      forward.push(...page.items.map(({ body }) => body));
      ({ more, next_cursor: after } = page);
    }
    expect(forward).toEqual(intact);
    const back: string[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page: MessagePage = await hive.messages.read({ project_dir, limit: 3, before });
      back.unshift(...page.items.map(({ body }) => body));
      before = page.previous_cursor;
    }
    expect(back).toEqual(intact);
  });

  test('a damaged settlement keeps no other answer from its session', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const [bad, good] = [await ask(hive), await ask(hive)];
    for (const { ask_id } of [bad, good])
      await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const driver = closedAtEnd(await engine.openDriver(address));
    // The first of the two.
    await driver.write((sql) =>
      sql.run(
        statement(
          `UPDATE prompts SET decision = 'no', created_at = '2026-01-01T00:00:00.000Z' WHERE ask_id = $1`,
        ),
        [bad.ask_id],
      ),
    );
    const found = await hive.store.read(async (tx) => [
      ...(await tx.prompts.uncollectedOf('session-1', 1)),
      ...(await tx.prompts.openOf('session-1', 1)),
    ]);
    expect(found.map(({ ask_id }) => ask_id)).toEqual([good.ask_id, good.ask_id]);
  });

  test('a damaged event and a damaged session stop nothing else, and the doctor names both', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const { ask_id } = await ask(hive);
    const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
    const below = await join(hive, 'def34-session:1', { parent_session_id: bob.session_id });
    await hive.notices.give({ severity: 'warning', session_id: null, text: 'Look.' });
    const head = await hive.history.head();
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write(async (sql) => {
      const torn = `data = SUBSTR(data, 1, LENGTH(data) - 1) || 'X'`;
      await sql.run(statement(`UPDATE events SET ${torn} WHERE subject = $1 OR type = 'desk/notice'`), [
        ask_id,
      ]);
      await sql.run(statement(`UPDATE sessions SET roles = '[X' WHERE session_id = $1`), [bob.session_id]);
    });

    const seen: HiveEvent[] = [];
    const following = hive.feed.follow({
      cursor: 0,
      onEvents: async (events) => void seen.push(...events),
      onResync: async () => undefined,
    });
    onTestFinished(() => following());
    await eventually(() => seen.at(-1)?.seq === head);
    expect(seen.find(({ subject }) => subject === ask_id)).toMatchObject({
      type: 'prompt/created',
      data: {},
    });
    expect((await hive.notices.list(1))[0]).toMatchObject({ data: {} });

    const living = await hive.sessions.list({ state: 'alive' });
    expect(living.map(({ session_id }) => session_id)).toContain(bob.session_id);
    expect(await hive.sessions.find(bob.session_id)).toEqual({ ...bob, roles: [] });
    expect((await hive.sessions.actor(below, 'mcp')).ancestors).toEqual([bob.session_id]);
    await hive.sessions.sweep('elsewhere');
    await post(hive, ada, 'Hello @All');
    await post(hive, 'human', 'Hello @All');

    const check = (await hive.doctor.run()).find(({ name }) => name === 'Records');
    expect(check).toMatchObject({ state: 'broken', text: expect.stringContaining(bob.session_id) });
    const { seq } = seen.find(({ subject }) => subject === ask_id) ?? {};
    expect(check?.text).toContain(`event ${seq}`);
  });

  test('what a list leaves out because it cannot be read is named by the doctor', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    await tokensOf(hive).make({ name: 'far', agent: 'far-1' });
    const session = await introduce(hive);
    const { turn_id } = await hive.turns.start({
      session_id: session.session_id,
      client_turn_id: null,
      by: 'x',
    });
    await hive.store.write((tx) => tx.runs.put(sleepingRun()));
    const { outreach_id } = await hive.outreach.card({ title: 'Done', fields: [] }, session);
    const driver = closedAtEnd(await engine.openDriver(address));
    await driver.write(async (sql) => {
      for (const [table, column] of [
        ['tokens', 'projects'],
        ['turns', 'open_tools'],
        ['runs', 'calls'],
        ['outreach', 'fields'],
      ])
        await sql.run(statement(`UPDATE ${table} SET ${column} = '[{'`), []);
    });
    expect(await tokensOf(hive).list()).toEqual([]);
    const named = await damagedRecords(hive.store);
    expect(new Set(named)).toEqual(new Set([turn_id, outreach_id, 'token far', 'run-1']));
  });

  test('are compared by the doctor page by page, and others go on between two pages', async () => {
    const address = await engine.freshAddress();
    const hive = await withoutQuotas(await openTestHive(address));
    const { ask_id } = await ask(hive);
    const { message } = await post(hive, 'human', 'First.');
    const driver = closedAtEnd(await engine.openDriver(address));
    // More than two pages of each, with the damaged one anywhere among them.
    await driver.write(async (sql) => {
      for (const [table, key, like] of [
        ['prompts', 'ask_id', ask_id],
        ['messages', 'message_id', message.message_id],
      ] as const)
        await copyRow(sql, { table, key, like, count: 1_200 });
    });
    const reads = vi.spyOn(hive.store, 'read');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 0);
    onTestFinished(() => clearInterval(turning));
    const damaged = await damagedRecords(hive.store);
    expect(new Set(damaged).size).toBe(2_400);
    expect(damaged).not.toContain(ask_id);
    expect(damaged).not.toContain(message.message_id);
    expect(reads.mock.calls.length).toBeGreaterThan(6);
    expect(turns).toBeGreaterThan(1);
  });

  test('are right again after a statement has changed one prompt or many', async () => {
    const { driver, store, ask_id } = await open();
    await store.write(async (tx) => {
      await tx.prompts.move('session-1', { session_id: 'session-2', handle: 'Claude-other' });
      await tx.prompts.setOrphaned('session-2', true);
    });
    expect(await store.read((tx) => tx.prompts.get(ask_id))).toMatchObject({ agent: 'Claude-other' });
    const [row] = await driver.read((sql) => sql.all(statement('SELECT checksum FROM prompts'), []));
    expect(row?.['checksum']).toEqual(expect.any(Number));
  });
}

/** Copies a row under other keys, which its checksum does not fit. */
async function copyRow(
  sql: Sql,
  { table, key, like, count }: { table: string; key: string; like: string; count: number },
): Promise<void> {
  const [row = {}] = await sql.all(statement(`SELECT * FROM ${table} WHERE ${key} = $1`), [like]);
  const columns = Object.keys(row);
  const insert = statement(
    `INSERT INTO ${table} (${columns.map((column) => `"${column}"`).join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
  );
  for (let n = 0; n < count; n += 1) {
    const other: Row = { ...row, [key]: `${like}-${n}` };
    if ('seq' in row) other['seq'] = 1_000 + n;
    await sql.run(
      insert,
      columns.map((column) => other[column] ?? null),
    );
  }
}

interface Forged {
  table: string;
  key: string;
  id: string;
  /** Another row finds it by its key. With another key it is not found. */
  joined?: boolean;
}

/** Forges each column in turn, and restores it. Returns the columns whose change was not noticed. An unchanged row must be accepted. */
async function forgeEach(
  driver: Driver,
  { table, key, id, joined = false }: Forged,
  reads: readonly ((id: string) => Promise<unknown>)[],
): Promise<string[]> {
  const whole = statement(`SELECT * FROM ${table} WHERE ${key} = $1`);
  const [row = {}] = await driver.read((sql) => sql.all(whole, [id]));
  const unnoticed: string[] = [];
  for (const [column, value] of Object.entries(row as Row)) {
    if (joined && column === key) continue;
    const set = statement(`UPDATE ${table} SET "${column}" = $2 WHERE ${key} = $1`);
    const forged = await forge(driver, set, id, value);
    const now = column === key ? String(forged) : id;
    const refused = await Promise.all(
      reads.map((read) =>
        read(now).then(
          () => false,
          (error: unknown) => {
            expect(error, column).toMatchObject(DAMAGED);
            return true;
          },
        ),
      ),
    );
    expect(new Set(refused).size, `${column} is noticed by all who read it, or by none`).toBe(1);
    if (refused[0] === false) unnoticed.push(column);
    await driver.write((sql) => sql.run(set, [now, value]));
    for (const read of reads) await read(id);
  }
  return unnoticed.sort();
}

/** Writes another value of the same type, or null where the old value was not null. */
async function forge(
  driver: Driver,
  set: ReturnType<typeof statement>,
  id: string,
  value: SqlValue,
): Promise<SqlValue> {
  const others: SqlValue[] =
    typeof value === 'number' ? [value + 1] : typeof value === 'string' ? [otherText(value)] : ['forged', 7];
  for (const other of others) {
    // A null does not show the type of its column, and PostgreSQL refuses a text where a number belongs.
    const written = await driver.write((sql) => sql.run(set, [id, other])).catch(() => 0);
    if (written === 1) return other;
  }
  throw new Error('It could not be forged.');
}

/** JSON stays JSON, so that the checksum and not the parser refuses it. */
function otherText(value: string): string {
  return /^[[{]/.test(value) ? (value === '[]' ? '["forged"]' : '[]') : `${value}!`;
}
