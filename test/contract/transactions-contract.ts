/** Transactions: atomic, isolated, and with no lost update between processes. */
import { expect, test } from 'vitest';
import type { Driver } from '../../src/infrastructure/store/sql.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { incrementTogether } from '../support/many-processes.ts';
import { isBetween, moment } from '../support/wait.ts';
import { append, openOn, seqsAfter } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

export function transactionsContract(engine: StoreEngine): void {
  async function openWith(busy_ms: number, address: string): Promise<Driver> {
    return closedAtEnd(await engine.openDriver(address, { busy_ms }));
  }

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

  test('that another process holds up wait together, and not one after the other', async () => {
    const address = await engine.freshAddress();
    const [holder, waiting, later] = [
      await openWith(60_000, address),
      await openWith(700, address),
      await openWith(700, address),
    ];
    const [holds, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = holder.write(() => {
      holds.resolve();
      return released.promise;
    });
    await holds.promise;
    const order: string[] = [];
    const write = (driver: Driver, name: string): Promise<unknown> =>
      driver
        .write(async () => void order.push(`${name} was written`))
        .catch(({ code }: { code?: unknown }) => order.push(`${name}: ${code}`));
    // One that begins to wait when the first is refused is refused after all that waited with the first.
    const first = write(waiting, 'first').then(() => write(later, 'later'));
    await Promise.all([first, write(waiting, 'second'), write(waiting, 'third'), write(waiting, 'fourth')]);
    released.resolve();
    await holding;
    expect(order).toEqual(
      ['first', 'second', 'third', 'fourth', 'later'].map((name) => `${name}: store_busy`),
    );
  });

  test('that only wait for those before them in their own process are not refused', async () => {
    const driver = await openWith(200, await engine.freshAddress());
    const writes = Array.from({ length: 10 }, () => driver.write(() => moment(60)));
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(writes.map(() => 'fulfilled'));
  });

  test('of three processes that read, modify and write lose nothing', async () => {
    await incrementTogether(await engine.freshAddress(), 3);
  });
}
