/** How a prompt comes into being: what an asker gives, checked and made whole. Pure. */
import { atMost, bounded, boundedBytes, boundedOptional } from './bounds.ts';
import { invalidInput } from './errors.ts';
import { type Address, EVERYBODY } from './humans.ts';
import { PROMPT_LIMITS, timeAfter } from './prompt-limits.ts';
import type { Prompt, PromptKind, PromptOption, Urgency } from './prompts.ts';
import type { Source } from './sources.ts';
import { cleanOptional, isBlank } from './text.ts';

/** What an asker gives. Options may be plain strings. `timeout_ms` missing: wait for ever (invariant 3). */
export interface AskRequest {
  /** 1 to 8,000 characters. */
  question: string;
  /** At most 20; a label 500 characters, a description 2,000. Labels differ. */
  options?: readonly (string | { label: string; description?: string | null | undefined })[] | undefined;
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
  /** Asked again under it, the same prompt is returned; at most 200 characters. */
  idempotency_key?: string | null | undefined;
  /** Several questions of one form share it; at most 200 characters. */
  group_id?: string | null | undefined;
  /** `turn`: it falls when its turn is interrupted, replaced or ends unknown. */
  bind?: 'turn' | null | undefined;
  /** It stays even when its turn is interrupted; default false. */
  survives_turn?: boolean | undefined;
  /** A name of the asker's own, never an identity; at most 200 characters. */
  label?: string | null | undefined;
  /** The name of a human or a team; missing: everybody. */
  to?: string | null | undefined;
  /** After so many milliseconds everybody is asked, 1,000 to 2,592,000,000; missing: what the team has, else never. Only with `to`. */
  escalate_after_ms?: number | null | undefined;
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

function normalizeOptions(given: AskRequest['options']): PromptOption[] {
  const options = atMost('options', given ?? [], PROMPT_LIMITS.options).map((option) => {
    const { label, description } = typeof option === 'string' ? { label: option, description: null } : option;
    return {
      label: bounded('label of an option', label, PROMPT_LIMITS.optionLabel).trim(),
      description: boundedOptional('description of an option', description, PROMPT_LIMITS.optionDescription),
    };
  });
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

/**
 * A new pending prompt. Whom `to` stands for the application has found out: that is its address.
 * @throws HiveError `invalid_input` with a sentence that names the field and its bound.
 */
export function createPrompt(
  request: AskRequest,
  asker: Asker,
  ask_id: string,
  now: string,
  address: Address = EVERYBODY,
): Prompt {
  const question = bounded('question', request.question, PROMPT_LIMITS.question);
  if (isBlank(question))
    throw invalidInput('The question is empty: say what you want to know.', { field: 'question' });
  const context = cleanOptional(request.context);
  if (context !== null) boundedBytes('context', context, PROMPT_LIMITS.contextBytes);
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
    expires_at: request.timeout_ms == null ? null : timeAfter('timeout_ms', request.timeout_ms, now),
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
