/**
 * The effect of Claude Code's Write and Edit on a file. Claude Code does more than replace one text by another: it finds a text
 * that is written with other quotes or with \uXXXX, removes the line break after a text that it removes, and chooses the line
 * endings. `test/clients/edits.test.ts` compares all of this with the real program. Pure.
 */

/** Claude Code's tools that edit one file, and the argument that names it. */
export const FILE_ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['Write', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
]);

/** Replaces one text by another. */
export interface Replacement {
  from: string;
  to: string;
  every: boolean;
}

/** The file after the call, or why the call would not change it. */
export type Effect = { after: string } | { problem: string };

/** Said in the same words by edits.ts. */
export const NO_SUCH_FILE = 'There is no such file.';
export const LONG_DIFF = 'The diff of the file is too long to be shown here.';

const WORDS = {
  empty: 'The text to replace is empty, but the file is not.',
  absent: 'The text to replace does not occur in the file as it is now.',
  same: 'Both texts are the same.',
  long: 'The text to replace is too long to be looked for in other spellings.',
  unusual: 'The texts have characters that cannot be written into a file as they are.',
  several: (count: number, lines: string) =>
    `The text to replace occurs ${count} times (lines ${lines}), and replace_all is not set.`,
} as const;

/** The size limit of a file after the change: nobody reads the diff of a larger one. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';

/** The file after Write, whose text is written as it is; `before` is null for a new file. */
export function writtenByClaude(before: string | null, content: string): Effect {
  return isWritable(content) ? { after: withMarkOf(before, content) } : { problem: WORDS.unusual };
}

/** The file after Edit; `before` is null for a new file. */
export function editedByClaude(before: string | null, { from, to, every }: Replacement): Effect {
  if (!isWritable(from) || !isWritable(to)) return { problem: WORDS.unusual };
  if (from === to) return { problem: WORDS.same };
  if (before === null) return from === '' ? { after: to } : { problem: NO_SUCH_FILE };
  const end = lineEndOf(before);
  if (from === '') {
    const isBlank = before.trim() === '';
    return isBlank ? { after: withLineEnds(withMarkOf(before, to), end) } : { problem: WORDS.empty };
  }
  const text = before.replaceAll('\r\n', '\n');
  const found = foundIn(text, from);
  if ('problem' in found) return found;
  const { old } = found;
  const parts = text.split(old);
  if (parts.length > 2 && !every) return { problem: WORDS.several(parts.length - 1, linesOf(parts, old)) };
  const made = adapted(from, old, to);
  // If the removed text is at the end of a line anywhere, the line break is removed with it, and no other occurrence changes.
  const removed = made === '' && !old.endsWith('\n') && text.includes(`${old}\n`) ? `${old}\n` : old;
  const pieces = text.split(removed);
  const count = every ? pieces.length - 1 : 1;
  // Many replacements by a long text would fill the memory.
  if (text.length + count * (made.length - removed.length) > MOST_CHARACTERS) return { problem: LONG_DIFF };
  const after = every ? pieces.join(made) : text.replace(removed, () => made);
  return after === text ? { problem: WORDS.same } : { after: withLineEnds(after, end) };
}

/** How often the text occurs as given; 0 if it only occurs in another spelling. */
export function timesIn(text: string, from: string): number {
  return from === '' ? 0 : text.replaceAll('\r\n', '\n').split(from).length - 1;
}

function isWritable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A byte order mark stays. */
function withMarkOf(before: string | null, text: string): string {
  const isMissing = before?.startsWith(BYTE_ORDER_MARK) === true && !text.startsWith(BYTE_ORDER_MARK);
  return isMissing && text !== '' ? BYTE_ORDER_MARK + text : text;
}

/** How many characters Claude Code reads to choose the line endings of a file. */
const LOOKED_AT = 4_096;

/** The line ending of most of the first lines. An edit gives it to all lines of the file. */
function lineEndOf(text: string): '\n' | '\r\n' {
  const start = text.slice(0, LOOKED_AT);
  const all = start.split('\n').length - 1;
  const long = start.split('\r\n').length - 1;
  return long > all - long ? '\r\n' : '\n';
}

function withLineEnds(text: string, end: '\n' | '\r\n'): string {
  return end === '\n' ? text : text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n');
}

/** The first few line numbers where a text occurs. */
function linesOf(parts: readonly string[], between: string): string {
  let line = 1;
  const lines = parts.slice(0, 10).map((part) => {
    const at = line + newlinesIn(part);
    line = at + newlinesIn(between);
    return at;
  });
  const shown = lines.slice(0, Math.min(9, parts.length - 1)).join(', ');
  return parts.length - 1 > 9 ? `${shown}, …` : shown;
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

// ---- Other spellings ----

const ESCAPE = /\\u[0-9a-fA-F]{4}/;
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** The longest text that is searched for as a pattern: engines refuse longer patterns, at different lengths. */
const LONGEST_PATTERN = 8_000;

/** The text of the file that Claude Code takes for the text to replace. */
function foundIn(text: string, from: string): { old: string } | { problem: string } {
  if (text.includes(from)) return { old: from };
  const at = withPlainQuotes(text).indexOf(withPlainQuotes(from));
  if (at !== -1) return { old: text.slice(at, at + from.length) };
  if (ESCAPE.test(from)) {
    const plain = unescaped(from);
    if (plain !== from && text.includes(plain)) return { old: plain };
  }
  if (!BEYOND_ASCII.test(from) || escapedLength(from) > text.length || !text.includes('\\u'))
    return { problem: WORDS.absent };
  if (from.length > LONGEST_PATTERN) return { problem: WORDS.long };
  const old = escapedIn(text, from);
  return old === null ? { problem: WORDS.absent } : { old };
}

/** The new text, in the spelling in which the file has the old one. */
function adapted(from: string, old: string, to: string): string {
  if (from === old) return to;
  const quoted = withQuotesOf(old, to);
  if (BEYOND_ASCII.test(from) && escapedLength(from) === old.length && escapedIn(old, from) !== null)
    return withEscapesOf(from, old, quoted);
  return ESCAPE.test(from) && unescaped(from) === old ? unescaped(quoted) : quoted;
}

const [SINGLE_OPEN, SINGLE_CLOSE, DOUBLE_OPEN, DOUBLE_CLOSE] = ['\u2018', '\u2019', '\u201c', '\u201d'];

function withPlainQuotes(text: string): string {
  return text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"');
}

/** The text with typographic quotes where the replaced text has them. */
function withQuotesOf(old: string, text: string): string {
  const double = /[\u201c\u201d]/.test(old) ? '"' : null;
  const single = /[\u2018\u2019]/.test(old) ? "'" : null;
  const characters = [...text];
  const quoted = characters.map((character, n) => {
    if (character === double) return opensAt(characters, n) ? DOUBLE_OPEN : DOUBLE_CLOSE;
    if (character !== single) return character;
    const isApostrophe = isLetter(characters[n - 1]) && isLetter(characters[n + 1]);
    return !isApostrophe && opensAt(characters, n) ? SINGLE_OPEN : SINGLE_CLOSE;
  });
  return quoted.join('');
}

const BEFORE_OPENING: ReadonlySet<string> = new Set([
  ...[' ', '\t', '\n', '\r', '(', '[', '{', '\u2014', '\u2013'],
]);

function opensAt(characters: readonly string[], n: number): boolean {
  return n === 0 || BEFORE_OPENING.has(characters[n - 1] ?? '');
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /\p{L}/u.test(character);
}

/** The text with each \uXXXX as its character; a doubled backslash begins no escape. */
function unescaped(text: string): string {
  return text.replace(/(\\\\)|\\u([0-9a-fA-F]{4})/g, (all, doubled: string | undefined, hex: string) =>
    doubled === undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : all,
  );
}

/** The length of a text whose characters beyond ASCII are written as \uXXXX. */
function escapedLength(text: string): number {
  return text.length + 5 * countOf(/[\u0080-\uffff]/g, text);
}

/** The first place where a text occurs with its non-ASCII characters written as \uXXXX; null if there is none. */
function escapedIn(text: string, from: string): string | null {
  if (backslashesBefore(from, from.length) % 2 === 1) return null;
  // An odd number of backslashes before it would change the meaning of the text.
  const places = from.startsWith('\\') ? [0] : [];
  let pattern = '';
  let length = 0;
  for (let index = 0; index < from.length; index += 1) {
    const code = from.charCodeAt(index);
    if (code < 128) {
      pattern += from.charAt(index).replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
      length += 1;
      continue;
    }
    const digits = code.toString(16).padStart(4, '0');
    pattern += `\\\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
    places.push(length);
    length += 6;
  }
  const expression = new RegExp(pattern, 'g');
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    const { index } = match;
    if (places.every((place) => backslashesBefore(text, index + place) % 2 === 0))
      return text.indexOf(match[0]) === index ? match[0] : null;
    expression.lastIndex = index + 1;
  }
  return null;
}

function backslashesBefore(text: string, end: number): number {
  let count = 0;
  while (text[end - 1 - count] === '\\') count += 1;
  return count;
}

/** The text with non-ASCII characters as \uXXXX: those of the old text in its spelling, others in the case that it uses most. */
function withEscapesOf(from: string, old: string, text: string): string {
  const escapes = escapesOf(from, old);
  const spelled = new Map(escapes);
  const digits = escapes.map(([, hex]) => hex).join('');
  const isUpper = countOf(/[A-F]/g, digits) > countOf(/[a-f]/g, digits);
  return text.replace(/[\u0080-\uffff]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${spelled.get(character) ?? (isUpper ? hex.toUpperCase() : hex)}`;
  });
}

/** Each non-ASCII character, with the digits of its escape in the old text. */
function escapesOf(from: string, old: string): [character: string, digits: string][] {
  const found: [string, string][] = [];
  let at = 0;
  for (let index = 0; index < from.length; index += 1) {
    const isEscaped = from.charCodeAt(index) >= 128;
    if (isEscaped) found.push([from.charAt(index), old.slice(at + 2, at + 6)]);
    at += isEscaped ? 6 : 1;
  }
  return found;
}

function countOf(pattern: RegExp, text: string): number {
  return text.match(pattern)?.length ?? 0;
}
