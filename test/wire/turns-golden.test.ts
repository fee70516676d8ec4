/** What Emacs is told of a turn, from its tool to its end; and that nothing is told that has no golden frame. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { claude, SESSION } from '../support/turns.ts';
import { expectGolden, goldenNames } from './golden.ts';

test('a turn is at work, is to stop, and is aborted', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const sidecar = await startSidecar(store);
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
  const folder = join(ROOT, 'src/adapters/emacs');
  const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const told = sources.flatMap((source) =>
    [...source.matchAll(/\bnotify\(\s*([^,]+),/g)].flatMap(([, method = '']) =>
      [...method.matchAll(/'([\w/-]+)'/g)].map(([, name = '']) => name),
    ),
  );
  expect(told.length).toBeGreaterThan(10);
  const golden = goldenNames('sidecar').map((name) =>
    JSON.parse(readFileSync(join(ROOT, 'test/wire/golden/sidecar', `${name}.json`), 'utf8')),
  );
  const known = new Set(golden.map(({ notification }) => notification?.method));
  expect(told.filter((name) => !known.has(name))).toEqual([]);
});
