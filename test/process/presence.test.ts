/**
 * Desks are online while their sidecar lives, and not for long after it crashed.
 *
 * @module-tag state-not-events
 * @module-tag emacs
 * @module-tag mcp
 */
import { expect, test, vi } from 'vitest';
import { DESK_HEARTBEAT_MS, DESK_LEASE_MS, type Desk } from '../../src/domain/humans.ts';
import { newHive, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

test('a desk that crashed is gone within 15 s', async () => {
  const { store, hive } = await newHive();
  const sidecar = await startSidecar(store);
  const agent = await connectMcp({ store });
  expect(await agent.call('hivemind_ask_async', { question: 'Here?', urgency: 'low' })).toMatchObject({
    desks_online: 1,
  });
  await sidecar.child.kill('SIGKILL');
  const killed = Date.now();
  const [desk] = await hive.desks.online();
  expect(Date.parse(desk?.lease_until ?? '') - killed).toBeLessThanOrEqual(15_000);
  const then = new Date(killed + 15_000).toISOString();
  expect(await hive.store.read((tx) => tx.desks.online(then))).toEqual([]);
});

test('a desk that ended properly is gone at once, and agents are notified', async () => {
  const store = tempStore();
  const sidecar = await startSidecar(store);
  const agent = await connectMcp({ store });
  await sidecar.end();
  const { desks_online, next } = await agent.call('hivemind_ask_async', { question: 'Here?' });
  expect(desks_online).toBe(0);
  expect(next).toMatch(/no desk is online, so the question waits/);
});

test('a live desk renews its lease, without an event', async () => {
  const hive = await openTestHive();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const desk = await hive.desks.open({ seat: 'ada@test', pid: process.pid, client: 'test' });
  const of = async (): Promise<Desk | undefined> => (await hive.desks.online())[0];
  const [before, head] = [await of(), await hive.store.read((tx) => tx.events.head())];
  await eventually(async () => {
    vi.advanceTimersByTime(DESK_HEARTBEAT_MS);
    return ((await of())?.lease_until ?? '') > (before?.lease_until ?? '');
  });
  expect(await hive.store.read((tx) => tx.events.head())).toBe(head);
  vi.useRealTimers();
  await desk.close();
  expect(await of()).toBeUndefined();
  expect(DESK_HEARTBEAT_MS * 2).toBeLessThan(DESK_LEASE_MS);
});

test('a desk whose lease was removed while its machine slept takes a new one', async () => {
  const hive = await openTestHive();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const desk = await hive.desks.open({ seat: 'ada@test', pid: process.pid, client: 'test' });
  await desk.setFocused(true);
  await hive.store.write((tx) => tx.desks.remove(desk.desk_id));
  vi.advanceTimersByTime(DESK_HEARTBEAT_MS);
  await eventually(async () => (await hive.desks.online()).length === 1);
  expect((await hive.desks.online())[0]).toMatchObject({ desk_id: desk.desk_id, focused: true });
  vi.useRealTimers();
  await desk.close();
});
