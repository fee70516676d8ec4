/**
 * Text from agents and people is untrusted (invariant 12). It is made storable once, at the boundary: NUL breaks
 * Emacs' parser and PostgreSQL, and a lone surrogate breaks JSON on the Emacs side.
 */

import { HiveError } from './errors.ts';
import { isSource } from './json-numbers.ts';

const NUL = /\u0000/g;

/**
 * The end of a file with text from agents. Emacs reads local variables only after the last page break, so it finds none in that
 * text.
 */
export const FILE_END = '\n\f\n';

/** The same text, well-formed and without NUL; each replaced character becomes U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(NUL, '\uFFFD');
}

/** `cleanText` for a field that may be missing; empty counts as missing, and both give null. */
export function cleanOptional(text: string | null | undefined): string | null {
  return text === undefined || text === null || text === '' ? null : cleanText(text);
}

/**
 * Creates a value when it is first needed. Compiling a regular expression with many characters or Unicode classes takes up to a
 * millisecond, and most hooks need none.
 */
export function onDemand<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Deeper than any real call, and shallow enough for recursive functions not to run out of stack. */
export const DEEPEST = 200;

/** Whether a JSON-like value nests deeper than any call does. */
export function isTooDeep(value: unknown, left = DEEPEST): boolean {
  if (value === null || typeof value !== 'object') return false;
  return left === 0 || Object.values(value).some((item) => isTooDeep(item, left - 1));
}

/** Cleans every string inside a JSON-like value, keys included. @throws HiveError `invalid_input` for one that is too deep. */
export function cleanDeep<T>(value: T, left = DEEPEST): T {
  if (typeof value === 'string') return cleanText(value) as T;
  if (value === null || typeof value !== 'object' || isSource(value)) return value;
  if (left === 0) throw new HiveError('invalid_input', TOO_DEEP);
  if (Array.isArray(value)) return value.map((item) => cleanDeep(item, left - 1)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), cleanDeep(item, left - 1)]),
  ) as T;
}

/** The refusal of JSON that nests too deep. */
export const TOO_DEEP = `The JSON nests deeper than ${DEEPEST} levels: flatten it.`;

/** The text that search compares: NFKC, lower case, white space folded. Done in JS so that all engines agree. */
export function searchText(...parts: (string | null | undefined)[]): string {
  return parts
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .join(' ')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}

export const LINE_BREAK: RegExp = /\r\n|[\n\r\u2028\u2029]/;

/** The text with this mark before each line. */
export function marked(mark: string, text: string): string {
  return text
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n');
}

export const INDENT = '    ';

/** The text as a block of its own: what an agent wrote never begins a line of a permission. */
export function indented(text: string): string {
  return marked(INDENT, text);
}

/** The text of an agent within a text of Hive that a model reads: no line of it can be taken for one of Hive's. */
export function quoted(text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** The first `length` characters on one line, with an ellipsis where text was left out. */
export function excerpt(text: string, length: number): string {
  const whole = text.trim();
  // Folding white space shortens the text, so more is read than is kept, but never a megabyte.
  const beginning = whole.slice(0, LOOKED_AT * length);
  const line = beginning.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= length && beginning.length === whole.length) return line;
  return `${characters
    .slice(0, length - 1)
    .join('')
    .toWellFormed()}…`;
}

/** How many characters of a text are read for each one that is kept. */
const LOOKED_AT = 10;

/** Length in Unicode code points, which is what the limits on questions and answers count. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

// ---- Characters as UTF-16 code units ----

/** The characters that Markdown parsing looks at, by name. */
export const CODE = {
  tab: 9,
  lineFeed: 10,
  carriageReturn: 13,
  space: 32,
  doubleQuote: 34,
  hash: 35,
  openParenthesis: 40,
  closeParenthesis: 41,
  star: 42,
  plus: 43,
  dash: 45,
  dot: 46,
  slash: 47,
  colon: 58,
  less: 60,
  greater: 62,
  at: 64,
  backslash: 92,
  underscore: 95,
  backtick: 96,
  bar: 124,
  tilde: 126,
} as const;

/** ASCII digits. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** ASCII letters, digits and the underscore. */
export function isWordCode(code: number): boolean {
  return (
    isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === CODE.underscore
  );
}

/** Where a run of one character ends. */
export function runEnd(text: string, start: number, end: number): number {
  const code = text.charCodeAt(start);
  let index = start + 1;
  while (index < end && text.charCodeAt(index) === code) index += 1;
  return index;
}

/** Whether a version such as `2.1.118` is this one or a later one. */
export function isAtLeast(version: string, first: string): boolean {
  const numbers = (one: string): number[] => one.split('.').map((part) => Number.parseInt(part, 10));
  const [have, need] = [numbers(version), numbers(first)];
  const differs = need.findIndex((number, n) => number !== (have[n] ?? 0));
  return differs < 0 || (have[differs] ?? 0) > (need[differs] ?? 0);
}

// ---- Edits that can be reverted exactly ----

/** One replacement: at `offset`, `removed` became `inserted`. */
export interface TextEdit {
  offset: number;
  removed: string;
  inserted: string;
}

/** Applies edits in order; each offset refers to the result of the edits before it. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((now, edit) => replaceAt(now, edit.offset, edit.removed, edit.inserted), text);
}

/** The edits for several items, where those for one are made for the text after the edits before them. */
export function editsInTurn<Item>(
  text: string,
  items: Iterable<Item>,
  editsFor: (item: Item, now: string) => readonly TextEdit[],
): TextEdit[] {
  const edits: TextEdit[] = [];
  for (const item of items) edits.push(...editsFor(item, applyEdits(text, edits)));
  return edits;
}

/** The text before `applyEdits`. @throws Error when the text is not the result of these edits. */
export function revertEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduceRight((now, edit) => replaceAt(now, edit.offset, edit.inserted, edit.removed), text);
}

function replaceAt(text: string, offset: number, old: string, by: string): string {
  if (!text.startsWith(old, offset)) throw new Error('The text is not the one that was edited.');
  return text.slice(0, offset) + by + text.slice(offset + old.length);
}
