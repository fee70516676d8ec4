/**
 * Creates and updates the tables of a store. A new store is made from the files in sql/, one for each capability, which
 * show the current schema. An older store runs the migrations that it lacks, in order, and ends up with the same tables
 * (test/contract/migrations-contract.ts compares them). Either happens in one write transaction of the first process.
 */
import deliveries from '../../../sql/deliveries.sql';
import devices from '../../../sql/devices.sql';
import events from '../../../sql/events.sql';
import hooks from '../../../sql/hooks.sql';
import humans from '../../../sql/humans.sql';
import interrupts from '../../../sql/interrupts.sql';
import mentions from '../../../sql/mentions.sql';
import messages from '../../../sql/messages.sql';
import outreach from '../../../sql/outreach.sql';
import popups from '../../../sql/popups.sql';
import prompts from '../../../sql/prompts.sql';
import runs from '../../../sql/runs.sql';
import sessions from '../../../sql/sessions.sql';
import stopGuard from '../../../sql/stop-guard.sql';
import store from '../../../sql/store.sql';
import tokens from '../../../sql/tokens.sql';
import turns from '../../../sql/turns.sql';
import waits from '../../../sql/waits.sql';
import { messageChecksums } from './messages.ts';
import { promptChecksums } from './prompts.ts';
import { OLDEST_SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { type Sql, statement } from './sql.ts';

/** Every table of a new store. */
export const SCHEMA: readonly string[] = [
  store,
  events,
  sessions,
  hooks,
  prompts,
  deliveries,
  popups,
  messages,
  mentions,
  turns,
  interrupts,
  outreach,
  stopGuard,
  tokens,
  devices,
  humans,
  runs,
  waits,
];

/** A change of the schema: its file in sql/migrations/ is `N_name.sql`, where N is the resulting schema. */
export interface Migration {
  name: string;
  /** The text of the file, imported like those above. */
  text: string;
}

/** The changes since the oldest schema, in order. None has been needed yet. */
export const MIGRATIONS: readonly Migration[] = [];

const CREATE_LEDGER = statement(
  'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)',
);
const LAST_APPLIED = statement('SELECT MAX(number) AS number FROM migrations');
const RECORD = statement('INSERT INTO migrations (number, name, applied_at) VALUES ($1, $2, $3)');

/** Creates the tables of a store or updates them, inside a write transaction of the caller. */
export async function migrate(
  sql: Sql,
  now: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await sql.run(CREATE_LEDGER, []);
  const [applied] = await sql.all(LAST_APPLIED, []);
  const version = Number(applied?.['number'] ?? 0);
  if (version === 0) {
    for (const text of SCHEMA) await runFile(sql, text);
    await sql.run(RECORD, [SCHEMA_VERSION, 'schema', now]);
    return;
  }
  const lacking = migrations.slice(version - OLDEST_SCHEMA);
  if (lacking.length === 0) return;
  for (const [index, { name, text }] of lacking.entries()) {
    await runFile(sql, text);
    await sql.run(RECORD, [version + index + 1, name, now]);
  }
  // A checksum covers nearly all columns, so it is wrong once a column has been added, removed or changed.
  await promptChecksums.renew(sql);
  await messageChecksums.renew(sql);
}

/** Runs all statements of a file at once: over a network each one alone would cost a round trip. */
export async function runFile(sql: Sql, text: string): Promise<void> {
  await Promise.all(splitStatements(text).map((part) => sql.run(statement(part), [])));
}

/** The statements of a file. Ours have semicolons only at the end of a statement, and `--` only on comment lines. */
function splitStatements(text: string): string[] {
  return text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
