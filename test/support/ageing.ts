/** Makes the content of a store old. */
import { DatabaseSync } from 'node:sqlite';
import { messageChecksums } from '../../src/infrastructure/store/messages.ts';
import { promptChecksums } from '../../src/infrastructure/store/prompts.ts';
import type { Row } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';

/** Moves everything that is now in the store `days` into the past. */
export function grow(store: string, days: number): void {
  // Others may be writing.
  const database = new DatabaseSync(store, { timeout: 60_000 });
  const then = new Date(Date.now() - days * 86_400_000).toISOString();
  database.exec('BEGIN IMMEDIATE');
  for (const [table, column] of TIMES)
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${column} IS NOT NULL`).run(then);
  for (const [table, key, checksumOfRow] of [
    ['prompts', 'ask_id', promptChecksums.ofRow],
    ['messages', 'message_id', messageChecksums.ofRow],
  ] as const) {
    const renew = database.prepare(`UPDATE ${table} SET checksum = ? WHERE ${key} = ?`);
    for (const row of database.prepare(`SELECT * FROM ${table}`).all() as Row[])
      renew.run(checksumOfRow(row), row[key] ?? null);
  }
  database.exec('COMMIT');
  database.close();
}
const TIMES = [
  ['prompts', 'created_at'],
  ['prompts', 'settled_at'],
  ['responses', 'responded_at'],
  ['sessions', 'ended_at'],
  ['connections', 'opened_at'],
  ['tokens', 'revoked_at'],
  ['devices', 'revoked_at'],
  ['pairings', 'expires_at'],
  ['messages', 'at'],
  ['events', 'at'],
  // Not runs: a row that anything but Hive has changed has lost its mark, and its run ends.
] as const;

/** Dates what the hooks of a session have announced an hour back: what was not printed by then never will be. */
export async function outputsAge(hive: OpenedHive, session_id: string): Promise<void> {
  await hive.store.write(async (tx) => {
    const at = new Date(Date.parse(tx.now) - 3_600_000).toISOString();
    for (const output of await tx.hookOutputs.of(session_id)) {
      await tx.hookOutputs.remove(output.output_id);
      await tx.hookOutputs.insert({ ...output, at });
    }
  });
}

export function countOf(store: string, table: string): number {
  const database = new DatabaseSync(store, { readOnly: true });
  const row = database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get() as { n: number };
  database.close();
  return row.n;
}

export async function endSession(hive: OpenedHive, session_id: string): Promise<void> {
  await hive.store.write(async (tx) => {
    const session = await tx.sessions.get(session_id);
    if (session !== undefined) await tx.sessions.upsert({ ...session, state: 'ended', ended_at: tx.now });
  });
}
