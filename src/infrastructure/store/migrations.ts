/**
 * Numbered migrations, sql/0001_….sql and on: each runs once, in order, inside the transaction of whoever
 * comes first. A store that knows a higher number than this code is refused before anything is changed.
 */
import prompts from '../../../sql/0001_prompts.sql';
import messages from '../../../sql/0002_messages.sql';
import turns from '../../../sql/0003_turns.sql';
import gates from '../../../sql/0004_gates.sql';
import outreach from '../../../sql/0005_outreach.sql';
import tokens from '../../../sql/0006_tokens.sql';
import dialogs from '../../../sql/0007_dialogs.sql';
import history from '../../../sql/0008_history.sql';
import humans from '../../../sql/0009_humans.sql';
import notices from '../../../sql/0010_notices.sql';
import seals from '../../../sql/0011_seals.sql';
import leanIndexes from '../../../sql/0012_lean_indexes.sql';
import messageSeals from '../../../sql/0013_message_seals.sql';
import eventNumbers from '../../../sql/0014_event_numbers.sql';
import popupStorms from '../../../sql/0015_popup_storms.sql';
import mentionWakes from '../../../sql/0016_mention_wakes.sql';
import outreachUnseen from '../../../sql/0017_outreach_unseen.sql';
import deliveries from '../../../sql/0030_deliveries.sql';
import popupSubjects from '../../../sql/0031_popup_subjects.sql';
import { HiveError } from '../../domain/errors.ts';
import { sealMessages } from './messages.ts';
import { sealPrompts } from './prompts.ts';
import { type Sql, statement } from './sql.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  /** What SQL alone cannot do, in the same transaction. */
  readonly after?: (sql: Sql) => Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'prompts', text: prompts },
  { number: 2, name: 'messages', text: messages },
  { number: 3, name: 'turns', text: turns },
  { number: 4, name: 'gates', text: gates },
  { number: 5, name: 'outreach', text: outreach },
  { number: 6, name: 'tokens', text: tokens },
  { number: 7, name: 'dialogs', text: dialogs },
  { number: 8, name: 'history', text: history },
  { number: 9, name: 'humans', text: humans },
  { number: 10, name: 'notices', text: notices },
  { number: 11, name: 'seals', text: seals, after: sealPrompts },
  { number: 12, name: 'lean_indexes', text: leanIndexes },
  { number: 13, name: 'message_seals', text: messageSeals, after: sealMessages },
  { number: 14, name: 'event_numbers', text: eventNumbers },
  { number: 15, name: 'popup_storms', text: popupStorms },
  { number: 16, name: 'mention_wakes', text: mentionWakes },
  { number: 17, name: 'outreach_unseen', text: outreachUnseen },
  { number: 30, name: 'deliveries', text: deliveries },
  { number: 31, name: 'popup_subjects', text: popupSubjects },
];

const CREATE_LEDGER = statement(
  'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)',
);
const LAST_APPLIED = statement('SELECT MAX(number) AS number FROM migrations');
const RECORD = statement('INSERT INTO migrations (number, name, applied_at) VALUES ($1, $2, $3)');

/** Brings a store up to the last of them, or to the one with the number `last`, inside a write transaction of the caller. */
export async function migrate(sql: Sql, now: string, last = SCHEMA_VERSION): Promise<void> {
  await sql.run(CREATE_LEDGER, []);
  const [applied] = await sql.all(LAST_APPLIED, []);
  const version = Number(applied?.['number'] ?? 0);
  for (const migration of MIGRATIONS) {
    if (migration.number <= version || migration.number > last) continue;
    // In one go: over a network each would cost a round trip.
    await Promise.all(splitStatements(migration.text).map((text) => sql.run(statement(text), [])));
    await migration.after?.(sql);
    await sql.run(RECORD, [migration.number, migration.name, now]);
  }
}

/** Single statements of a migration file: ours have no semicolon but at a statement's end, and `--` comments. */
function splitStatements(text: string): string[] {
  return text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

// ---------------------------------------------------------------------------
// Which schema this code knows, apart from how one is brought about (migrations.ts): few processes ever migrate.

/** The schema that this code reads and writes: the number of the last migration. */
export const SCHEMA_VERSION = 31;

/** The refusal of a store that a newer Hive has written. */
export function tooNew(where: string, found: number): HiveError {
  return new HiveError(
    'store_too_new',
    `The store ${where} was written by a newer Hive (schema ${found}, this one knows ${SCHEMA_VERSION}). Nothing was changed; update hive-sidecar here.`,
    { found, known: SCHEMA_VERSION },
  );
}
