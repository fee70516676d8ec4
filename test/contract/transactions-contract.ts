/** Transactions: atomic, isolated, and with no lost update between processes. */
import { expect, test } from 'vitest';
import { childEnvironment, outputOf, spawnScript, startTogether } from '../support/children.ts';
import { isBetween } from '../support/wait.ts';
import { append, openOn, seqsAfter } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

const PROCESSES = 16;
const ROUNDS = 25;

export function transactionsContract(engine: StoreEngine): void {
  test('undo state and event together', async () => {
    const store = await openOn(engine, await engine.freshAddress());
    await expect(
      store.write(async (tx) => {
        await tx.desks.setPreferences('seat', { popups: false });
        await tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data: {} });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await store.read((tx) => tx.desks.preferences('seat'))).toEqual({});
    expect(await seqsAfter(store, 0)).toEqual([]);
  });

  test("of two services in one process: a plain write survives beside another's rollback", async () => {
    const store = await openOn(engine, await engine.freshAddress());
    const outcomes = await Promise.allSettled([
      store.write(async (tx) => {
        await tx.desks.setPreferences('undone', { n: 1 });
        await Promise.resolve();
        throw new Error('rolled back');
      }),
      store.write((tx) => tx.desks.setPreferences('kept', { n: 2 })),
      append(store, 1),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    const [undone, kept] = await store.read(async (tx) => [
      await tx.desks.preferences('undone'),
      await tx.desks.preferences('kept'),
    ]);
    expect([undone, kept]).toEqual([{}, { n: 2 }]);
  });

  test('read what is committed, not what another one is writing', async () => {
    const store = await openOn(engine, await engine.freshAddress());
    let during: unknown;
    await store.write(async (tx) => {
      await tx.desks.setPreferences('seat', { n: 1 });
      during = await store.read((reading) => reading.desks.preferences('seat'));
    });
    expect(during).toEqual({});
    expect(await store.read((tx) => tx.desks.preferences('seat'))).toEqual({ n: 1 });
  });

  test('read one consistent snapshot', async () => {
    const address = await engine.freshAddress();
    const [store, other] = [await openOn(engine, address), await openOn(engine, address)];
    const [before, after] = await store.read(async (tx) => {
      const first = await tx.desks.preferences('seat');
      await other.write((writing) => writing.desks.setPreferences('seat', { n: 1 }));
      return [first, await tx.desks.preferences('seat')];
    });
    expect(after).toEqual(before);
  });

  test('give the time as ISO-8601 UTC with milliseconds', async () => {
    const store = await openOn(engine, await engine.freshAddress());
    const before = new Date().toISOString();
    const now = await store.write((tx) => Promise.resolve(tx.now));
    expect(now).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(isBetween(before, now, new Date().toISOString())).toBe(true);
  });

  test(`of ${PROCESSES} processes that read, modify and write lose nothing`, async () => {
    const address = await engine.freshAddress();
    const store = await openOn(engine, address);
    const env = childEnvironment(address);
    const children = Array.from({ length: PROCESSES }, () =>
      spawnScript('test/contract/children/increment.ts', [String(ROUNDS)], env),
    );
    const ending = children.map(outputOf);
    await startTogether(children);
    await Promise.all(ending);
    expect(await store.read((tx) => tx.desks.preferences('counter'))).toEqual({ n: PROCESSES * ROUNDS });
    expect(await seqsAfter(store, 0)).toEqual(Array.from({ length: PROCESSES * ROUNDS }, (_, n) => n + 1));
  });
}
