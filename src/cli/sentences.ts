/**
 * Sentences that several commands use. A command contains its own, and `bin/hive` has two of its own, because it must
 * run on a Node that cannot load this file. `scripts/sentences.mjs` prints all of them.
 *
 * A sentence ends with a period, except after a command, an option or a value that a person may copy.
 */
import { eastAsianWidth } from 'get-east-asian-width';
import type { Check, CheckState } from '../application/world.ts';

/** An actor whose name is not recorded. */
export const SOMEBODY = 'somebody';

/** Follows an answer that no key of a person signed: a script's, an agent's, a library's, or one typed at a terminal. */
export const UNATTESTED = ' (unattested)';

export const more = (limit: number): string => `There are more. To see them, add --limit ${limit * 2}`;

/** One or more names as a part of a sentence. */
export function listed(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}

export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

const CHECK_MARKS: Readonly<Record<CheckState, string>> = { ok: 'ok', not_set_up: '--', broken: 'FAIL' };

export const checkLine = ({ name, state, text, advice }: Check): string => {
  const line = `${CHECK_MARKS[state].padEnd(4)}  ${name.padEnd(17)}  ${state === 'not_set_up' ? 'not set up: ' : ''}${text}`;
  return state === 'ok' || advice === null ? line : `${line}\n      → ${advice}`;
};

/** All three numbers, so that "not set up" is never read as ok. */
export const checksSummary = (checks: readonly Pick<Check, 'state'>[]): string => {
  const count = (wanted: CheckState): number => checks.filter(({ state }) => state === wanted).length;
  return `${counted(checks.length, 'check')}: ${count('ok')} ok, ${count('not_set_up')} not set up, ${count('broken')} broken.`;
};

export const changedByOther = (file: string): string =>
  `${file} was changed by another program. Run the command again.`;

// ---- Sentences on a terminal ----

const COMBINING = /[\p{Mn}\p{Me}]/u;

/** How many columns a text takes on a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text)
    columns += COMBINING.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
  return columns;
}

/** A text broken between its words. A longer word has a line of its own, which the terminal breaks. */
export function inLines(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || width(last) + 1 + width(word) > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Where a line continues: below its last column, and behind the mark of a list. */
const INDENTATION = /^ *(?:\S+(?: \S+)* {2,})*(?:[-\u2192] )?/;

/** Sentences for a person, broken between words at the edge of this terminal. Emacs wraps the lines of its buffers itself. */
export function fitted(text: string, { isTTY, columns }: Partial<NodeJS.WriteStream>): string {
  if (isTTY !== true || process.env['TERM'] === 'dumb') return text;
  const room = columns || 80;
  return text.replace(/.+/g, (line) => {
    const [found = ''] = INDENTATION.exec(line) ?? [];
    const beginning = width(found) > room / 2 ? '' : found;
    const lines = inLines(line.slice(beginning.length), room - width(beginning));
    return beginning + lines.join(`\n${' '.repeat(width(beginning))}`);
  });
}
