/**
 * Prompts: a question for the human and its life cycle (docs/concepts.md). Also how one is created, claimed, answered
 * and described. Pure: no clock, no ids, no I/O.
 *
 *     pending ──▶ responded | expired | cancelled
 *
 * A prompt leaves `pending` exactly once (invariant 2). Later events are kept in addition and replace nothing: a late answer in
 * `late_response`, the receipts in `offered_at … collected_at`.
 * The field names are the same in the database, on every wire and in Emacs.
 */

import type { Via } from './actors.ts';
import { type Delivery, NO_RECEIPTS, owed, receiptsOf } from './delivery.ts';
import { isBlank, revealed, skeletonOf } from './display.ts';
import { HiveError, invalidInput } from './errors.ts';
import type { EventType, NewEvent } from './events.ts';
import { atMost, bounded, boundedBytes, boundedOptional, required } from './limits.ts';
import type { Session } from './sessions.ts';
import { calledBy, type Source } from './sources.ts';
import { cleanOptional, cleanText, excerpt, LINE_BREAK, quoted } from './text.ts';
import { DAY_MS, timeAfter } from './times.ts';

/** A prompt leaves `pending` once. `expired` and `cancelled` carry no decision. */
export type PromptStatus = 'pending' | 'responded' | 'expired' | 'cancelled';
/** `permission`: may I do this? Only a human, or a rule that the human wrote, answers it. */
export const PROMPT_KINDS = ['question', 'permission'] as const;
export type PromptKind = (typeof PROMPT_KINDS)[number];
/** `low`: no popup. `critical`: breaks through do-not-disturb. */
export const URGENCIES = ['low', 'normal', 'critical'] as const;
export type Urgency = (typeof URGENCIES)[number];
/** Why a prompt was cancelled. `withdrawn`: its asker cancelled it. The last three are the ways a turn ends. */
export type CancelReason =
  | 'withdrawn'
  | 'human'
  | 'answered_elsewhere'
  | 'interrupted'
  | 'replaced'
  | 'unknown';

/** The fate of a question when the turn it was asked in is aborted. A turn that ends normally cancels nothing. */
export const WHEN_TURN_ABORTED = ['stays', 'cancelled_if_interrupted', 'cancelled'] as const;
export type WhenTurnAborted = (typeof WHEN_TURN_ABORTED)[number];

/** One of the answers to choose from. */
export interface PromptOption {
  /** The text of the choice, and the decision; at most 500 characters. */
  label: string;
  /** Its meaning; at most 2,000 characters. */
  description: string | null;
  /** Of a permission: choosing it permits nothing. Missing: it may allow something. */
  refuses?: true;
}

/** A fact that the asker has learned since it asked, and the human should know before answering. */
export interface PromptNote {
  /** At most 2,000 characters. */
  text: string;
  /** When it was added. */
  at: string;
}

/** An answer as it was given. `selected` is always a list; `decision` its labels joined by ", ", or the free text. */
export interface PromptAnswer {
  /** At most 65,536 characters. */
  decision: string;
  /** Labels of the options chosen, in the order of the options; empty for free text. */
  selected: string[];
  /** A comment on the decision; at most 65,536 characters. */
  comment: string | null;
  /** The author of the answer. */
  by: string;
  /** The channel it came through. */
  via: Via;
  /** Whether it was signed with the person's registered key, of a seat or a phone, or was given by the person's rule. */
  attested: boolean;
  /** An answer that is sent repeatedly under this id counts once. */
  response_id: string;
  /** When the answer was given. */
  responded_at: string;
}

/** A question for the human and its history. Times are ISO-8601 UTC with milliseconds; null until they happen. */
export interface Prompt {
  /** Made by Hive. */ ask_id: string;
  /** The session that asked. */ session_id: string;
  /** The asker's handle at the time of asking, as people type it. */
  agent: string;
  /** The asker's present title; null once its session was removed. */
  agent_title: string | null;
  /** Where that session ran. */ source: Source;
  /** Short name of the project, for people; `project_dir` is the identity. */
  project: string;
  /** The git common directory, else the directory of the project. */ project_dir: string;
  /** The turn it was asked in; null if none was known. */ turn_id: string | null;
  /** The sort of question. */ kind: PromptKind;
  /** A few words for the list. */ header: string | null;
  /** The question itself. */ question: string;
  /** Markdown: what the human needs to know to decide. */ context: string | null;
  /** The answers to choose from; empty if it asks for free text only. */ options: PromptOption[];
  /** Notes that the asker has added since, oldest first; at most 10. */ notes: PromptNote[];
  /** Several options may be chosen. */ multi_select: boolean;
  /** The human may write instead of choosing. */ allow_free_text: boolean;
  /** How it is announced. */ urgency: Urgency;
  /** The asker's own name for it. */ label: string | null;
  /** Shared by the questions of one form. */ group_id: string | null;
  /**
   * `cancelled_if_interrupted`: only by an interrupt. `cancelled`: also if its turn is replaced or ends for an unknown reason.
   */
  when_turn_aborted: WhenTurnAborted;
  /** Whether it is a dialog of the agent's own client: not the model asked, and the client receives the answer. */
  dialog: boolean;
  /** The key it was asked under. */ idempotency_key: string | null;
  /**
   * The content that an idempotency key is bound to: the same key with a different fingerprint is a conflict. For a permission
   * of a dialog, the digest of the tool and its input. Empty for all others.
   */
  fingerprint: string;
  /** When it was asked. */ created_at: string;
  /** When it expires; null: never. */ expires_at: string | null;
  /**
   * Since when its agent has been doing nothing until it is settled (waits.ts); null: the agent keeps working. Stays as it is
   * once the prompt is settled.
   */
  blocked_since: string | null;
  /**
   * Since when only its own terminal can answer it, because no hook waits any more for a dialog that its client still shows.
   * Null: it can be answered at a desk.
   */
  terminal_since: string | null;
  /** When to warn the human that it will expire; null: it does not expire, its time is too short, or the warning was given. */
  warns_at: string | null;
  /** The name of the human or team that was asked; null: everybody. */
  to: string | null;
  /** The folded names of the people in `to` (humans.ts). */
  recipients: string[];
  /** When everybody will be asked; null: never. */
  escalates_at: string | null;
  /** When everybody was asked; null: not yet. */ escalated_at: string | null;
  /** Its status. */ status: PromptStatus;
  /** When it left `pending`; null until then. */ settled_at: string | null;
  /** The answer; null while there is none, and for expired and cancelled prompts. */ decision: string | null;
  /** Labels of the options chosen. */ selected: string[];
  /** A comment on the decision. */ comment: string | null;
  /** The actor that settled it. */ by: string | null;
  /** The channel that settled it. */ via: Via | null;
  /** Whether a key of the person signed the answer (PromptAnswer); false while there is none. */ attested: boolean;
  /** Id of the current answer. */ response_id: string | null;
  /** Why it was cancelled; null if it was not. */ cancel_reason: CancelReason | null;
  /** An answer that came after the prompt had expired or was cancelled. */ late_response: PromptAnswer | null;
  /** Its answer was corrected. */ amended: boolean;
  /** Its session is gone; it can still be answered. */
  orphaned: boolean;
  /** The coordinators' sessions that left it to the human. They do not get it again. */ left_by: string[];
  /** Hidden until then. */ snoozed_until: string | null;
  /** The human who has claimed it. */ claimed_by: string | null;
  /** When it was claimed. */ claimed_at: string | null;
  /** When a desk first showed it. */ offered_at: string | null;
  /** When a human opened it. */ seen_at: string | null;
  /** When the answer was given. */ responded_at: string | null;
  /** When the answer was returned or printed to the agent. */ handed_at: string | null;
  /** When there was proof that the agent had read it. */ collected_at: string | null;
  /**
   * The carrier that delivered the answer to the agent (one MCP connection or one hook). Only this carrier can prove that it
   * arrived.
   */
  carrier: string | null;
}

/** Whether the prompt's time has run out. A read can report this before it is stored. */
export function isExpired(prompt: Prompt, now: string): boolean {
  return prompt.status === 'pending' && prompt.expires_at !== null && prompt.expires_at <= now;
}

/**
 * The outcome of an answer. `accepted`: it settled the prompt. `late`: kept with a prompt that was closed without one. `lost`:
 * another answer won.
 */
export type AnswerOutcome = 'accepted' | 'late' | 'lost';

/**
 * Applies an answer to a prompt. The caller applies expiry first (`isExpired`), in the same transaction.
 * A late answer clears the delivery receipts, because the agent may have read "expired" and must now read the answer.
 */
export function respondPrompt(
  prompt: Prompt,
  answer: PromptAnswer,
): { prompt: Prompt; outcome: AnswerOutcome } {
  if (prompt.status === 'pending') {
    return {
      outcome: 'accepted',
      prompt: { ...prompt, ...answer, status: 'responded', settled_at: answer.responded_at },
    };
  }
  if (prompt.status === 'responded' || prompt.late_response !== null) return { prompt, outcome: 'lost' };
  return {
    outcome: 'late',
    prompt: { ...prompt, late_response: answer, ...NO_RECEIPTS },
  };
}

/** Expires a prompt. It carries no decision (invariant 3). A settled prompt is returned unchanged. */
export function expirePrompt(prompt: Prompt, now: string): Prompt {
  return prompt.status === 'pending'
    ? { ...prompt, status: 'expired', settled_at: now, via: 'clock' }
    : prompt;
}

/**
 * Leaves a dialog to its terminal, because an answer from elsewhere could no longer reach it. A settled prompt, or one that is
 * not a dialog, is returned unchanged.
 */
export function leavePromptToTerminal(prompt: Prompt, now: string): Prompt {
  const { status, dialog, terminal_since } = prompt;
  return status === 'pending' && dialog && terminal_since === null
    ? { ...prompt, terminal_since: now }
    : prompt;
}

/** Why a dialog can only be answered in its terminal, as a sentence; null if it can be answered elsewhere. */
export function refusalOfTerminal(prompt: Prompt): string | null {
  const { ask_id, status, terminal_since } = prompt;
  return status !== 'pending' || terminal_since === null
    ? null
    : `${ask_id} waits in the terminal of ${calledBy(prompt)} and can no longer be answered from here. Answer it there.`;
}

/** Cancels a prompt. It carries no decision (invariant 3). A settled prompt is returned unchanged. */
export function cancelPrompt(
  prompt: Prompt,
  { by, via, reason: cancel_reason }: { by: string; via: Via; reason: CancelReason },
  now: string,
): Prompt {
  return prompt.status === 'pending'
    ? { ...prompt, status: 'cancelled', settled_at: now, by, via, cancel_reason }
    : prompt;
}

/**
 * Corrects an answer. Only its author may, and only until it was handed to the agent (invariant 5).
 * @throws HiveError `prompt_not_amendable` that says why not.
 */
export function amendPrompt(prompt: Prompt, answer: PromptAnswer): Prompt {
  const answered = prompt.status === 'responded' ? prompt : prompt.late_response;
  if (answered === null)
    throw notAmendable(prompt, `it is ${prompt.status}, not answered; answer it instead`);
  if (prompt.handed_at !== null)
    throw notAmendable(prompt, `its answer was handed to ${calledBy(prompt)} at ${prompt.handed_at}`);
  if (answered.by !== answer.by) throw notAmendable(prompt, `its answer is ${answered.by}'s`);
  if (prompt.status !== 'responded') return { ...prompt, late_response: answer, amended: true };
  return { ...prompt, ...answer, amended: true };
}

function notAmendable(prompt: Prompt, why: string): HiveError {
  return new HiveError('prompt_not_amendable', `The answer to ${prompt.ask_id} cannot be amended: ${why}.`, {
    ask_id: prompt.ask_id,
  });
}

/**
 * Adds a note to a prompt. Only its asker may, and only while it is pending. A settled prompt is returned unchanged, and
 * so is one that already has this note, because the call may have been repeated. A permission accepts no notes: what is
 * approved must be what was displayed.
 * @throws HiveError `not_allowed`, `invalid_input`.
 */
export function notePrompt(
  prompt: Prompt,
  asker: Pick<Asker, 'session_id'>,
  note: string,
  now: string,
): Prompt {
  const { ask_id, agent, notes } = prompt;
  const text = required('note', note, PROMPT_LIMITS.note).trim();
  if (prompt.session_id !== asker.session_id)
    throw new HiveError(
      'not_allowed',
      `${ask_id} is a question of ${agent}: only its asker adds notes to it.`,
      { ask_id },
    );
  if (prompt.dialog || prompt.kind === 'permission')
    throw new HiveError(
      'not_allowed',
      `${ask_id} asks for a permission or comes from a dialog of your client, and is answered as it was asked. If it no longer says what you want, cancel it and ask again.`,
      { ask_id },
    );
  if (prompt.status !== 'pending' || notes.some((one) => one.text === text)) return prompt;
  if (notes.length >= PROMPT_LIMITS.notes)
    throw invalidInput(
      `${ask_id} has ${notes.length} notes, and can have no more: cancel the question and ask again with all that you know.`,
      { ask_id },
    );
  return { ...prompt, notes: [...notes, { text, at: now }] };
}

/**
 * The notes that the person who answered may not have read. A claim records when they opened the question, and thus which notes
 * they saw. A popup or a command line records no such time.
 */
function unreadNotes({ status, notes, by, claimed_by, claimed_at }: Prompt): PromptNote[] {
  if (status !== 'responded') return [];
  const opened_at = claimed_by === by ? claimed_at : null;
  return notes.filter(({ at }) => opened_at === null || at >= opened_at);
}

/** More urgent prompts have a smaller rank. */
const URGENCY_RANK: Readonly<Record<Urgency, number>> = { critical: 0, normal: 1, low: 2 };

/** Sorts after every time. */
const NEVER = '9';

/**
 * The unique sort key of a pending prompt in every list, compared by characters. First come prompts that block their agent, then
 * the more urgent ones, then those that expire sooner, then the older ones.
 */
export function orderKey(
  prompt: Pick<Prompt, 'ask_id' | 'blocked_since' | 'urgency' | 'expires_at' | 'created_at'>,
): string {
  const { ask_id, blocked_since, urgency, expires_at, created_at } = prompt;
  const blocked = blocked_since === null ? 1 : 0;
  return `${blocked}${URGENCY_RANK[urgency]} ${expires_at ?? NEVER} ${created_at} ${ask_id}`;
}

/** The delivery of a prompt's settlement to its asker. */
export function deliveryOf(prompt: Prompt): Delivery {
  return { ...owed('prompt', prompt.ask_id, prompt.session_id), ...receiptsOf(prompt) };
}

/**
 * Whether reading the prompt in this session delivers it to the asker. That is so for the asker itself, and for the session whose
 * subagent asked. Others who know the id, such as a fork, may read it, but that is not a delivery: an ended asker may be resumed.
 */
export function isReceiver(prompt: Prompt, session_id: string): boolean {
  const asker = prompt.session_id;
  return (
    asker === session_id ||
    asker.startsWith(`${session_id}:`) ||
    // A caller without an identity is a new session with each connection, so the ask_id is all it has.
    asker.startsWith('connection-') ||
    (prompt.orphaned && asker.includes(':connection-'))
  );
}

/** Whether the prompt has a settlement or late answer that the agent has not provably read. */
export function isUncollected(prompt: Prompt): boolean {
  return prompt.status !== 'pending' && prompt.collected_at === null && concernsAgent(prompt);
}

/** The prefix of the key of a request for the coordinator role (coordinators.ts). */
export const ROLE_KEY = 'coordinator:';

/** Whether a prompt asks for the coordinator role. Its current answer always counts, so it can be corrected at any time. */
export function asksForRole({ kind, idempotency_key }: Pick<Prompt, 'kind' | 'idempotency_key'>): boolean {
  return kind === 'permission' && idempotency_key?.startsWith(ROLE_KEY) === true;
}

/**
 * Whether the agent must read the outcome. A dialog without an answer concerns only the client, and a late permission is useless.
 * The answer to a request for the coordinator role is looked up at each use, so it is never handed over.
 */
function concernsAgent(prompt: Prompt): boolean {
  const { dialog, status, kind, late_response } = prompt;
  if (asksForRole(prompt)) return false;
  return !dialog || status === 'responded' || (late_response !== null && kind === 'question');
}

// ---- Claims ----
// A claim names the human who is about to answer, so that others need not. It is advisory: it never prevents another answer from
// settling the prompt, and it lapses with the desk that holds it.

/**
 * Claims a prompt for `by`. The first claim wins: it does not change while `holder`, the live desk that holds it, is another
 * desk. The same human claims it again for notes that were added since. A settled prompt is returned unchanged.
 */
export function claimPrompt(prompt: Prompt, by: string, holder: string | null, now: string): Prompt {
  const { status, notes, claimed_by, claimed_at } = prompt;
  if (status !== 'pending') return prompt;
  if (claimed_by === by && notes.every(({ at }) => at < (claimed_at ?? now))) return prompt;
  if (claimed_by !== null && claimed_by !== by && holder !== null) return prompt;
  return { ...prompt, claimed_by: by, claimed_at: now };
}

/** The prompt after a coordinator has left it to the human. A settled prompt is returned unchanged. */
export function leavePromptToHuman(prompt: Prompt, session_id: string): Prompt {
  return prompt.status !== 'pending' || prompt.left_by.includes(session_id)
    ? prompt
    : { ...prompt, left_by: [...prompt.left_by, session_id] };
}

/** Releases the claim. A settled prompt keeps its claimant for the record. */
export function releasePrompt(prompt: Prompt): Prompt {
  return prompt.status !== 'pending' || prompt.claimed_by === null
    ? prompt
    : { ...prompt, claimed_by: null, claimed_at: null };
}

// ---- Limits ----
// How long a prompt and its answer may be, and how long a question may wait.

/** Limits on input, in characters unless the name says bytes or ms; the zod shapes use the same numbers. */
export const PROMPT_LIMITS = {
  question: 8_000,
  header: 200,
  contextBytes: 64 * 1024,
  note: 2_000,
  notes: 10,
  options: 20,
  optionLabel: 500,
  optionDescription: 2_000,
  decision: 64 * 1024,
  comment: 64 * 1024,
  key: 200,
  minTimeoutMs: 1_000,
  maxTimeoutMs: 30 * DAY_MS,
} as const;

/**
 * At most this many open prompts of one session are read at once: settled ones first, then the oldest. Later reads return the
 * rest.
 */
export const OPEN_LIMIT = 200;

/** The default wait of a blocking ask, and the longest: a day, which agents can wait and a timer can count. */
export const BLOCKING_DEFAULT_MS = 300_000;
export const LONGEST_BLOCKING_MS: number = DAY_MS;

/**
 * The time `ms` milliseconds after `now`.
 * @throws HiveError `invalid_input` that names the field, for less than 1 s or more than 30 days.
 */
export function deadlineOf(field: string, ms: number, now: string): string {
  const { minTimeoutMs, maxTimeoutMs } = PROMPT_LIMITS;
  if (!Number.isFinite(ms) || ms < minTimeoutMs || ms > maxTimeoutMs) {
    throw invalidInput(
      `${field} is ${ms}: it must be between ${minTimeoutMs} (1 s) and ${maxTimeoutMs} (30 days). Leave it out to wait for ever.`,
      { field },
    );
  }
  return timeAfter(now, Math.round(ms));
}

/** The human is warned when this part of the time has passed. */
const WARN_AT = 0.8;
/** In ms. With a shorter time limit, a warning would come too late to be useful. */
const SHORTEST_WARNED_MS = 60_000;

/** When the human is warned that a question with this time limit will expire; null if they are not. */
function warningBefore(timeout_ms: number | null, now: string): string | null {
  return timeout_ms === null || timeout_ms < SHORTEST_WARNED_MS
    ? null
    : deadlineOf('timeout_ms', timeout_ms * WARN_AT, now);
}

// ---- Sentences for the asker ----
// The outcome of a question, worded alike in a hook's context and in a guard's reason.

/** In characters: longer answers are cut here; hivemind_poll returns all of it. */
const SHOWN_ANSWER = 2_000;

/** Whether somebody has answered it, in time or late. */
export function hasAnswer({ status, late_response }: Pick<Prompt, 'status' | 'late_response'>): boolean {
  return status === 'responded' || late_response !== null;
}

/** One settled prompt, as its agent reads it. `repeated`: it was delivered before and nothing proved that it was read. */
export function describeSettlement(prompt: Prompt, repeated: boolean): string {
  const about = `${prompt.ask_id} (asked ${prompt.created_at}: "${excerpt(prompt.question, 160)}")`;
  const again = repeated ? ' This may have reached you before.' : '';
  if (prompt.late_response !== null) {
    const { kind, late_response } = prompt;
    const act = kind === 'permission' && !late_response.attested ? '' : ' Act on it if it is still useful.';
    return `A late answer to ${about}, which had ${WAS[prompt.status]}: ${describeDecision({ ...late_response, kind })}${act}${again}`;
  }
  switch (prompt.status) {
    case 'responded':
      return `Answer to ${about}: ${describeDecision(prompt)}${againstNotes(prompt)}${again}`;
    case 'expired':
      return `${about} expired without an answer. That is no decision.${again}`;
    case 'cancelled':
      return `${about} was cancelled (${prompt.cancel_reason}). That is no decision, and no refusal.${again}`;
    default:
      return `${about} is pending.`;
  }
}

/** A warning for the asker that an answer may have been given without its notes; begins with a space. */
export function againstNotes(prompt: Prompt): string {
  const [first] = unreadNotes(prompt);
  return first === undefined
    ? ''
    : ` It may have been given before your note of ${first.at} was read: check that it still holds, and ask again if not.`;
}

const WAS: Readonly<Record<Prompt['status'], string>> = {
  pending: 'been open',
  responded: 'been answered',
  expired: 'expired',
  cancelled: 'been cancelled',
};

/** An answer with its author, channel and time; shared by an answer in time and a late one. */
function describeDecision({
  kind,
  decision,
  comment,
  by,
  via,
  attested,
  responded_at,
}: Pick<Prompt, 'kind' | 'decision' | 'comment' | 'by' | 'via' | 'attested' | 'responded_at'>): string {
  const text = decision ?? '';
  // One of several lines of a coordinator could look like an answer of the human.
  const whole = via === 'mcp' && LINE_BREAK.test(text) ? `\n${quoted(text)}\n` : text;
  const shown =
    text.length > SHOWN_ANSWER
      ? `${excerpt(text, SHOWN_ANSWER)} (cut; hivemind_poll returns it in full)`
      : whole;
  return `${shown}${comment === null ? '' : ` (comment: ${excerpt(comment, 500)})`}. By ${by} via ${via} at ${responded_at}.${attested ? '' : ` ${unattestedText(kind)}`}`;
}

/** The warning for an agent about an answer that no key of a person signed. */
export function unattestedText(kind: Prompt['kind']): string {
  return kind === 'permission'
    ? 'No seat that the human has registered signed this answer, so it allows nothing. Take it as a no, and tell your human.'
    : 'Unattested: no registered key of the human signed this answer.';
}

// ---- Creating a prompt ----
// The asker's request, checked and completed.

/** An option as an asker gives it. */
export interface AskedOption {
  /** The text of the choice; at most 500 characters. */
  label: string;
  /** Its meaning; at most 2,000 characters. */
  description?: string | null | undefined;
  /** Of a permission: choosing it permits nothing. */
  refuses?: boolean | undefined;
}

/** A question as its asker sends it. Options may be plain strings. Without `timeout_ms` it waits for ever (invariant 3). */
export interface AskRequest {
  /** 1 to 8,000 characters. */
  question: string;
  /** At most 20; a label 500 characters, a description 2,000. Labels differ. */
  options?: readonly (string | AskedOption)[] | undefined;
  /** Several options may be chosen; default false. */
  multi_select?: boolean | undefined;
  /** The human may write instead of choosing; default true. Needed where there are no options. */
  allow_free_text?: boolean | undefined;
  /** A few words for the list; at most 200 characters. */
  header?: string | null | undefined;
  /** Markdown, at most 64 KiB: what the human needs to know to decide. */
  context?: string | null | undefined;
  /** Default `question`. */
  kind?: PromptKind | undefined;
  /** Default `normal`. */
  urgency?: Urgency | undefined;
  /** Milliseconds until it expires, 1,000 (1 s) to 2,592,000,000 (30 days); missing: it waits for ever. */
  timeout_ms?: number | null | undefined;
  /** Asking again under the same key returns the same prompt; at most 200 characters. */
  idempotency_key?: string | null | undefined;
  /** Shared by several questions of one form; at most 200 characters. */
  group_id?: string | null | undefined;
  /** Its fate when its turn is aborted; default `cancelled_if_interrupted`. */
  when_turn_aborted?: WhenTurnAborted | undefined;
  /** A name of the asker's own, never an identity; at most 200 characters. */
  label?: string | null | undefined;
  /** The name of a human or a team; missing: everybody. */
  to?: string | null | undefined;
  /**
   * After this many milliseconds, 1,000 to 2,592,000,000, everybody is asked; missing: the team's setting, else never. Only
   * with `to`.
   */
  escalate_after_ms?: number | null | undefined;
}

/** The asker, with its project. The application resolves it; it is never taken from the request. */
export type Asker = Pick<
  Prompt,
  'session_id' | 'agent' | 'agent_title' | 'source' | 'project' | 'project_dir' | 'turn_id'
>;

/** A session as the asker of a prompt in a turn. */
export function askerOf(
  {
    session_id,
    handle: agent,
    title: agent_title,
    source,
    project,
    project_dir,
  }: Pick<Session, 'session_id' | 'handle' | 'title' | 'source' | 'project' | 'project_dir'>,
  turn_id: string | null,
): Asker {
  return { session_id, agent, agent_title, source, project, project_dir, turn_id };
}

/** An event about a prompt. */
export function promptEvent(
  type: EventType,
  { session_id, ask_id, status }: Prompt,
  data: NewEvent['data'] = {},
): NewEvent {
  return { type, session_id, subject: ask_id, data: { status, ...data } };
}

/** Labels that clearly refuse: in a permission that an agent itself asks, these options permit nothing. */
const PLAIN_REFUSALS: ReadonlySet<string> = new Set(['abort', 'cancel', 'deny', 'no', 'reject']);

/** Whether this label by itself means a refusal. */
export function isPlainRefusal(label: string): boolean {
  return PLAIN_REFUSALS.has(label.trim().toLowerCase());
}

/** The options of a permission whose asker names none. */
const ALLOW_OR_DENY: readonly AskedOption[] = [{ label: 'Allow' }, { label: 'Deny' }];

/** The label of an option as it is stored, and as an answer names it. */
export function keptLabel(label: string): string {
  return cleanText(label).trim();
}

function normalizeOptions({ options: asked, kind }: Pick<AskRequest, 'options' | 'kind'>): PromptOption[] {
  // A program without types may give null for none.
  const some = asked ?? [];
  const given = kind === 'permission' && some.length === 0 ? ALLOW_OR_DENY : some;
  const options = atMost('options', given, PROMPT_LIMITS.options).map((option): PromptOption => {
    const { label, description, refuses }: AskedOption =
      typeof option === 'string' ? { label: option } : option;
    const isRefusal = kind === 'permission' && (refuses ?? isPlainRefusal(label));
    return {
      label: keptLabel(bounded('label of an option', label, PROMPT_LIMITS.optionLabel)),
      description: boundedOptional('description of an option', description, PROMPT_LIMITS.optionDescription),
      ...(isRefusal ? { refuses: true } : {}),
    };
  });
  const labels = new Set<string>();
  for (const { label } of options) {
    if (isBlank(label))
      throw invalidInput('An option has an empty label: give each option a text.', { field: 'options' });
    if (labels.has(label))
      throw invalidInput(`The option "${label}" is given twice: labels must differ.`, { field: 'options' });
    labels.add(label);
  }
  refuseLookAlikes(options);
  return options;
}

/** Refuses two options that look the same, between which a person could not choose. */
function refuseLookAlikes(options: readonly PromptOption[]): void {
  const seen = new Map<string, string>();
  for (const { label } of options) {
    const skeleton = skeletonOf(label);
    const twin = seen.get(skeleton);
    if (twin !== undefined)
      throw invalidInput(
        `The options "${revealed(twin)}" and "${revealed(label)}" look alike: give labels that a person can tell apart.`,
        { field: 'options' },
      );
    seen.set(skeleton, label);
  }
}

/** A request whose texts were checked and cleaned. */
export type CheckedRequest = Pick<
  Prompt,
  | 'kind'
  | 'header'
  | 'question'
  | 'context'
  | 'options'
  | 'multi_select'
  | 'allow_free_text'
  | 'urgency'
  | 'label'
  | 'group_id'
  | 'when_turn_aborted'
  | 'idempotency_key'
> &
  Pick<AskRequest, 'timeout_ms' | 'to' | 'escalate_after_ms'>;

/**
 * Checks and cleans a request. This reads all of its texts, so it is done before the transaction that stores the prompt.
 * @throws HiveError `invalid_input` with a sentence that names the field and its bound.
 */
export function checkRequest(request: AskRequest): CheckedRequest {
  const question = bounded('question', request.question, PROMPT_LIMITS.question);
  if (isBlank(question))
    throw invalidInput('The question is empty: say what you want to know.', { field: 'question' });
  const context = cleanOptional(request.context);
  if (context !== null) boundedBytes('context', context, PROMPT_LIMITS.contextBytes);
  const options = normalizeOptions(request);
  const multi_select = request.multi_select ?? false;
  const allow_free_text = request.allow_free_text ?? true;
  if (options.length === 0 && !allow_free_text) {
    throw invalidInput(
      'Without options and without free text nobody could answer: give options, or leave allow_free_text on.',
      {
        field: 'options',
      },
    );
  }
  const { timeout_ms, to, escalate_after_ms } = request;
  return {
    kind: oneOf('kind', request.kind ?? 'question', PROMPT_KINDS),
    header: boundedOptional('header', request.header, PROMPT_LIMITS.header),
    question,
    context,
    options,
    multi_select,
    allow_free_text,
    urgency: oneOf('urgency', request.urgency ?? 'normal', URGENCIES),
    label: boundedOptional('label', request.label, PROMPT_LIMITS.key),
    group_id: boundedOptional('group_id', request.group_id, PROMPT_LIMITS.key),
    when_turn_aborted: oneOf(
      'when_turn_aborted',
      request.when_turn_aborted ?? 'cancelled_if_interrupted',
      WHEN_TURN_ABORTED,
    ),
    idempotency_key: boundedOptional('idempotency_key', request.idempotency_key, PROMPT_LIMITS.key),
    timeout_ms,
    to,
    escalate_after_ms,
  };
}

/** No compiler checks a program in JavaScript. */
function oneOf<T extends string>(field: string, given: T, values: readonly T[]): T {
  if (values.includes(given)) return given;
  throw invalidInput(`${field} is "${given}": it must be one of ${values.join(', ')}.`, { field });
}

/** Whether a question of a client can become a prompt. If not, only the client asks it. */
export function canBePrompt(request: AskRequest): boolean {
  return passes(() => checkRequest(request));
}

/** Whether a prompt can have these options: none is too long or empty, and all of them can be told apart. */
export function canBeOptions(options: NonNullable<AskRequest['options']>): boolean {
  return passes(() => normalizeOptions({ options }));
}

function passes(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof HiveError && error.code === 'invalid_input') return false;
    throw error;
  }
}

/**
 * A new pending prompt. `address` is the resolved `to`.
 * @throws HiveError `invalid_input` for a time that is out of bounds.
 */
export function createPrompt(
  { timeout_ms, to: _to, escalate_after_ms: _after, ...checked }: CheckedRequest,
  asker: Asker,
  ask_id: string,
  now: string,
  address: Address = EVERYBODY,
): Prompt {
  const prompt: Prompt = {
    ask_id,
    ...asker,
    ...checked,
    notes: [],
    dialog: false,
    fingerprint: '',
    created_at: now,
    blocked_since: null,
    terminal_since: null,
    expires_at: timeout_ms == null ? null : deadlineOf('timeout_ms', timeout_ms, now),
    warns_at: warningBefore(timeout_ms ?? null, now),
    to: address.to,
    recipients: address.recipients,
    escalates_at: address.escalates_at,
    escalated_at: null,
    status: 'pending',
    settled_at: null,
    decision: null,
    selected: [],
    comment: null,
    by: null,
    via: null,
    attested: false,
    response_id: null,
    cancel_reason: null,
    late_response: null,
    amended: false,
    orphaned: false,
    left_by: [],
    snoozed_until: null,
    claimed_by: null,
    claimed_at: null,
    offered_at: null,
    seen_at: null,
    responded_at: null,
    ...NO_RECEIPTS,
  };
  // The fingerprint repeats question and context, so it is kept only if it will be compared.
  return prompt.idempotency_key === null ? prompt : { ...prompt, fingerprint: fingerprintOf(prompt) };
}

/** The fields that must be equal for two asks under one idempotency key to be the same ask. */
function fingerprintOf(prompt: Prompt): string {
  const { question, context, options, multi_select, allow_free_text, kind, header, recipients } = prompt;
  return JSON.stringify([
    kind,
    header,
    question,
    context,
    options.map((o) => [o.label, o.description]),
    multi_select,
    allow_free_text,
    ...recipients.slice(0, 1),
  ]);
}

// ---- Resolving an answer ----
// The answer, checked against the options.

/** An answer of a human, a popup or a rule. `selected` wins over `decision` when both are given. */
export interface AnswerRequest {
  /** The label of an option, or free text; at most 65,536 characters. */
  decision?: string | null | undefined;
  /** Labels of the options chosen; more than one only where the prompt says `multi_select`. */
  selected?: readonly string[] | null | undefined;
  /** A comment on the decision; at most 65,536 characters. */
  comment?: string | null | undefined;
}

/**
 * The answer as it will be stored.
 * @throws HiveError `invalid_answer` when it is empty, names an unknown option, or is free text although that is off.
 */
export function resolveAnswer(
  prompt: Prompt,
  request: AnswerRequest,
  stamp: Pick<PromptAnswer, 'by' | 'via' | 'attested' | 'response_id' | 'responded_at'>,
): PromptAnswer {
  const comment = boundedOptional('comment', request.comment, PROMPT_LIMITS.comment);
  const labels = prompt.options.map((option) => option.label);
  const selected = [...new Set((request.selected ?? []).map((given) => matching(labels, cleanText(given))))];
  if (selected.length > 0) {
    const unknown = selected.find((label) => !labels.includes(label));
    if (unknown !== undefined)
      throw invalidAnswer(prompt, `"${excerpt(unknown, EXCERPT_LENGTH)}" is none of the options`);
    if (selected.length > 1 && !prompt.multi_select)
      throw invalidAnswer(prompt, 'only one option can be chosen');
    const inOrder = labels.filter((label) => selected.includes(label));
    return { decision: inOrder.join(', '), selected: inOrder, comment, ...stamp };
  }
  const decision = bounded('answer', request.decision ?? '', PROMPT_LIMITS.decision);
  if (isBlank(decision)) throw invalidAnswer(prompt, 'the answer is empty');
  const label = matching(labels, decision);
  if (labels.includes(label)) return { decision: label, selected: [label], comment, ...stamp };
  if (!prompt.allow_free_text)
    throw invalidAnswer(
      prompt,
      `"${excerpt(decision, EXCERPT_LENGTH)}" is none of the options and free text is off`,
    );
  return { decision, selected: [], comment, ...stamp };
}

/**
 * The label that an answer means. Labels are trimmed when a question is asked, so white space around the answer is ignored. An
 * answer that matches no label is returned as given.
 */
function matching(labels: readonly string[], given: string): string {
  return labels.includes(given) ? given : (labels.find((label) => label === given.trim()) ?? given);
}

/** How many characters of a refused answer, or of an offered label, an error message quotes. */
const EXCERPT_LENGTH = 100;

function invalidAnswer(prompt: Prompt, why: string): HiveError {
  const offered = prompt.options.map((option) => `"${excerpt(option.label, EXCERPT_LENGTH)}"`).join(', ');
  return new HiveError(
    'invalid_answer',
    `The answer to ${prompt.ask_id} was not accepted: ${why}.${offered === '' ? '' : ` Offered: ${offered}.`}`,
    {
      ask_id: prompt.ask_id,
      options: prompt.options.map((option) => option.label),
    },
  );
}

export type Address = Pick<Prompt, 'to' | 'recipients' | 'escalates_at'>;

/** The address when nobody is named. */
export const EVERYBODY: Readonly<Address> = { to: null, recipients: [], escalates_at: null };
