/**
 * How a shell parses a command line into words and operators, as far as that can be known without running it. Text that a shell
 * would replace (variables, substitutions, file name patterns, a home directory), or that shells parse differently, is not
 * understood. The time is linear in the length of the text. Pure.
 */

import { onDemand } from './text.ts';

/** A word without its quotes. In a rule, stars separate its pieces; any other word has one piece. */
export interface ShellWord {
  pieces: readonly string[];
  /** Its meaning where a program may be. In quotes, `if` and `A=./b` are the names of programs. */
  means: 'variable' | 'keyword' | 'name';
}

/** A group of words, and the operator after them: `;`, `&&`, `|`, `>`, a line end. */
export interface ShellPart {
  words: readonly ShellWord[];
  operator: string | null;
}

/** Longest first. A number directly before a redirection is part of it. */
const OPERATOR = /\d*(?:>>|>\||>&|<&|<>|[<>])|&>>?|&&|\|\||;;|\|&|[;&|\n]/y;
/** Within a word, a number is part of the word: `a2>b` writes the output of `a2` to b. */
const WITHIN_WORD = /(?:>>|>\||>&|<&|<>|[<>])|&>>?|&&|\|\||;;|\|&|[;&|\n]/y;
/** These read from the next lines, or from a process, and are not understood. */
const NOT_UNDERSTOOD = /\d*<<|\d*[<>]\(/y;
const plainWord = onDemand(() => /[\p{L}\p{M}\p{N}_./:@%+,=-]+/uy);
/** Literal within a word, after a letter, a digit or another of these: `HEAD~1`, `main^2`. */
const afterLetter = onDemand(() => /(?<=[\p{L}\p{N}~^])[~^]+/uy);
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** After these shell keywords, the program is not the first word. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else while until do for case select function coproc repeat foreach noglob nocorrect'.split(
    ' ',
  ),
);

/** Whether a word begins with the name of a variable and `=`. */
export function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(word);
}

/** `unquoted`: the beginning of the word, up to its first quote; null if it has no quotes. */
function meaningOf([first = '', ...stars]: readonly string[], unquoted: string | null): ShellWord['means'] {
  if (isAssignment(unquoted ?? first)) return 'variable';
  return unquoted === null && stars.length === 0 && KEYWORDS.has(first) ? 'keyword' : 'name';
}

/** The parts of a command line; null if it is not understood. With `stars`, an unquoted `*` is a rule's star. */
export function shellParts(text: string, { stars = false } = {}): ShellPart[] | null {
  if (/\p{Default_Ignorable_Code_Point}/u.test(text)) return null;
  const parts: ShellPart[] = [];
  let words: ShellWord[] = [];
  let word: string[] | null = null;
  /** The beginning of the word, up to its first quote. */
  let unquoted: string | null = null;
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found === undefined) return null;
    at += found.length;
    return found;
  };
  const add = (more: string): void => {
    word ??= [''];
    word[word.length - 1] += more;
  };
  const endWord = (): void => {
    if (word !== null) words.push({ pieces: word, means: meaningOf(word, unquoted) });
    word = null;
    unquoted = null;
  };
  while (at < text.length) {
    const begins = word === null;
    const character = text[at] ?? '';
    // `=ls` and `#` are special only at the beginning of a word.
    if (begins && (character === '=' || character === '#')) return null;
    if (take(begins ? NOT_UNDERSTOOD : /<</y) !== null) return null;
    const operator = begins ? take(OPERATOR) : take(WITHIN_WORD);
    if (operator !== null) {
      endWord();
      parts.push({ words, operator });
      words = [];
      continue;
    }
    const plain = take(plainWord()) ?? (begins ? null : take(afterLetter()));
    if (plain !== null) {
      add(plain);
      continue;
    }
    at += 1;
    if (character === ' ' || character === '\t') endWord();
    else if (character === '*' && stars) {
      word ??= [''];
      (word as string[]).push('');
    } else if (character === "'" || character === '"' || character === '\\') {
      const quoted = readQuoted(text, at, character);
      if (quoted === null) return null;
      unquoted ??= word?.[0] ?? '';
      add(quoted.text);
      at = quoted.end;
    } else return null;
  }
  endWord();
  parts.push({ words, operator: null });
  return parts;
}

/** The text after an opening quote or a backslash, and where it ends. */
function readQuoted(text: string, start: number, quote: string): { text: string; end: number } | null {
  if (quote === '\\') {
    const next = text[start];
    return next === undefined || CONTROL.test(next) ? null : { text: next, end: start + 1 };
  }
  let read = '';
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === quote) return { text: read, end: at + 1 };
    if (CONTROL.test(character)) return null;
    if (quote === '"' && (character === '$' || character === '`')) return null;
    if (quote === '"' && character === '\\') {
      const next = text[at + 1] ?? '';
      if (next === '"' || next === '\\' || next === '$' || next === '`') at += 1;
      read += next !== '' && text[at] === next ? next : character;
      continue;
    }
    read += character;
  }
  return null;
}

// ---- One plain command ----

/** A command line that a POSIX shell splits into these words. */
export function shellLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** The words of one plain command; null for a line with which a shell would do more than run it. */
export function shellWords(line: string): string[] | null {
  const word = /(?:[\w@%+=:,./-]|'[^']*'|"(?:[^"$`\\]|\\["$`\\])*"|\\['" ])+/y;
  const words: string[] = [];
  for (let at = 0; at < line.length; ) {
    word.lastIndex = at;
    const found = word.exec(line);
    if (found === null) return null;
    words.push(
      found[0].replace(
        /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
        (_all, single, double, bare) => single ?? double?.replace(/\\(.)/gs, '$1') ?? bare,
      ),
    );
    at = word.lastIndex;
    while (line[at] === ' ') at += 1;
    if (at === word.lastIndex && at < line.length) return null;
  }
  return words;
}
