/**
 * Exit codes; docs/cli.md has the same table. A command that looks at several prompts exits with the first of pending, expired
 * and cancelled that applies. They have their own file because every start needs them, even one that opens no store.
 */
import type { HiveError } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';

export const EXIT = {
  /** Done; for questions: answered. */
  done: 0,
  /** It failed; the reason is on stderr. */
  error: 1,
  /** The command line or a value on it is invalid. Nothing was done. */
  usage: 2,
  /** No answer yet, or the time to wait for one is up. */
  pending: 3,
  /** The question expired: no decision. */
  expired: 4,
  /** The question was cancelled: no decision. */
  cancelled: 5,
  /** Another answer was first: nothing changed, or the answer was kept as a late one. */
  notAccepted: 6,
  /** Not allowed for this caller, for example an agent that answers, or a permission without a terminal. */
  notAllowed: 7,
  /** bin/hive: this Node is too old. It cannot import this table, so a test compares the two. */
  nodeTooOld: 8,
  /** bin/hive: the package is not built. */
  notBuilt: 9,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfError(error: HiveError): ExitCode {
  if (error.code === 'invalid_input') return EXIT.usage;
  if (error.code === 'not_allowed') return EXIT.notAllowed;
  return EXIT.error;
}

const OF_STATUS: readonly (readonly [Prompt['status'], ExitCode])[] = [
  ['pending', EXIT.pending],
  ['expired', EXIT.expired],
  ['cancelled', EXIT.cancelled],
];

export function exitCodeOfPrompts(prompts: readonly Pick<Prompt, 'status'>[]): ExitCode {
  for (const [status, code] of OF_STATUS) {
    if (prompts.some((prompt) => prompt.status === status)) return code;
  }
  return EXIT.done;
}
