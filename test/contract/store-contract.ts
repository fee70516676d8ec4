/** What every engine of the store must hold to. Each part is a file; an engine runs them all. */
import { describe } from 'vitest';
import type { Driver } from '../../src/infrastructure/store/sql.ts';
import { checksumsContract } from './checksums-contract.ts';
import { deliveriesContract } from './deliveries-contract.ts';
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
import { sessionSettingsContract } from './session-settings-contract.ts';
import { transactionsContract } from './transactions-contract.ts';
import { turnsContract } from './turns-contract.ts';
import { winnersContract } from './winners-contract.ts';

export interface StoreEngine {
  /** The address of a new store, on which nothing has happened; removed when the test has finished. */
  freshAddress(): Promise<string>;
  /** The address of a store that does not exist yet; removed likewise. */
  missingAddress(): Promise<string>;
  /** The driver as the composition root opens it. */
  openDriver(address: string): Promise<Driver>;
}

export function describeStoreContract(engineName: string, engine: StoreEngine): void {
  describe(`the store on ${engineName}`, () => {
    describe('events', () => eventsContract(engine));
    describe('transactions', () => transactionsContract(engine));
    describe('checksums', () => checksumsContract(engine));
    describe('winners', () => winnersContract(engine));
    describe('humans', () => humansContract(engine));
    describe('lists', () => listsContract(engine));
    describe('names', () => namesContract(engine));
    describe('session settings', () => sessionSettingsContract(engine));
    describe('deliveries', () => deliveriesContract(engine));
    describe('messages', () => messagesContract(engine));
    describe('messages', () => messagesOnceContract(engine));
    describe('mentions', () => mentionsContract(engine));
    describe('mentions', () => mentionsDealingContract(engine));
    describe('loops', () => loopsContract(engine));
    describe('turns', () => turnsContract(engine));
    describe('outreach', () => outreachContract(engine));
    describe('popups', () => popupsContract(engine));
    describe('history', () => historyContract(engine));
    describe('the feed', () => feedContract(engine));
    describe('migrations', () => migrationsContract(engine));
  });
}
