/** The contract of every engine of the store. Each part is a file; an engine runs them all. */
import { describe } from 'vitest';
import type { Driver } from '../../src/infrastructure/store/sql.ts';
import { checksumsContract } from './checksums-contract.ts';
import { deliveriesContract } from './deliveries-contract.ts';
import { devicesContract } from './devices-contract.ts';
import { eventsContract } from './events-contract.ts';
import { feedContract } from './feed-contract.ts';
import { historyContract } from './history-contract.ts';
import { humansContract } from './humans-contract.ts';
import { listsContract } from './lists-contract.ts';
import { loopsContract } from './loops-contract.ts';
import { mentionsContract } from './mentions-contract.ts';
import { mentionsDealingContract } from './mentions-dealing-contract.ts';
import { messagesContract } from './messages-contract.ts';
import { messagesOnceContract } from './messages-once-contract.ts';
import { migrationsContract } from './migrations-contract.ts';
import { namesContract } from './names-contract.ts';
import { outreachContract } from './outreach-contract.ts';
import { popupsContract } from './popups-contract.ts';
import { roomContract } from './room-contract.ts';
import { sessionSettingsContract } from './session-settings-contract.ts';
import { statsContract } from './stats-contract.ts';
import { transactionsContract } from './transactions-contract.ts';
import { turnsContract } from './turns-contract.ts';
import { waitsContract } from './waits-contract.ts';
import { winnersContract } from './winners-contract.ts';

export interface StoreEngine {
  /** The address of a new store, on which nothing has happened; removed when the test has finished. */
  freshAddress(): Promise<string>;
  /** The address of a store that does not exist yet; removed likewise. */
  missingAddress(): Promise<string>;
  /** The driver as the composition root opens it. */
  openDriver(address: string, options?: { busy_ms?: number }): Promise<Driver>;
}

export function describeStoreContract(engineName: string, engine: StoreEngine): void {
  const tags = [engineName === 'SQLite' ? 'sqlite' : 'postgres', 'library'];
  describe(`the store on ${engineName}`, { tags }, () => {
    describe('events', { tags: ['state-not-events'] }, () => eventsContract(engine));
    describe('transactions', { tags: ['durable', 'flushed'] }, () => transactionsContract(engine));
    describe('checksums', { tags: ['no-authority'] }, () => checksumsContract(engine));
    describe('winners', { tags: ['one-winner', 'silence', 'late'] }, () => winnersContract(engine));
    describe('humans', { tags: ['provenance'] }, () => humansContract(engine));
    describe('devices', { tags: ['provenance'] }, () => devicesContract(engine));
    describe('lists', () => listsContract(engine));
    describe('waits', { tags: ['state-not-events'] }, () => waitsContract(engine));
    describe('names', () => namesContract(engine));
    describe('the room', { tags: ['guards-end'] }, () => roomContract(engine));
    describe('session settings', { tags: ['provenance'] }, () => sessionSettingsContract(engine));
    describe('deliveries', { tags: ['at-least-once', 'not-consumed'] }, () => deliveriesContract(engine));
    describe('messages', () => messagesContract(engine));
    describe('messages', () => messagesOnceContract(engine));
    describe('mentions', { tags: ['at-least-once', 'guards-end'] }, () => mentionsContract(engine));
    describe('mentions', { tags: ['at-least-once', 'guards-end'] }, () => mentionsDealingContract(engine));
    describe('loops', { tags: ['guards-end'] }, () => loopsContract(engine));
    describe('turns', () => turnsContract(engine));
    describe('outreach', { tags: ['at-least-once'] }, () => outreachContract(engine));
    describe('popups', { tags: ['one-winner'] }, () => popupsContract(engine));
    describe('history', { tags: ['provenance'] }, () => historyContract(engine));
    describe('the statistics', { tags: ['provenance'] }, () => statsContract(engine));
    describe('the feed', { tags: ['state-not-events'] }, () => feedContract(engine));
    describe('migrations', () => migrationsContract(engine));
  });
}
