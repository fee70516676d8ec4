/** The reader of chaos: a store that has lost something is read as far as possible, so that the checks can name what is lost. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSnapshot } from '../chaos/snapshot.ts';
import { ask, newHive } from '../support/hive.ts';

async function stored(): Promise<string> {
  const { store, hive } = await newHive();
  await ask(hive, { question: 'Still here?' });
  await hive.close();
  return store;
}

test('a whole store has what was asked', async () => {
  const { integrity, prompts } = await readSnapshot(await stored());
  expect(integrity).toBe('ok');
  expect(prompts).toMatchObject([{ question: 'Still here?' }]);
});

test('of a damaged one the damage is told, and what cannot be read is missing', async () => {
  const store = await stored();
  const { size } = statSync(store);
  const file = openSync(store, 'r+');
  writeSync(file, Buffer.alloc(size - size / 4, 'x'), 0, undefined, size / 4);
  closeSync(file);
  const { integrity, prompts } = await readSnapshot(store);
  expect(integrity).toMatch(/malformed|Page \d+|out of order|not a database/);
  expect(prompts).toEqual([]);
});
