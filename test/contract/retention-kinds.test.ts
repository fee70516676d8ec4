/** Retention of each kind of record: what goes with it, and what keeps it. */
import { expect, it } from 'vitest';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { tablesOfStore } from '../../src/infrastructure/store/copy.ts';
import { agingTables } from '../../src/infrastructure/store/retention.ts';
import { countOf, endSession, grow } from '../support/ageing.ts';
import { pair } from '../support/devices.ts';
import { ENDED } from '../support/ended-process.ts';
import { ask, HUMAN, introduce, newHive } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';

const DAYS = 90;

it('knows every table: those that are in none of its kinds are kept on purpose', () => {
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
  const { store, hive } = await newHive();
  for (const name of ['kept', 'revoked']) await tokensOf(hive).make({ name });
  await tokensOf(hive).revoke('revoked');
  const { session_id } = await introduce(hive);
  const place = { machine: 'elsewhere', pid: process.pid, parent_pid: null };
  for (const connection_id of ['named', 'unnamed'])
    await hive.callers.openConnection({ connection_id, ...place });
  await hive.store.write((tx) => tx.sessions.nameConnection('named', session_id));
  grow(store, DAYS + 1);
  expect(await hive.retention.sweep(DAYS)).toMatchObject({ tokens: 1, connections: 1 });
  expect((await tokensOf(hive).list()).map(({ name }) => name)).toEqual(['kept']);
  expect(countOf(store, 'connections')).toBe(1);
  await endSession(hive, session_id);
  grow(store, DAYS + 1);
  await hive.retention.sweep(DAYS);
  expect(countOf(store, 'connections')).toBe(0);
});

it('removes a revoked device, and pairing codes that ended long ago', async () => {
  const { store, hive } = await newHive();
  for (const name of ['kept', 'revoked']) await pair(hive, name);
  await devicesOf(hive).revoke('revoked', 'ada');
  grow(store, DAYS + 1);
  await hive.store.write((tx) =>
    tx.devices.putPairing({
      code_digest: 'open',
      human: 'ada',
      expires_at: tx.now,
      device_id: null,
      seat: null,
    }),
  );
  expect(await hive.retention.preview(DAYS)).toMatchObject({ devices: 1, pairings: 2 });
  expect(await hive.retention.sweep(DAYS)).toMatchObject({ devices: 1, pairings: 2 });
  expect((await devicesOf(hive).list()).map(({ name }) => name)).toEqual(['kept']);
  expect(countOf(store, 'pairings')).toBe(1);
});

it('removes sessions that ended long ago, unless a prompt or a living child still needs them', async () => {
  const { store, hive } = await newHive();
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
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  await endSession(hive, 'session-1');
  grow(store, DAYS + 1);
  const preview = await hive.retention.preview(DAYS);
  expect(preview).toEqual({ prompts: 1, deliveries: 1, sessions: 1, events: 3 });
  expect(await hive.retention.sweep(DAYS)).toEqual(preview);
  expect([countOf(store, 'sessions'), countOf(store, 'events')]).toEqual([0, 0]);
});

it('removes desks whose lease has lapsed, and old events of what is gone', async () => {
  const { store, hive } = await newHive();
  const desk = await hive.desks.open({ seat: 'ada@test', pid: process.pid, client: 'test' });
  await hive.store.write((tx) =>
    tx.desks.put({
      desk_id: 'desk-crashed',
      seat: 'ada@test',
      human: 'ada',
      pid: ENDED,
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

it('old messages are removed with their mentions and popups, except those that somebody has yet to process', async () => {
  const { store, hive } = await newHive();
  const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  const { message, mentions } = await post(hive, ada, '@Claude-def34 and @Human');
  await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
  const waiting = await post(hive, ada, '@Claude-def34 again');
  await hive.store.write(async (tx) => {
    for (const { mention_id } of mentions)
      await tx.popups.lease({ subject: mention_id, kind: 'mention', seat: 'seat', held_by: 'desk' }, tx.now);
  });
  for (const session_id of [bob.session_id, 'human'])
    await hive.mentions.process({ session_id, actor: HUMAN, mention_ids: [message.message_id] });
  grow(store, DAYS + 1);
  const expected = { messages: 1, mentions: 2, deliveries: 1, popups: 2, events: 1 };
  expect(await hive.retention.preview(DAYS)).toMatchObject(expected);
  const { events, ...swept } = await hive.retention.sweep(DAYS);
  expect(swept).toEqual({ messages: 1, mentions: 2, deliveries: 1, popups: 2 });
  // Those of the message, and those of its mentions after them, one of which was read.
  expect(events).toBe(1 + 2 * 2 + 1);
  expect((await hive.messages.read({ limit: 10 })).items).toEqual([
    { ...waiting.message, at: expect.any(String) },
  ]);
  expect((await hive.mentions.has(bob.session_id)).count).toBe(1);
});

it('a session is removed with what the loop guard remembers of it', async () => {
  const { store, hive } = await newHive();
  const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  await hive.store.write((tx) => tx.loops.humanSpoke(bob.session_id));
  await hive.loops.settle([ada.handle, bob.handle], 'muted');
  await endSession(hive, bob.session_id);
  grow(store, DAYS + 1);
  expect(await hive.retention.preview(DAYS)).toMatchObject({ sessions: 1, human_signs: 1, loops: 1 });
  await hive.retention.sweep(DAYS);
  expect(countOf(store, 'loops') + countOf(store, 'human_signs')).toBe(0);
});
