/**
 * The statements of prompts. The compare-and-set that gives each prompt one winner (invariant 2) stands
 * here as `SETTLE`: whoever comes second changes no row.
 */
import type { PromptRecords, StoredOutcome, StoredResponse } from '../../application/ports.ts';
import { type Prompt, URGENCY_RANK, type Via } from '../../domain/prompts.ts';
import { searchText } from '../../domain/text.ts';
import { promptLists } from './prompt-lists.ts';
import { LIST, life, prompts, sealed, unseal } from './prompt-rows.ts';
import { prunePrompts } from './prune.ts';
import { type Row, type Sql, type SqlValue, type Statement, statement } from './sql.ts';

const width = life.columns.length;
const INSERT = statement(() => prompts.insert(['urgency_rank', 'search_text', 'seal']));
const CHANGED = `${life.assignments}, search_text = $${width + 1}, seal = $${width + 2}`;
const UPDATE = statement(() => `UPDATE prompts SET ${CHANGED} WHERE ask_id = $1`);
const SETTLE = statement(
  () => `UPDATE prompts SET ${CHANGED}, status = $${width + 3}, settled_at = $${width + 4}
   WHERE ask_id = $1 AND prompts.status = 'pending'
   AND (CAST($${width + 3} AS TEXT) <> 'responded' OR prompts.expires_at IS NULL OR prompts.expires_at > $${width + 5})`,
);
const GET = statement(() => `SELECT ${LIST} FROM prompts WHERE ask_id = $1`);
const BY_KEY = statement(() => `SELECT ${LIST} FROM prompts WHERE session_id = $1 AND idempotency_key = $2`);
// What never was the agent's is left out.
const OPEN = `session_id = $1 AND collected_at IS NULL
   AND (dialog = 0 OR status IN ('pending', 'responded') OR (late_response IS NOT NULL AND kind = 'question'))`;
// What is settled first: however much is pending, it must not hide an answer.
const OPEN_OF = statement(
  () => `SELECT ${LIST} FROM prompts WHERE ${OPEN}
   ORDER BY CASE WHEN status = 'pending' THEN 1 ELSE 0 END, created_at, ask_id LIMIT $2`,
);
const COUNT_OPEN_OF = statement(
  `SELECT COUNT(*) AS n, SUM(CASE WHEN status = 'pending' THEN 1 ELSE 0 END) AS pending FROM prompts WHERE ${OPEN}`,
);
const CARRIED = statement(
  () => `SELECT ${LIST} FROM prompts WHERE carrier = $1 AND collected_at IS NULL AND handed_at < $2`,
);
const PENDING_OF_TURN = statement(
  () => `SELECT ${LIST} FROM prompts WHERE turn_id = $1 AND status = 'pending' ORDER BY created_at, ask_id`,
);
const DUE = statement(
  () =>
    `SELECT ${LIST} FROM prompts WHERE status = 'pending' AND expires_at IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2`,
);
const NEXT_EXPIRY = statement(
  `SELECT MIN(expires_at) AS expires_at FROM prompts WHERE status = 'pending' AND expires_at IS NOT NULL`,
);
const TO_ESCALATE = statement(
  () => `SELECT ${LIST} FROM prompts WHERE status = 'pending' AND escalates_at IS NOT NULL AND escalated_at IS NULL
   AND escalates_at <= $1 ORDER BY escalates_at LIMIT $2`,
);
const NEXT_ESCALATION = statement(
  `SELECT MIN(escalates_at) AS at FROM prompts WHERE status = 'pending' AND escalates_at IS NOT NULL AND escalated_at IS NULL`,
);
const ESCALATE = statement(
  `UPDATE prompts SET escalated_at = $2 WHERE ask_id = $1 AND status = 'pending' AND escalated_at IS NULL`,
);
const ADD_RESPONSE = statement(
  `INSERT INTO responses (response_id, ask_id, decision, selected, comment, "by", via, responded_at, outcome)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const RESPONSE = statement(
  `SELECT response_id, ask_id, decision, selected, comment, "by", via, responded_at, outcome FROM responses WHERE response_id = $1`,
);
const CLAIM_POPUP = statement(
  `INSERT INTO popups (ask_id, seat, claimed_by, claimed_at, outcome) VALUES ($1, $2, $3, $4, 'claimed') ON CONFLICT (ask_id, seat) DO NOTHING`,
);
const POPUP_OUTCOME = statement(
  `UPDATE popups SET outcome = $3, reason = $4 WHERE ask_id = $1 AND seat = $2 AND outcome = 'claimed'`,
);

const SET_ORPHANED = statement(
  `UPDATE prompts SET orphaned = $2 WHERE session_id = $1 AND collected_at IS NULL AND status = 'pending' AND orphaned <> $2 RETURNING ask_id`,
);
const MOVE = statement(
  `UPDATE prompts SET session_id = $2, agent = $3, orphaned = 0 WHERE session_id = $1 AND collected_at IS NULL RETURNING ask_id`,
);

export function promptStatements(sql: Sql, now: string): PromptRecords {
  async function one(query: Statement, params: SqlValue[]): Promise<Prompt | undefined> {
    const [row] = await sql.all(query, params);
    return row === undefined ? undefined : unseal(row);
  }

  return {
    get: (ask_id) => one(GET, [ask_id]),
    byKey: (session_id, key) => one(BY_KEY, [session_id, key]),
    openOf: async (session_id, limit) => (await sql.all(OPEN_OF, [session_id, limit])).map(unseal),
    async countOpenOf(session_id) {
      const [row] = await sql.all(COUNT_OPEN_OF, [session_id]);
      const pending = Number(row?.['pending'] ?? 0);
      return { settled: Number(row?.['n'] ?? 0) - pending, pending };
    },
    carriedBy: async (carrier, handed_before) =>
      (await sql.all(CARRIED, [carrier, handed_before])).map(unseal),
    pendingOfTurn: async (turn_id) => (await sql.all(PENDING_OF_TURN, [turn_id])).map(unseal),
    due: async (until, limit) => (await sql.all(DUE, [until, limit])).map(unseal),

    ...promptLists(sql, now),

    async nextExpiry() {
      const [row] = await sql.all(NEXT_EXPIRY, []);
      return row?.['expires_at'] === null || row === undefined ? null : String(row['expires_at']);
    },

    toEscalate: async (until, limit) => (await sql.all(TO_ESCALATE, [until, limit])).map(unseal),

    async nextEscalation() {
      const [row] = await sql.all(NEXT_ESCALATION, []);
      return row === undefined || row['at'] === null ? null : String(row['at']);
    },

    escalate: async (ask_id, escalated_at) => (await sql.run(ESCALATE, [ask_id, escalated_at])) === 1,

    async response(response_id) {
      const [row] = await sql.all(RESPONSE, [response_id]);
      return row === undefined ? undefined : toResponse(row);
    },

    async insert(prompt) {
      const encoded = prompts.encode(prompt);
      const rank = URGENCY_RANK[prompt.urgency];
      await sql.run(INSERT, [...encoded, rank, searchable(prompt), sealed(encoded)]);
    },

    async settle(prompt, at) {
      const { status, settled_at } = prompt;
      const params = [...changes(prompt), status, settled_at, at];
      return (await sql.run(SETTLE, params)) === 1;
    },

    async update(prompt) {
      await sql.run(UPDATE, changes(prompt));
    },

    async addResponse(given) {
      const { response_id, ask_id, decision, selected, comment, by, via, responded_at, outcome } = given;
      await sql.run(ADD_RESPONSE, [
        response_id,
        ask_id,
        decision,
        JSON.stringify(selected),
        comment,
        by,
        via,
        responded_at,
        outcome,
      ]);
    },

    async setOrphaned(session_id, orphaned) {
      return (await sql.all(SET_ORPHANED, [session_id, orphaned ? 1 : 0])).map((row) =>
        String(row['ask_id']),
      );
    },

    async move(from, { session_id, handle }) {
      return (await sql.all(MOVE, [from, session_id, handle])).map((row) => String(row['ask_id']));
    },

    ...prunePrompts(sql),

    async claimPopup(ask_id, seat, claimed_by, at) {
      return (await sql.run(CLAIM_POPUP, [ask_id, seat, claimed_by, at])) === 1;
    },

    async setPopupOutcome(ask_id, seat, outcome, reason) {
      return (await sql.run(POPUP_OUTCOME, [ask_id, seat, outcome, reason])) === 1;
    },
  };
}

/** The parameters of an UPDATE. */
function changes(prompt: Prompt): SqlValue[] {
  return [...life.encode(prompt), searchable(prompt), sealed(prompts.encode(prompt))];
}

function searchable(prompt: Prompt): string {
  const { header, question, context, agent, project, decision, comment, late_response } = prompt;
  return searchText(header, question, context, agent, project, decision, comment, late_response?.decision);
}

function toResponse(row: Row): StoredResponse {
  return {
    response_id: String(row['response_id']),
    ask_id: String(row['ask_id']),
    decision: String(row['decision']),
    selected: JSON.parse(String(row['selected'])) as string[],
    comment: row['comment'] === null ? null : String(row['comment']),
    by: String(row['by']),
    via: String(row['via']) as Via,
    responded_at: String(row['responded_at']),
    outcome: String(row['outcome']) as StoredOutcome,
  };
}
