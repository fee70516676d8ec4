/**
 * What `hive sessions` says that a session does: what it waits for, or what it runs, and since when.
 *
 * @module-tag sqlite
 * @module-tag cli
 */
import { expect, onTestFinished, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { ask, introduce, openTestHive } from '../support/hive.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

test('a blocked session is shown with its question, one at work with its turn, an idle one with neither', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const { ask_id } = await ask(hive, { question: 'May I?' }, 'blocked-1');
  const cut = new AbortController();
  const waiting = hive.prompts.wait([ask_id], { wait_ms: 60_000, signal: cut.signal, waiter: 'blocked-1' });
  onTestFinished(async () => {
    cut.abort();
    await waiting;
  });
  await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
  await introduce(hive, 'works-1');
  await hive.turns.start({ session_id: 'works-1' });
  await introduce(hive, 'idle-1');
  const { out } = await shell(store).hive('sessions');
  const last = (handle: string) => out.split('\n').find((line) => line.startsWith(handle));
  expect(last('Claude-block')).toMatch(/demo +blocked for \d+ s: May I\?$/);
  expect(last('Claude-works')).toMatch(/demo +works, \d+ s$/);
  expect(last('Claude-idle')).toMatch(/demo +-$/);
  const { sessions } = (await shell(store).hive('sessions', '--json')).json();
  const of = (session_id: string) =>
    sessions.find((one: { session_id: string }) => one.session_id === session_id);
  expect(of('blocked-1').blocked_by).toMatchObject({
    ask_id,
    question: 'May I?',
    blocked_since: expect.any(String),
  });
  expect(of('works-1')).toMatchObject({ blocked_by: null, turn: { state: 'in_progress' } });
});
