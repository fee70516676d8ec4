/**
 * The mention parser finds the names that a message mentions. `@Claude-abc12` counts at the start of a word, anywhere in a
 * line; never inside code fences, inline code, quoted lines, e-mail addresses or URLs. Pure. Its time is linear in the length of
 * any text: every character is read a bounded number of times, and no regular expression backtracks.
 */
import { CODE, isDigit, isWordCode, runEnd } from './text.ts';

/** A longer name cannot be a handle. */
const LONGEST_HANDLE = 200;

/**
 * The names mentioned in a text, without the @: each once (ignoring case), as first spelled, in order. `missed` gets text
 * that only looks like a mention: `＠name`, with the wide @ of an East Asian keyboard, and `@one@other`.
 */
export function parseMentions(text: string, missed: Set<string> = new Set()): string[] {
  const spelled = new Set<string>();
  for (const [start, end] of proseIn(text)) scanProse(text, start, end, { spelled, missed });
  const names = new Map<string, string>();
  for (const name of spelled) {
    const key = foldHandle(name);
    if (!names.has(key)) names.set(key, name);
  }
  return [...names.values()];
}

/** A name in the form in which names are compared: without case and composition. */
export function foldHandle(handle: string): string {
  return handle.normalize('NFC').toLowerCase();
}

interface Found {
  spelled: Set<string>;
  missed: Set<string>;
}

/** Reads one range of prose, skipping code spans and URLs. */
function scanProse(text: string, start: number, end: number, { spelled, missed }: Found): void {
  let spans: ReturnType<typeof codeSpans> | null = null;
  for (let index = start; index < end; ) {
    const code = text.charCodeAt(index);
    if (code === CODE.backtick) {
      spans ??= codeSpans(text, start, end);
      const after = runEnd(text, index, end);
      index = spans.closeAfter(after, after - index) ?? after;
    } else if (code === CODE.backslash) {
      // An escaped character is literal: `\@` mentions nobody, `\`` opens no code.
      index += 2;
    } else if (
      code === CODE.colon &&
      text.charCodeAt(index + 1) === CODE.slash &&
      text.charCodeAt(index + 2) === CODE.slash
    ) {
      index = urlEnd(text, index + 3, end);
    } else if (code === CODE.at) {
      const after = handleEnd(text, index + 1, end);
      const name = trimmedEnd(text, index + 1, after);
      if (name > index + 1 && after - index <= LONGEST_HANDLE && isWordStart(text, start, index)) {
        if (!isAddress(text, after, end)) spelled.add(text.slice(index + 1, name));
        else if (text.charCodeAt(after) === CODE.at)
          missed.add(text.slice(index, twoNamesEnd(text, after, end)));
      }
      index = after;
    } else if (code === WIDE_AT) {
      const after = handleEnd(text, index + 1, end);
      const name = trimmedEnd(text, index + 1, after);
      if (name > index + 1 && after - index <= LONGEST_HANDLE && isWordStart(text, start, index))
        missed.add(text.slice(index, name));
      index = after;
    } else index += 1;
  }
}

/** `＠`: looks like an @, but is another character. */
const WIDE_AT = 0xff20;

/** The end of the second name of `@one@other`, at most the longest length of a name. */
function twoNamesEnd(text: string, second: number, end: number): number {
  const after = trimmedEnd(text, second + 1, handleEnd(text, second + 1, end));
  return Math.min(after, second + 1 + LONGEST_HANDLE);
}

/** All runs of backticks by length, found once: searching ahead from every run would be quadratic. */
function codeSpans(text: string, start: number, end: number) {
  const starts = new Map<number, { at: number[]; next: number }>();
  for (let index = start; index < end; ) {
    if (text.charCodeAt(index) !== CODE.backtick) {
      index += 1;
      continue;
    }
    const after = runEnd(text, index, end);
    const runs = starts.get(after - index);
    if (runs === undefined) starts.set(after - index, { at: [index], next: 0 });
    else runs.at.push(index);
    index = after;
  }
  return {
    /** The end of the first run of exactly `length` backticks at or after `from`. */
    closeAfter(from: number, length: number): number | undefined {
      const runs = starts.get(length);
      if (runs === undefined) return undefined;
      // Callers only move forward, so each run is passed once.
      while ((runs.at[runs.next] ?? Number.POSITIVE_INFINITY) < from) runs.next += 1;
      const at = runs.at[runs.next];
      return at === undefined ? undefined : at + length;
    },
  };
}

/** A URL ends at white space, at a character that no URL contains, or at a parenthesis that it did not open. */
function urlEnd(text: string, start: number, end: number): number {
  let depth = 0;
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index);
    if (
      code <= CODE.space ||
      code === CODE.less ||
      code === CODE.greater ||
      code === CODE.doubleQuote ||
      code === CODE.bar ||
      code === CODE.backtick
    )
      return index;
    if (code === CODE.openParenthesis) depth += 1;
    if (code === CODE.closeParenthesis) {
      if (depth === 0) return index;
      depth -= 1;
    }
    // Full stops, commas and brackets of scripts that put no space after them.
    if (code >= 0x3000 && code <= 0x303f) return index;
    if (code >= 0xff00 && code <= 0xff0f) return index;
  }
  return end;
}

/** The end of the letters, digits, dashes and underscores that begin here with a letter or digit. */
function handleEnd(text: string, start: number, end: number): number {
  let index = start;
  while (index < end) {
    const code = text.charCodeAt(index);
    if (code < 128) {
      if (!isWordCode(code) && !(code === CODE.dash && index > start)) break;
      if (code === CODE.underscore && index === start) break;
      index += 1;
    } else {
      const length = wideLength(text, index, end);
      if (!isWideWord(text.slice(index, index + length))) break;
      index += length;
    }
  }
  return index;
}

/** A handle does not end in a dash or underscore: those belong to the sentence (`_@Claude-abc12_`). */
function trimmedEnd(text: string, start: number, end: number): number {
  let index = end;
  while (index > start) {
    const code = text.charCodeAt(index - 1);
    if (code !== CODE.dash && code !== CODE.underscore) break;
    index -= 1;
  }
  return index;
}

/** `@scope/package` and `@user@host` mention nobody. */
function isAddress(text: string, after: number, end: number): boolean {
  const code = after < end ? text.charCodeAt(after) : 0;
  if (code !== CODE.slash && code !== CODE.at) return false;
  const next = after + 1 < end ? text.charCodeAt(after + 1) : 0;
  return isWordCode(next) && next !== CODE.underscore;
}

/** Whether the text before an @ lets it mention somebody: nothing, a blank, a bracket or a quote; emphasis marks are skipped. */
function isWordStart(text: string, start: number, at: number): boolean {
  let index = at - 1;
  while (index >= start) {
    const code = text.charCodeAt(index);
    if (code !== CODE.star && code !== CODE.underscore && code !== CODE.tilde) break;
    index -= 1;
  }
  if (index < start) return true;
  const code = text.charCodeAt(index);
  if (code < 128) return code <= CODE.space || STARTERS.has(code);
  if (code >= 0xdc00 && code <= 0xdfff && index > start)
    return !isWideWord(text.slice(index - 1, index + 1)) || isUnspaced(text, index - 1);
  return !isWideWord(text.charAt(index)) || isUnspaced(text, index);
}

/** Characters that may precede an @ besides blanks: none that makes it part of an address, a path or an assignment. */
const STARTERS: ReadonlySet<number> = new Set(Array.from('([{<"\',;:!?|>)]}', (c) => c.charCodeAt(0)));

/** Scripts that put no space between words: in them a name may follow a letter. */
function isUnspaced(text: string, index: number): boolean {
  const code = text.codePointAt(index) ?? 0;
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0x20000 && code <= 0x3ffff) ||
    (code >= 0x0e00 && code <= 0x0eff)
  );
}

function isWideWord(character: string): boolean {
  const code = character.charCodeAt(0);
  // Kana, Han and Hangul without a table lookup: the most frequent cases.
  if ((code >= 0x3041 && code <= 0x3096) || (code >= 0x4e00 && code <= 0x9fff)) return true;
  if ((code >= 0x30a1 && code <= 0x30fa) || (code >= 0xac00 && code <= 0xd7a3)) return true;
  return WIDE_WORD.test(character);
}

function wideLength(text: string, index: number, end: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code <= 0xdbff && index + 1 < end ? 2 : 1;
}

const WIDE_WORD = /^[\p{L}\p{N}\p{M}]$/u;

// ---- Prose ----
// The parts of a Markdown text that are neither code fences nor quoted lines. Each line is classified by its beginning, and
// nothing looks ahead.

interface Fence {
  character: number;
  length: number;
}

/** The ranges of a text that may contain mentions: one per paragraph, heading or list item, because code spans end there. */
function* proseIn(text: string): Generator<[number, number]> {
  let fence: Fence | null = null;
  let open = -1;
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const first = skipBlanks(text, start, end);
    const line: Fence | null = fence === null ? openingFence(text, first, end) : null;
    const outside = fence === null && line === null && first < end && text.charCodeAt(first) !== CODE.greater;
    if (open !== -1 && (!outside || beginsBlock(text, first, end))) {
      yield [open, start];
      open = -1;
    }
    if (outside && open === -1) open = start;
    if (outside && text.charCodeAt(first) === CODE.hash) {
      yield [open, end];
      open = -1;
    }
    if (fence === null) fence = line;
    else if (closesFence(text, first, end, fence)) fence = null;
    start = nextLine(text, end);
  }
  if (open !== -1) yield [open, text.length];
}

function lineEnd(text: string, start: number): number {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === CODE.lineFeed || code === CODE.carriageReturn) break;
    index += 1;
  }
  return index;
}

function nextLine(text: string, end: number): number {
  if (end >= text.length) return end;
  return text.charCodeAt(end) === CODE.carriageReturn && text.charCodeAt(end + 1) === CODE.lineFeed
    ? end + 2
    : end + 1;
}

function skipBlanks(text: string, start: number, end: number): number {
  let index = start;
  while (index < end) {
    const code = text.charCodeAt(index);
    if (code !== CODE.space && code !== CODE.tab) break;
    index += 1;
  }
  return index;
}

/** A fence may be indented, as inside a list. If another backtick follows on the line, it is inline code. */
function openingFence(text: string, first: number, end: number): Fence | null {
  const character = first < end ? text.charCodeAt(first) : 0;
  if (character !== CODE.backtick && character !== CODE.tilde) return null;
  const after = runEnd(text, first, end);
  if (after - first < 3) return null;
  if (character === CODE.backtick) {
    for (let index = after; index < end; index += 1)
      if (text.charCodeAt(index) === CODE.backtick) return null;
  }
  return { character, length: after - first };
}

function closesFence(text: string, first: number, end: number, fence: Fence): boolean {
  if (first >= end || text.charCodeAt(first) !== fence.character) return false;
  const after = runEnd(text, first, end);
  return after - first >= fence.length && skipBlanks(text, after, end) === end;
}

/** A heading or a list item: the text before it is another paragraph. */
function beginsBlock(text: string, first: number, end: number): boolean {
  const code = text.charCodeAt(first);
  if (code === CODE.hash) return true;
  if (code === CODE.dash || code === CODE.star || code === CODE.plus) return isBlankAt(text, first + 1, end);
  let index = first;
  while (index < end && index - first < 9 && isDigit(text.charCodeAt(index))) index += 1;
  if (index === first || index >= end) return false;
  const mark = text.charCodeAt(index);
  return (mark === CODE.dot || mark === CODE.closeParenthesis) && isBlankAt(text, index + 1, end);
}

function isBlankAt(text: string, index: number, end: number): boolean {
  const code = index < end ? text.charCodeAt(index) : CODE.space;
  return code === CODE.space || code === CODE.tab;
}
