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
import checksums from '../../../sql/migrations/18_checksums.sql';
import deliveryReceipts from '../../../sql/migrations/19_deliveries.sql';
import popupSubjects from '../../../sql/migrations/20_popup_subjects.sql';
import notes from '../../../sql/migrations/21_notes.sql';
import plainNames from '../../../sql/migrations/22_plain_names.sql';
import tokenProjects from '../../../sql/migrations/23_token_projects.sql';
import attested from '../../../sql/migrations/24_attested.sql';
import runsTable from '../../../sql/migrations/25_runs.sql';
import signatures from '../../../sql/migrations/26_signatures.sql';
import runMarks from '../../../sql/migrations/27_run_marks.sql';
import waitsTable from '../../../sql/migrations/28_waits.sql';
import terminal from '../../../sql/migrations/29_terminal.sql';
import left from '../../../sql/migrations/30_left.sql';
import people from '../../../sql/migrations/31_people.sql';
import devicesTable from '../../../sql/migrations/32_devices.sql';
import deviceSeats from '../../../sql/migrations/33_device_seats.sql';
import titles from '../../../sql/migrations/34_titles.sql';
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
import { renewMessageChecksums } from './messages.ts';
import { renewPromptChecksums } from './prompts.ts';
import { MIGRATION_NAMES, OLDEST_SCHEMA, SCHEMA_VERSION } from './schema.ts';
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

/** The text of each migration; the compiler requires one for each name. */
const MIGRATIONS: Readonly<Record<(typeof MIGRATION_NAMES)[number], string>> = {
  checksums,
  deliveries: deliveryReceipts,
  popup_subjects: popupSubjects,
  notes,
  plain_names: plainNames,
  token_projects: tokenProjects,
  attested,
  runs: runsTable,
  signatures,
  run_marks: runMarks,
  waits: waitsTable,
  terminal,
  left,
  people,
  devices: devicesTable,
  device_seats: deviceSeats,
  titles,
};

const CREATE_LEDGER = statement(
  'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)',
);
const LAST_APPLIED = statement('SELECT MAX(number) AS number FROM migrations');
const RECORD = statement('INSERT INTO migrations (number, name, applied_at) VALUES ($1, $2, $3)');

/** Creates the tables of a store or updates them, inside a write transaction of the caller. */
export async function migrate(sql: Sql, now: string): Promise<void> {
  await sql.run(CREATE_LEDGER, []);
  const [applied] = await sql.all(LAST_APPLIED, []);
  const version = Number(applied?.['number'] ?? 0);
  if (version === 0) {
    for (const text of SCHEMA) await runFile(sql, text);
    await sql.run(RECORD, [SCHEMA_VERSION, 'schema', now]);
    return;
  }
  if (version >= SCHEMA_VERSION) return;
  for (const [index, name] of MIGRATION_NAMES.entries()) {
    const number = OLDEST_SCHEMA + index + 1;
    if (number <= version) continue;
    await runFile(sql, MIGRATIONS[name]);
    await sql.run(RECORD, [number, name, now]);
  }
  // A checksum covers nearly all columns, so it is wrong once a column was added, removed or changed.
  await renewPromptChecksums(sql);
  await renewMessageChecksums(sql);
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
