/**
 * Errors. Every error that reaches a person or an agent is a `HiveError`: a stable `code` for programs, and a
 * sentence for people that says what happened, to what, and what to do. A lost race is not an error but a returned
 * result (docs/internals/architecture.md).
 */
export const ERROR_CODES = [
  'invalid_input',
  'invalid_answer',
  'prompt_not_found',
  'prompt_not_amendable',
  'idempotency_conflict',
  'not_allowed',
  'session_not_found',
  'human_not_found',
  'message_not_found',
  'mention_not_found',
  'turn_not_found',
  'turn_not_current',
  'no_turn',
  'outreach_refused',
  'too_many',
  'token_not_found',
  'device_not_found',
  'run_not_found',
  'not_signed_in',
  'pairing_refused',
  'answer_stale',
  'wrong_store',
  'store_busy',
  'store_full',
  'store_unavailable',
  'store_too_new',
  'store_unsafe',
  'store_foreign',
  'sqlite_too_old',
  'cancelled',
  'internal',
] as const;

/** The code by which a program tells refusals apart. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The longest sentence, in characters. It may quote text of any length, but nobody reads more, and it must fit into a frame. */
const LONGEST_SENTENCE = 2_000;

/** The sentence of an error, cut when it is too long. */
export function sentence(message: string): string {
  return message.length > LONGEST_SENTENCE ? `${message.slice(0, LONGEST_SENTENCE)}…` : message;
}

/** An error with a stable `code`; `details` has data for programs. */
export class HiveError extends Error {
  /** Stable: programs decide by it. */
  readonly code: ErrorCode;
  /** Values that the sentence mentions, such as ids. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(sentence(message));
    this.name = 'HiveError';
    this.code = code;
    this.details = details;
  }
}

/** The codes of errors after which trying again later can help. */
export const TRANSIENT: ReadonlySet<unknown> = new Set<ErrorCode>([
  'store_busy',
  'store_unavailable',
  'store_full',
]);

/** Whether trying again later can help. Only after these errors does an answer stay in an outbox. */
export function isTransient(error: unknown): boolean {
  return error instanceof HiveError && TRANSIENT.has(error.code);
}

/** The error for invalid input; the sentence names the field and the limit. */
export function invalidInput(message: string, details: Record<string, unknown> = {}): HiveError {
  return new HiveError('invalid_input', message, details);
}
