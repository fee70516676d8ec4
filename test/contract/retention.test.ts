/** Retention: what goes, what stays, and that a preview says the same as a sweep does. */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { Hive } from '../../src/application/hive.ts';
import { retentionDays } from '../../src/application/retention.ts';
import { tablesOfStore } from '../../src/infrastructure/store/copy.ts';
import { sealOfPrompt } from '../../src/infrastructure/store/prompt-rows.ts';
import { agingTables } from '../../src/infrastructure/store/prune.ts';
import type { Row } from '../../src/infrastructure/store/sql.ts';
import { ask, HUMAN, introduce, openTestHive, recordingLog } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const DAYS = 90;

/** Everything that is in the store now happened `days` ago. */
function grow(store: string, days: number): void {
  const database = new DatabaseSync(store);
  const then = new Date(Date.now() - days * 86_400_000).toISOString();
  database.exec('BEGIN IMMEDIATE');
  for (const [table, column] of TIMES)
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${column} IS NOT NULL`).run(then);
  const seal = database.prepare('UPDATE prompts SET seal = ? WHERE ask_id = ?');
  for (const row of database.prepare('SELECT * FROM prompts').all() as Row[])
    seal.run(sealOfPrompt(row), row['ask_id'] ?? null);
  database.exec('COMMIT');
  database.close();
}
const TIMES = [
  ['prompts', 'created_at'],
  ['prompts', 'settled_at'],
  ['responses', 'responded_at'],
  ['sessions', 'ended_at'],
  ['connections', 'opened_at'],
  ['tokens', 'revoked_at'],
  ['messages', 'at'],
  ['events', 'at'],
] as const;

function countOf(store: string, table: string): number {
  const database = new DatabaseSync(store, { readOnly: true });
  const row = database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get() as { n: number };
  database.close();
  return row.n;
}

async function endSession(hive: Hive, session_id: string): Promise<void> {
  await hive.store.write(async (tx) => {
    const session = await tx.sessions.get(session_id);
    if (session !== undefined) await tx.sessions.upsert({ ...session, state: 'ended', ended_at: tx.now });
  });
}

it('removes what settled long ago, with its answers and its events', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  grow(store, DAYS + 1);
  const { ask_id: kept } = await ask(hive);
  await hive.prompts.cancel(kept, HUMAN, 'human');

  expect(await hive.retention.preview(DAYS)).toEqual({ prompts: 1, responses: 1, events: 2 });
  expect(await hive.retention.sweep(DAYS)).toEqual({ prompts: 1, responses: 1, events: 2 });
  await expect(hive.prompts.get(ask_id)).rejects.toThrow('There is no prompt');
  expect((await hive.prompts.get(kept)).status).toBe('cancelled');
  expect(countOf(store, 'responses')).toBe(0);
  expect(await hive.store.read((tx) => tx.events.of(ask_id, 10))).toEqual([]);
  expect(await hive.store.read((tx) => tx.events.of(kept, 10))).toHaveLength(2);
});

it('keeps what was answered late for as long as an answer in time, counted from the answer', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  grow(store, DAYS + 1);
  await hive.prompts.respond({ ask_id, decision: 'after all', actor: HUMAN });
  await hive.retention.sweep(DAYS);
  expect((await hive.prompts.get(ask_id)).late_response).toMatchObject({ decision: 'after all' });
  grow(store, DAYS + 1);
  await hive.retention.sweep(DAYS);
  await expect(hive.prompts.get(ask_id)).rejects.toThrow('There is no prompt');
});

it('knows every table: what is in none of its kinds is meant to stay', () => {
  const staying = tablesOfStore().filter(({ table }) => !agingTables().has(table));
  expect(staying.map(({ table }) => table).sort()).toEqual([
    'counters',
    'humans',
    'meta',
    'preferences',
    'teams',
  ]);
});

it('removes a revoked token, and a connection whose session is gone or never was', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  for (const name of ['kept', 'revoked']) await hive.tokens.make({ name });
  await hive.tokens.revoke('revoked');
  const { session_id } = await introduce(hive);
  const place = { machine: 'elsewhere', pid: 1, parent_pid: null };
  for (const connection_id of ['named', 'unnamed'])
    await hive.sessions.openConnection({ connection_id, ...place });
  await hive.store.write((tx) => tx.sessions.nameConnection('named', session_id));
  grow(store, DAYS + 1);
  expect(await hive.retention.sweep(DAYS)).toMatchObject({ tokens: 1, connections: 1 });
  expect((await hive.tokens.list()).map(({ name }) => name)).toEqual(['kept']);
  expect(countOf(store, 'connections')).toBe(1);
  await endSession(hive, session_id);
  grow(store, DAYS + 1);
  await hive.retention.sweep(DAYS);
  expect(countOf(store, 'connections')).toBe(0);
});

it('keeps what waits, however old, with its trail', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  await hive.prompts.mark(ask_id, 'seen');
  grow(store, 10_000);
  expect(await hive.retention.preview(DAYS)).toEqual({});
  await hive.retention.sweep(DAYS);
  expect((await hive.prompts.get(ask_id)).status).toBe('pending');
  expect(await hive.store.read((tx) => tx.events.of(ask_id, 10))).toHaveLength(2);
  expect(await hive.sessions.get('session-1')).toBeDefined();
});

it('counts from the settlement, not from the question', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  grow(store, DAYS + 1);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  await hive.retention.sweep(DAYS);
  expect((await hive.prompts.get(ask_id)).decision).toBe('yes');
  expect(await hive.store.read((tx) => tx.events.of(ask_id, 10))).toHaveLength(2);
});

it('removes sessions that ended long ago, unless a prompt or a living child still needs them', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  for (const name of ['gone', 'asking', 'parent', 'alive']) await introduce(hive, name);
  await ask(hive, {}, 'asking');
  await hive.store.write(async (tx) => {
    const child = await tx.sessions.get('alive');
    if (child !== undefined) await tx.sessions.upsert({ ...child, parent_session_id: 'parent' });
  });
  for (const name of ['gone', 'asking', 'parent']) await endSession(hive, name);
  grow(store, DAYS + 1);
  expect(await hive.retention.preview(DAYS)).toEqual({ sessions: 1, events: 1 });
  expect(await hive.retention.sweep(DAYS)).toEqual({ sessions: 1, events: 1 });
  const left = (await hive.sessions.list()).map((session) => session.session_id);
  expect(left.sort()).toEqual(['alive', 'asking', 'parent']);
});

it('removes a session together with the last of its prompts', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  await endSession(hive, 'session-1');
  grow(store, DAYS + 1);
  const preview = await hive.retention.preview(DAYS);
  expect(preview).toEqual({ prompts: 1, sessions: 1, events: 3 });
  expect(await hive.retention.sweep(DAYS)).toEqual(preview);
  expect([countOf(store, 'sessions'), countOf(store, 'events')]).toEqual([0, 0]);
});

it('removes desks whose lease has lapsed, and old events of what is gone', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const desk = await hive.desks.open({ seat: 'ada@test', pid: 1, client: 'test' });
  await hive.store.write((tx) =>
    tx.desks.put({
      desk_id: 'desk-crashed',
      seat: 'ada@test',
      human: 'ada',
      pid: 2,
      client: 'test',
      focused: false,
      opened_at: tx.now,
      lease_until: '2020-01-01T00:00:00.000Z',
    }),
  );
  expect(await hive.retention.sweep(DAYS)).toEqual({ desks: 1 });
  expect(await hive.desks.online()).toHaveLength(1);
  await desk.close();
  grow(store, DAYS + 1);
  expect(await hive.retention.sweep(DAYS)).toEqual({ events: 2 });
});

it('works through more than one batch', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  for (let n = 0; n < 250; n += 1) {
    const { ask_id } = await ask(hive);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
  }
  grow(store, DAYS + 1);
  expect(await hive.retention.sweep(DAYS)).toEqual({ prompts: 250, events: 500 });
});

it('old messages go with their mentions and popups, but for those that somebody has yet to deal with', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  const { message, mentions } = await post(hive, ada, '@Claude-def34 and @Human');
  const waiting = await post(hive, ada, '@Claude-def34 again');
  await hive.store.write(async (tx) => {
    for (const { mention_id } of mentions) await tx.prompts.claimPopup(mention_id, 'seat', 'desk', tx.now);
  });
  for (const session_id of [bob.session_id, 'human'])
    await hive.mentions.process({ session_id, actor: HUMAN, mention_ids: [message.message_id] });
  grow(store, DAYS + 1);
  const expected = { messages: 1, mentions: 2, popups: 2, events: 1 };
  expect(await hive.retention.preview(DAYS)).toMatchObject(expected);
  const { events, ...swept } = await hive.retention.sweep(DAYS);
  expect(swept).toEqual({ messages: 1, mentions: 2, popups: 2 });
  // Those of the message, and those of its mentions after them.
  expect(events).toBe(1 + 2 * 2);
  expect((await hive.messages.read({ limit: 10 })).items).toEqual([
    { ...waiting.message, at: expect.any(String) },
  ]);
  expect((await hive.mentions.has(bob.session_id)).count).toBe(1);
});

it('a session takes along what the loop guard remembers of it', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  await hive.store.write((tx) => tx.loops.humanSpoke(bob.session_id));
  await hive.loops.mute([ada.handle, bob.handle]);
  await endSession(hive, bob.session_id);
  grow(store, DAYS + 1);
  expect(await hive.retention.preview(DAYS)).toMatchObject({ sessions: 1, human_signs: 1, loops: 1 });
  await hive.retention.sweep(DAYS);
  expect(countOf(store, 'loops') + countOf(store, 'human_signs')).toBe(0);
});

it('a cursor that stood before what was removed is told, and a new seq is never an old one', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  const head = await hive.store.read((tx) => tx.events.head());
  grow(store, DAYS + 1);
  await hive.retention.sweep(DAYS);
  const resynced: number[] = [];
  const stop = hive.feed.follow({
    cursor: 1,
    onEvents: async () => undefined,
    onResync: async (at) => void resynced.push(at),
  });
  await eventually(() => resynced.length > 0);
  await stop();
  expect(resynced).toEqual([head]);
  await ask(hive);
  expect(await hive.store.read((tx) => tx.events.head())).toBeGreaterThan(head);
});

it('sweeps by itself when started, and says so when it cannot', async () => {
  const store = tempStore();
  const log = recordingLog();
  const hive = await openTestHive(store, log);
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  grow(store, DAYS + 1);
  hive.startRetention(DAYS);
  await eventually(() => countOf(store, 'prompts') === 0);
  expect(log.lines).toEqual([]);
});

it('is ninety days unless HIVE_RETENTION_DAYS is a whole number of them', () => {
  expect(retentionDays({})).toBe(90);
  expect(retentionDays({ HIVE_RETENTION_DAYS: '7' })).toBe(7);
  for (const nonsense of ['0', '-1', '1.5', 'never', ' ', '1e9'])
    expect(() => retentionDays({ HIVE_RETENTION_DAYS: nonsense })).toThrow('must be a whole number of days');
});
