/** `session/list` says what it left out: there is no page after it. */
import { expect, test } from 'vitest';
import { introduce, openTestHive } from '../support/hive.ts';
import { serveInProcess } from '../support/sidecar.ts';

test('that more are there than were asked for', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  for (const id of ['one', 'two', 'three']) await introduce(hive, id);
  const asked = async (limit: number): Promise<[number, boolean]> => {
    const { sessions, more } = await desk.request('session/list', { limit });
    return [sessions.length, more];
  };
  expect(await asked(2)).toEqual([2, true]);
  expect(await asked(3)).toEqual([3, false]);
});

test('that more are there than fit into a frame', async () => {
  const hive = await openTestHive();
  const desk = await serveInProcess(hive);
  await introduce(hive, 'known');
  const known = await hive.sessions.find('known');
  if (known === undefined) throw new Error('It was just introduced.');
  await hive.store.write(async (tx) => {
    for (let n = 0; n < 400; n += 1)
      await tx.sessions.upsert({
        ...known,
        session_id: `s-${n}`,
        handle: `Agent-${n}`,
        project: 'p'.repeat(400),
      });
  });
  const { sessions, more } = await desk.request('session/list', { limit: 1_000 });
  expect(more).toBe(true);
  expect(sessions.length).toBeGreaterThan(100);
  expect(sessions.length).toBeLessThan(401);
  expect(desk.largest()).toBeLessThan(256 * 1024);
});
