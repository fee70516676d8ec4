/** A store and a hive on an engine, closed when the test has finished. */
import type { Store, WriteTx } from '../../src/application/ports.ts';
import type { NewEvent } from '../../src/domain/events.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import type { StoreEngine } from './store-contract.ts';

export async function openOn(engine: StoreEngine, address: string): Promise<Store> {
  return closedAtEnd(await openStore(await engine.openDriver(address), address));
}

/** Two hives on one new store, as two processes would have it open. */
export async function openTwo(engine: StoreEngine): Promise<[OpenedHive, OpenedHive]> {
  const address = await engine.freshAddress();
  return [await openTestHive(address), await openTestHive(address)];
}

/** An event like any other. */
export function someEvent(subject = 'thing'): NewEvent {
  return { type: 'desk/notice', session_id: null, subject, data: {} };
}

export function append(store: Store, count: number, subject?: string): Promise<void> {
  return store.write((tx) => appendIn(tx, count, subject));
}

export async function appendIn(tx: WriteTx, count: number, subject?: string): Promise<void> {
  for (let n = 0; n < count; n += 1) await tx.events.append(someEvent(subject));
}

export async function seqsAfter(store: Store, cursor: number): Promise<number[]> {
  return store.read(async (tx) => (await tx.events.after(cursor, 10_000)).map((event) => event.seq));
}
