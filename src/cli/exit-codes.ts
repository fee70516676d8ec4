/**
 * What a command's exit says, for scripts. One table: docs/cli.md shows the same.
 * A command that looks at several prompts exits with the first of pending, expired, cancelled that is among them.
 */
import type { HiveError } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';

export const EXIT = {
  /** It was done; of questions: answered. */
  done: 0,
  /** It failed; stderr says why. */
  error: 1,
  /** The command line, or a value on it, makes no sense. Nothing was done. */
  usage: 2,
  /** No answer yet, or the time to wait for one is up. */
  pending: 3,
  /** The question expired: no decision. */
  expired: 4,
  /** The question was taken back: no decision. */
  cancelled: 5,
  /** Somebody was first: the answer or the cancel changed nothing, or was kept as a late answer. */
  notAccepted: 6,
  /** This caller may not (agents for what is the human's, permissions without a terminal). */
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
