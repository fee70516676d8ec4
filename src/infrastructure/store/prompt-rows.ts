/** A prompt as a row: its columns, which of them may change, and the seal over what it says. */
import type { Prompt } from '../../domain/prompts.ts';
import { checkSeal, sealOf } from './seals.ts';
import { type Codec, type Row, type Sql, type SqlValue, statement, table } from './sql.ts';

/** What may change once a prompt is asked, beside its status. */
const LIFE = {
  decision: 'plain',
  selected: 'json',
  comment: 'plain',
  by: 'plain',
  via: 'plain',
  response_id: 'plain',
  cancel_reason: 'plain',
  late_response: 'json',
  amended: 'boolean',
  orphaned: 'boolean',
  snoozed_until: 'plain',
  claimed_by: 'plain',
  claimed_at: 'plain',
  offered_at: 'plain',
  seen_at: 'plain',
  responded_at: 'plain',
  handed_at: 'plain',
  collected_at: 'plain',
  carrier: 'plain',
} as const satisfies Partial<Record<keyof Prompt, Codec>>;

export const prompts = table<Prompt>('prompts', {
  ask_id: 'plain',
  session_id: 'plain',
  agent: 'plain',
  source: 'plain',
  project: 'plain',
  project_dir: 'plain',
  turn_id: 'plain',
  kind: 'plain',
  header: 'plain',
  question: 'plain',
  context: 'plain',
  options: 'json',
  multi_select: 'boolean',
  allow_free_text: 'boolean',
  urgency: 'plain',
  label: 'plain',
  group_id: 'plain',
  bind: 'plain',
  survives_turn: 'boolean',
  dialog: 'boolean',
  idempotency_key: 'plain',
  fingerprint: 'plain',
  created_at: 'plain',
  expires_at: 'plain',
  to: 'plain',
  recipients: 'json',
  escalates_at: 'plain',
  escalated_at: 'plain',
  status: 'plain',
  settled_at: 'plain',
  ...LIFE,
});

/** An UPDATE names only these: SQLite rewrites every index that has a named column in it, changed or not. */
export const life = table<Pick<Prompt, 'ask_id' | keyof typeof LIFE>>('prompts', {
  ask_id: 'plain',
  ...LIFE,
});

/** What is asked and what was decided. Not among them is what a statement changes in many rows at once. */
const SEALED = [
  ...['ask_id', 'kind', 'header', 'question', 'context', 'options', 'multi_select', 'allow_free_text'],
  ...['urgency', 'dialog', 'created_at', 'expires_at', 'status', 'settled_at', 'decision', 'selected'],
  ...['comment', 'by', 'via', 'response_id', 'cancel_reason', 'late_response', 'amended'],
] as const satisfies readonly (keyof Prompt)[];
const SEALED_AT: readonly number[] = SEALED.map((column) => prompts.columns.indexOf(column));

/** The seal of a prompt, from what `prompts.encode` gave. */
export function sealed(encoded: readonly SqlValue[]): number {
  return sealOf(SEALED_AT.map((index) => encoded[index] ?? null));
}

/** A prompt as it stands in a row. @throws HiveError `store_foreign` where that is not what was written. */
export function unseal(row: Row): Prompt {
  checkSeal(row, SEALED, `the prompt ${row['ask_id']}`);
  return prompts.decode(row);
}

/** The seal that fits a row, whatever seal it has. */
export function sealOfPrompt(row: Row): number {
  return sealOf(SEALED.map((column) => row[column] ?? null));
}

const ALL = statement(() => `SELECT ${SEALED.map((column) => `"${column}"`).join(', ')} FROM prompts`);
const SEAL = statement('UPDATE prompts SET seal = $2 WHERE ask_id = $1');

/** Seals every prompt as it stands: for the migration that brought the seals. */
export async function sealPrompts(sql: Sql): Promise<void> {
  for (const row of await sql.all(ALL, [])) await sql.run(SEAL, [row['ask_id'] ?? null, sealOfPrompt(row)]);
}

/** What `unseal` needs, for a SELECT. */
export const LIST: string = `${prompts.list}, seal`;
