/** The memory of this device: its name and key, and the answers that the server has not acknowledged yet (IndexedDB). */
import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, openDB } from 'idb';
import { WORDS } from './words.ts';

/** This device, once it is paired. */
export interface OwnDevice {
  device_id: string;
  name: string;
  human: string;
  store_id: string;
  /** Its public key, in the server's format. */
  key: string;
  /** The browser signs with it and reveals it to nobody, including this page. */
  secret: CryptoKey;
}

/** An answer as the human gave it. */
export interface QueuedAnswer {
  kind: 'answer';
  ask_id: string;
  /** The question, for its human and not for the server. */
  question: string;
  /** Resolved in the same way as on the server, because exactly this is signed. */
  decision: string;
  selected: string[];
  comment: string | null;
  response_id: string;
  /** Null if it was given on a notification, which does not show the whole question. */
  displayed_digest: string | null;
  /** When it was given, by the store's clock. */
  responded_at: string;
}

/** A message for the shared buffer. */
export interface QueuedMessage {
  kind: 'message';
  body: string;
  reply_to: string | null;
  message_id: string;
}

export type Queued = QueuedAnswer | QueuedMessage;

/** The outcome of an entry. */
export type Fate =
  | { state: 'queued' }
  /** Accepted, late, or lost to another answer. */
  | { state: 'done'; reply: AnswerReply }
  /** It was refused for good: shown until the human has read it. */
  | { state: 'refused'; code: string; message: string }
  /** It allows something and is more than two minutes old: it needs one more tap. */
  | { state: 'delayed'; message: string }
  /** The server has failed on it again and again: its human tries again or discards it. */
  | { state: 'stuck'; message: string };

/** An entry as it is stored. */
export interface OutboxEntry {
  /** Increases in the order in which entries are queued. */
  number?: number;
  /** The hive that it is for: this device may now be paired with another one. */
  store_id: string;
  queued: Queued;
  fate: Fate;
  /** How often the server has failed on it. */
  failures?: number;
}

/** The reply to an answer or a message. */
export interface AnswerReply {
  /** Of a message: whom it did not reach, in sentences; missing if it reached everybody whom it mentions. */
  missed?: string;
  ask_id?: string;
  accepted?: boolean;
  late?: boolean;
  status?: string;
  decision?: string | null;
  by?: string | null;
  via?: string | null;
}

interface InboxSchema extends DBSchema {
  device: { key: 'own'; value: OwnDevice };
  outbox: { key: number; value: OutboxEntry };
}

let opened: Promise<IDBPDatabase<InboxSchema>> | null = null;

/**
 * Works with the database of this device, and tries again if the browser has dropped its connection.
 * @throws Error if the browser stores nothing for the page.
 */
export async function storage<Result>(
  work: (database: IDBPDatabase<InboxSchema>) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(await connection());
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'InvalidStateError') throw error;
    opened = null;
    return work(await connection());
  }
}

/** Changes the outbox in one transaction: it is on the disk once this has resolved. */
export function changeOutbox<Result>(
  work: (outbox: IDBPObjectStore<InboxSchema, ['outbox'], 'outbox', 'readwrite'>) => Promise<Result>,
): Promise<Result> {
  return storage(async (database) => {
    const written = database.transaction('outbox', 'readwrite', { durability: 'strict' });
    const result = await work(written.store);
    await written.done;
    return result;
  });
}

function connection(): Promise<IDBPDatabase<InboxSchema>> {
  opened ??= open().catch((error: unknown) => {
    // Opened again by the next use.
    opened = null;
    throw new Error(WORDS.noStorage, { cause: error });
  });
  return opened;
}

/** Some browsers refuse at once, others later. A connection that ends or blocks a removal is reopened on demand. */
async function open(): Promise<IDBPDatabase<InboxSchema>> {
  const database = await openDB<InboxSchema>('hive-inbox', 1, {
    upgrade(made) {
      made.createObjectStore('device');
      made.createObjectStore('outbox', { keyPath: 'number', autoIncrement: true });
    },
    terminated() {
      opened = null;
    },
    blocking() {
      database.close();
      opened = null;
    },
  });
  return database;
}
