/** What this device keeps: who it is, and the answers that the server has not acknowledged yet (IndexedDB). */
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { OutboxEntry } from './outbox.ts';

/** This device, since it was paired. */
export interface OwnDevice {
  device_id: string;
  name: string;
  human: string;
  store_id: string;
  /** Its public key, as the server knows it. */
  key: string;
  /** The browser signs with it and gives it to nobody, this page included. */
  secret: CryptoKey;
}

interface InboxSchema extends DBSchema {
  device: { key: 'own'; value: OwnDevice };
  outbox: { key: number; value: OutboxEntry };
}

let opened: Promise<IDBPDatabase<InboxSchema>> | null = null;

/** The database of this device. */
export function storage(): Promise<IDBPDatabase<InboxSchema>> {
  opened ??= openDB<InboxSchema>('hive-inbox', 1, {
    upgrade(database) {
      database.createObjectStore('device');
      database.createObjectStore('outbox', { keyPath: 'number', autoIncrement: true });
    },
  });
  return opened;
}
