/** A message as a row: its columns, and the seal over what it says and who wrote it. No message is ever changed. */
import type { Message } from '../../domain/messages.ts';
import { checkSeal, sealOf } from './seals.ts';
import { type Row, type Sql, type SqlValue, statement, table } from './sql.ts';

export const messages = table<Message>('messages', {
  message_id: 'plain',
  seq: 'plain',
  at: 'plain',
  session_id: 'plain',
  from_handle: 'plain',
  author: 'plain',
  as_handle: 'plain',
  as_stamp: 'plain',
  project: 'plain',
  project_dir: 'plain',
  thread: 'plain',
  reply_to: 'plain',
  priority: 'plain',
  expects_reply: 'boolean',
  scope: 'plain',
  body: 'plain',
  hops: 'plain',
  via: 'plain',
});

/** What a seal is made of: what a mention is read with as well, so that one seal serves both. */
export const SEALED = [
  ...['message_id', 'from_handle', 'author', 'as_handle', 'project', 'project_dir', 'thread', 'reply_to'],
  ...['expects_reply', 'body'],
] as const satisfies readonly (keyof Message)[];
const SEALED_AT: readonly number[] = SEALED.map((column) => messages.columns.indexOf(column));

/** The seal of a message, from what `messages.encode` gave. */
export function sealed(encoded: readonly SqlValue[]): number {
  return sealOf(SEALED_AT.map((index) => encoded[index] ?? null));
}

/** @throws HiveError `store_foreign` where a row, of a message or of a mention with its message, is not as written. */
export function checkMessage(row: Row): Row {
  checkSeal(row, SEALED, `the message ${row['message_id']}`);
  return row;
}

/** A message as it stands in a row. @throws HiveError `store_foreign` as `checkMessage`. */
export function unseal(row: Row): Message {
  return messages.decode(checkMessage(row));
}

const ALL = statement(() => `SELECT ${SEALED.map((column) => `"${column}"`).join(', ')} FROM messages`);
const SEAL = statement('UPDATE messages SET seal = $2 WHERE message_id = $1');

/** Seals every message as it stands: for the migration that brought the seals. */
export async function sealMessages(sql: Sql): Promise<void> {
  for (const row of await sql.all(ALL, [])) {
    const seal = sealOf(SEALED.map((column) => row[column] ?? null));
    await sql.run(SEAL, [row['message_id'] ?? null, seal]);
  }
}

/** What `unseal` needs, for a SELECT. */
export const LIST: string = `${messages.list}, seal`;
