/**
 * Sentences that several commands use. A command contains its own, and `bin/hive` has two of its own, because it must
 * run on a Node that cannot load this file. `scripts/sentences.mjs` prints all of them.
 *
 * A sentence ends with a period, except after a command, an option or a value that a person may copy.
 */
import type { Check, CheckState } from '../application/world.ts';

/** An actor whose name is not recorded. */
export const SOMEBODY = 'somebody';

/** Follows an answer that no key of a person signed: a script's, an agent's, a library's, or one typed at a terminal. */
export const UNATTESTED = ' (unattested)';

export const more = (limit: number, cursor: string): string =>
  `There are more. To see them, add --limit ${limit * 2} or --cursor ${cursor}`;

/** One or more names as a part of a sentence. */
export function listed(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}

export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

const CHECK_MARKS: Readonly<Record<CheckState, string>> = { ok: 'ok', not_set_up: '--', broken: 'FAIL' };

export const checkLine = ({ name, state, text, advice }: Check): string => {
  const line = `${CHECK_MARKS[state].padEnd(4)}  ${name.padEnd(17)} ${state === 'not_set_up' ? 'not set up: ' : ''}${text}`;
  return state === 'ok' || advice === null ? line : `${line}\n      → ${advice}`;
};

/** All three numbers, so that "not set up" is never read as ok. */
export const checksSummary = (checks: readonly Pick<Check, 'state'>[]): string => {
  const count = (wanted: CheckState): number => checks.filter(({ state }) => state === wanted).length;
  return `${counted(checks.length, 'check')}: ${count('ok')} ok, ${count('not_set_up')} not set up, ${count('broken')} broken.`;
};

export const changedByOther = (file: string): string =>
  `${file} was changed by another program. Run the command again.`;
