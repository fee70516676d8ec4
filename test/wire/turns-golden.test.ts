/** The notifications of a turn to Emacs, from its tool to its end; each has a golden frame. */
import { expect, test } from 'vitest';
import { NOTIFICATIONS } from '../../src/adapters/emacs/method.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { serveInProcess } from '../support/sidecar.ts';
import { claude, SESSION } from '../support/turns.ts';
import { expectGolden, goldenNames, readGolden } from './golden.ts';

test('a turn is running, is asked to stop, and is aborted', async () => {
  const hive = await openTestHive();
  const sidecar = await serveInProcess(hive);
  const told = async (name: string, state: string, requests: number): Promise<void> => {
    const { method, params } = await sidecar.seen(
      ({ method, params }) =>
        method === 'turn/changed' && params.state === state && params.interrupts.length === requests,
    );
    expectGolden(`sidecar/turn/${name}`, { notification: { method, params: params as unknown } });
  };
  const client = claude(hive);
  await client.prompt('p1');
  await told('changed-begun', 'in_progress', 0);
  await client.pre('p1', 't1');
  const asked = hive.interrupts.interrupt({ session: SESSION, note: 'wrong branch', actor: HUMAN });
  await told('changed-asked', 'in_progress', 1);
  await client.post('p1', 't1');
  await asked;
  await told('changed', 'aborted', 1);
});

test('every notification has a golden frame', () => {
  const golden = goldenNames('sidecar').map(
    (name) => readGolden(`sidecar/${name}`) as { notification?: Named },
  );
  const known = new Set(golden.map(({ notification }) => notification?.method));
  expect(NOTIFICATIONS.filter((name) => !known.has(name))).toEqual([]);
});

interface Named {
  method: string;
}
