/**
 * Prompts: a question for the human and its life (ADR-003). Pure: no clock, no ids, no I/O.
 *
 *     pending ──▶ responded | expired | cancelled
 *
 * A prompt leaves `pending` exactly once (invariant 2). What comes after that is kept beside it, never
 * instead of it: a late answer in `late_response`, the receipts in `offered_at … collected_at`.
 * The field names are the same in the database, on every wire and in Emacs.
 */
import { HiveError, invalidInput } from './errors.ts';
import type { Source } from './sources.ts';
import { characterCount, cleanOptional, cleanText, excerpt, isBlank } from './text.ts';

export type PromptStatus = 'pending' | 'responded' | 'expired' | 'cancelled';
export type PromptKind = 'question' | 'permission';
export type Urgency = 'low' | 'normal' | 'critical';
/** Through what somebody acted (invariant 8). */
export type Via =
  | 'emacs'
  | 'notification'
  | 'cli'
  | 'mcp'
  | 'hook'
  | 'terminal'
  | 'rule'
  | 'library'
  | 'clock';
/** Why a prompt was cancelled. `withdrawn`: the asker took it back. The others name what a turn's end does. */
export type CancelReason =
  | 'withdrawn'
  | 'human'
  | 'answered_elsewhere'
  | 'interrupted'
  | 'replaced'
  | 'unknown';

export interface PromptOption {
  label: string;
  description: string | null;
}

/** An answer as it was given. `selected` is always a list; `decision` its labels joined by ", ", or the free text. */
export interface PromptAnswer {
  decision: string;
  selected: string[];
  comment: string | null;
  by: string;
  via: Via;
  response_id: string;
  responded_at: string;
}

/** Times are ISO-8601 UTC with milliseconds. */
export interface Prompt {
  ask_id: string;
  session_id: string;
  /** The asker's handle at the time of asking, as people type it. */
  agent: string;
  source: Source;
  /** Short name of the project, for people; `project_dir` is the identity. */
  project: string;
  project_dir: string;
  turn_id: string | null;
  kind: PromptKind;
  header: string | null;
  question: string;
  context: string | null;
  options: PromptOption[];
  multi_select: boolean;
  allow_free_text: boolean;
  urgency: Urgency;
  label: string | null;
  group_id: string | null;
  /** `turn`: falls when its turn is interrupted, replaced or ends unknown. */
  bind: 'turn' | null;
  /** Stays pending even when its turn is interrupted. */
  survives_turn: boolean;
  /** Stands for a dialog of the agent's own client, which takes the answer: the model did not ask. */
  dialog: boolean;
  idempotency_key: string | null;
  /** What the idempotency key stands for: a key with another fingerprint is a conflict. Empty without a key. */
  fingerprint: string;
  created_at: string;
  expires_at: string | null;
  status: PromptStatus;
  settled_at: string | null;
  decision: string | null;
  selected: string[];
  comment: string | null;
  by: string | null;
  via: Via | null;
  response_id: string | null;
  cancel_reason: CancelReason | null;
  late_response: PromptAnswer | null;
  amended: boolean;
  /** Its session is gone; still answerable. */
  orphaned: boolean;
  snoozed_until: string | null;
  claimed_by: string | null;
  claimed_at: string | null;
  offered_at: string | null;
  seen_at: string | null;
  responded_at: string | null;
  handed_at: string | null;
  collected_at: string | null;
  /** What carried the answer into the agent (one MCP connection, one hook): only it can prove that it arrived. */
  carrier: string | null;
}

/** Bounds of what comes in, in characters unless named otherwise; the zod shapes use the same numbers. */
export const PROMPT_LIMITS: Readonly<
  Record<
    | 'question'
    | 'header'
    | 'contextBytes'
    | 'options'
    | 'optionLabel'
    | 'optionDescription'
    | 'decision'
    | 'comment'
    | 'key'
    | 'minTimeoutMs'
    | 'maxTimeoutMs',
    number
  >
> = {
  question: 8_000,
  header: 200,
  contextBytes: 64 * 1024,
  options: 20,
  optionLabel: 500,
  optionDescription: 2_000,
  decision: 64 * 1024,
  comment: 64 * 1024,
  key: 200,
  minTimeoutMs: 1_000,
  maxTimeoutMs: 30 * 24 * 60 * 60 * 1000,
};

/** What an asker gives. Options may be plain strings. `timeout_ms` missing: wait for ever (invariant 3). */
export interface AskRequest {
  question: string;
  options?: readonly (string | { label: string; description?: string | null | undefined })[] | undefined;
  multi_select?: boolean | undefined;
  allow_free_text?: boolean | undefined;
  header?: string | null | undefined;
  context?: string | null | undefined;
  kind?: PromptKind | undefined;
  urgency?: Urgency | undefined;
  timeout_ms?: number | null | undefined;
  idempotency_key?: string | null | undefined;
  group_id?: string | null | undefined;
  bind?: 'turn' | null | undefined;
  survives_turn?: boolean | undefined;
  label?: string | null | undefined;
}

/** Who asks, from where: resolved by the application, never taken from the request. */
export interface Asker {
  session_id: string;
  agent: string;
  source: Source;
  project: string;
  project_dir: string;
  turn_id: string | null;
}

/** What a human, a popup or a rule answers. `selected` wins over `decision` where both are given. */
export interface AnswerRequest {
  decision?: string | null | undefined;
  selected?: readonly string[] | null | undefined;
  comment?: string | null | undefined;
}

function bounded(field: string, text: string, limit: number): string {
  if (text.length > limit && characterCount(text) > limit) {
    throw invalidInput(`The ${field} is too long: at most ${limit.toLocaleString('en')} characters.`, {
      field,
    });
  }
  return cleanText(text);
}

function boundedOptional(field: string, text: string | null | undefined, limit: number): string | null {
  return text === null || text === undefined ? null : cleanOptional(bounded(field, text, limit));
}

function normalizeOptions(given: AskRequest['options']): PromptOption[] {
  const options = (given ?? []).map((option) => {
    const { label, description } = typeof option === 'string' ? { label: option, description: null } : option;
    return {
      label: bounded('label of an option', label, PROMPT_LIMITS.optionLabel).trim(),
      description: boundedOptional('description of an option', description, PROMPT_LIMITS.optionDescription),
    };
  });
  if (options.length > PROMPT_LIMITS.options) {
    throw invalidInput(
      `There are ${options.length} options: at most ${PROMPT_LIMITS.options} are possible.`,
      { field: 'options' },
    );
  }
  const labels = new Set<string>();
  for (const { label } of options) {
    if (isBlank(label))
      throw invalidInput('An option has an empty label: give each option a text.', { field: 'options' });
    if (labels.has(label))
      throw invalidInput(`The option "${label}" stands twice: labels must differ.`, { field: 'options' });
    labels.add(label);
  }
  return options;
}

function expiryOf(timeout_ms: number | null | undefined, now: string): string | null {
  if (timeout_ms === null || timeout_ms === undefined) return null;
  const { minTimeoutMs, maxTimeoutMs } = PROMPT_LIMITS;
  if (!Number.isFinite(timeout_ms) || timeout_ms < minTimeoutMs || timeout_ms > maxTimeoutMs) {
    throw invalidInput(
      `timeout_ms is ${timeout_ms}: it must lie between ${minTimeoutMs} (1 s) and ${maxTimeoutMs} (30 days). Leave it out to wait for ever.`,
      { field: 'timeout_ms' },
    );
  }
  return new Date(Date.parse(now) + Math.round(timeout_ms)).toISOString();
}

/**
 * A new pending prompt.
 * @throws HiveError `invalid_input` with a sentence that names the field and its bound.
 */
export function createPrompt(request: AskRequest, asker: Asker, ask_id: string, now: string): Prompt {
  const question = bounded('question', request.question, PROMPT_LIMITS.question);
  if (isBlank(question))
    throw invalidInput('The question is empty: say what you want to know.', { field: 'question' });
  const context = cleanOptional(request.context);
  if (context !== null && Buffer.byteLength(context) > PROMPT_LIMITS.contextBytes) {
    throw invalidInput('The context is too long: at most 64 KB. Put the rest into a file and name it.', {
      field: 'context',
    });
  }
  const options = normalizeOptions(request.options);
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
  const prompt: Prompt = {
    ask_id,
    ...asker,
    kind: request.kind ?? 'question',
    header: boundedOptional('header', request.header, PROMPT_LIMITS.header),
    question,
    context,
    options,
    multi_select,
    allow_free_text,
    urgency: request.urgency ?? 'normal',
    label: boundedOptional('label', request.label, PROMPT_LIMITS.key),
    group_id: boundedOptional('group_id', request.group_id, PROMPT_LIMITS.key),
    bind: request.bind ?? null,
    survives_turn: request.survives_turn ?? false,
    dialog: false,
    idempotency_key: boundedOptional('idempotency_key', request.idempotency_key, PROMPT_LIMITS.key),
    fingerprint: '',
    created_at: now,
    expires_at: expiryOf(request.timeout_ms, now),
    status: 'pending',
    settled_at: null,
    decision: null,
    selected: [],
    comment: null,
    by: null,
    via: null,
    response_id: null,
    cancel_reason: null,
    late_response: null,
    amended: false,
    orphaned: false,
    snoozed_until: null,
    claimed_by: null,
    claimed_at: null,
    offered_at: null,
    seen_at: null,
    responded_at: null,
    handed_at: null,
    collected_at: null,
    carrier: null,
  };
  // It repeats question and context, so it is kept only where it will be compared.
  return prompt.idempotency_key === null ? prompt : { ...prompt, fingerprint: fingerprintOf(prompt) };
}

/** What must be equal for two asks under one idempotency key to be the same ask. */
function fingerprintOf(prompt: Prompt): string {
  const { question, context, options, multi_select, allow_free_text, kind, header } = prompt;
  return JSON.stringify([
    kind,
    header,
    question,
    context,
    options.map((o) => [o.label, o.description]),
    multi_select,
    allow_free_text,
  ]);
}

/** Whether a prompt's time has run out; pure, so that a read can say so before anyone has written it down. */
export function isExpired(prompt: Prompt, now: string): boolean {
  return prompt.status === 'pending' && prompt.expires_at !== null && prompt.expires_at <= now;
}

/**
 * The answer as it will be stored: what was chosen, checked against what was offered.
 * @throws HiveError `invalid_answer` when nothing was said, an unknown option was chosen, or free text is off.
 */
export function resolveAnswer(
  prompt: Prompt,
  request: AnswerRequest,
  stamp: Pick<PromptAnswer, 'by' | 'via' | 'response_id' | 'responded_at'>,
): PromptAnswer {
  const comment = boundedOptional('comment', request.comment, PROMPT_LIMITS.comment);
  const selected = [...new Set((request.selected ?? []).map(cleanText))];
  const labels = prompt.options.map((option) => option.label);
  if (selected.length > 0) {
    const unknown = selected.find((label) => !labels.includes(label));
    if (unknown !== undefined)
      throw invalidAnswer(prompt, `"${excerpt(unknown, SHOWN)}" is none of the options`);
    if (selected.length > 1 && !prompt.multi_select)
      throw invalidAnswer(prompt, 'only one option can be chosen');
    const inOrder = labels.filter((label) => selected.includes(label));
    return { decision: inOrder.join(', '), selected: inOrder, comment, ...stamp };
  }
  const decision = bounded('answer', request.decision ?? '', PROMPT_LIMITS.decision);
  if (isBlank(decision)) throw invalidAnswer(prompt, 'the answer is empty');
  if (labels.includes(decision)) return { decision, selected: [decision], comment, ...stamp };
  if (!prompt.allow_free_text)
    throw invalidAnswer(prompt, `"${excerpt(decision, SHOWN)}" is none of the options and free text is off`);
  return { decision, selected: [], comment, ...stamp };
}

/** How much of what was refused, or was offered instead, a sentence repeats. */
const SHOWN = 100;

function invalidAnswer(prompt: Prompt, why: string): HiveError {
  const offered = prompt.options.map((option) => `"${excerpt(option.label, SHOWN)}"`).join(', ');
  return new HiveError(
    'invalid_answer',
    `The answer to ${prompt.ask_id} was not taken: ${why}.${offered === '' ? '' : ` Offered: ${offered}.`}`,
    {
      ask_id: prompt.ask_id,
      options: prompt.options.map((option) => option.label),
    },
  );
}

/** How an answer fared. `accepted`: it settled the prompt. `late`: kept beside a prompt that had no answer. `lost`: another answer stands. */
export type AnswerOutcome = 'accepted' | 'late' | 'lost';

/**
 * One answer meets one prompt. Expiry is the caller's to apply first (`isExpired`), in the same transaction.
 * A late answer opens the delivery receipts again: the agent may have been told "expired", and is now told this.
 */
export function respondPrompt(
  prompt: Prompt,
  answer: PromptAnswer,
): { prompt: Prompt; outcome: AnswerOutcome } {
  if (prompt.status === 'pending') {
    const { decision, selected, comment, by, via, response_id, responded_at } = answer;
    const settled = { status: 'responded' as const, settled_at: responded_at };
    return {
      outcome: 'accepted',
      prompt: { ...prompt, ...settled, decision, selected, comment, by, via, response_id, responded_at },
    };
  }
  if (prompt.status === 'responded' || prompt.late_response !== null) return { prompt, outcome: 'lost' };
  return {
    outcome: 'late',
    prompt: { ...prompt, late_response: answer, handed_at: null, collected_at: null, carrier: null },
  };
}

/** Its time ran out. Carries no decision (invariant 3). A prompt that is settled stays as it is. */
export function expirePrompt(prompt: Prompt, now: string): Prompt {
  return prompt.status === 'pending'
    ? { ...prompt, status: 'expired', settled_at: now, via: 'clock' }
    : prompt;
}

/** Taken back. Carries no decision (invariant 3). A prompt that is settled stays as it is. */
export function cancelPrompt(
  prompt: Prompt,
  by: { by: string; via: Via; reason: CancelReason },
  now: string,
): Prompt {
  if (prompt.status !== 'pending') return prompt;
  return {
    ...prompt,
    status: 'cancelled',
    settled_at: now,
    by: by.by,
    via: by.via,
    cancel_reason: by.reason,
  };
}

/**
 * Corrects an answer that its author gave and that was not handed to the agent yet (invariant 5).
 * @throws HiveError `prompt_not_amendable` that says why not.
 */
export function amendPrompt(prompt: Prompt, answer: PromptAnswer): Prompt {
  const standing = prompt.status === 'responded' ? prompt : prompt.late_response;
  if (standing === null) throw notAmendable(prompt, `it is ${prompt.status}, not answered`);
  if (prompt.handed_at !== null)
    throw notAmendable(prompt, `its answer was handed to ${prompt.agent} at ${prompt.handed_at}`);
  if (standing.by !== answer.by) throw notAmendable(prompt, `its answer is ${standing.by}'s`);
  if (prompt.status !== 'responded') return { ...prompt, late_response: answer, amended: true };
  const { decision, selected, comment, via, response_id, responded_at } = answer;
  return { ...prompt, decision, selected, comment, via, response_id, responded_at, amended: true };
}

function notAmendable(prompt: Prompt, why: string): HiveError {
  return new HiveError(
    'prompt_not_amendable',
    `The answer to ${prompt.ask_id} can no longer be amended: ${why}.`,
    { ask_id: prompt.ask_id },
  );
}

/** Most urgent first, then oldest: the order in which a human should look at what waits. */
export const URGENCY_RANK: Readonly<Record<Urgency, number>> = { critical: 0, normal: 1, low: 2 };

/** The answer was returned or printed to the agent by `carrier`: the last time counts, because only what comes after it proves that it was read. */
export function handPrompt(prompt: Prompt, carrier: string, now: string): Prompt {
  return { ...prompt, handed_at: now, carrier };
}

/**
 * Whether what this session reads of the prompt reaches its asker: the asker itself, the session whose subagent
 * asked, or anyone when the asker is gone. Whoever else knows the id may read, and takes nothing away.
 */
export function isReceiver(prompt: Prompt, session_id: string): boolean {
  const asker = prompt.session_id;
  return (
    asker === session_id ||
    asker.startsWith(`${session_id}:`) ||
    // A caller without identity is a new session with each connection: only the id is its own.
    asker.startsWith('connection-') ||
    prompt.orphaned
  );
}

/** Whether there is something for the agent that it has not provably read: any settlement, or a late answer. */
export function isUncollected(prompt: Prompt): boolean {
  return prompt.status !== 'pending' && prompt.collected_at === null && concernsAgent(prompt);
}

/** A dialog that ended without an answer is the client's affair; a permission that comes late serves nobody. */
function concernsAgent({ dialog, status, kind, late_response }: Prompt): boolean {
  return !dialog || status === 'responded' || (late_response !== null && kind === 'question');
}
