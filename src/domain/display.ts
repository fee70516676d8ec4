/**
 * How text from agents is shown (invariants 12 and 13). Every character that a person could not see, or could take for another
 * one, is spelled out, such as `<U+200B>`. A character is shown as it is only if every display is known to draw it
 * (`characters.ts`). There are three levels: prose, source text, and commands.
 *
 * Each level is one table-driven pass over the text, because a hostile text may consist of strange characters only.
 */
import { BLANKS, CARRIERS, LOOK_ALIKE_SCRIPTS, MARKS, type Ranges, TWINS, VISIBLE } from './characters.ts';
import { onDemand } from './text.ts';

// ---- The table ----

/** The class of a character, as a number: one of these, or `FIRST_SCRIPT` and the number of its script. */
const KIND = {
  /** Not drawn, or not known to be drawn. */
  hidden: 0,
  visible: 1,
  /** Drawn on the character before it. */
  mark: 2,
  /** A blank other than the space. */
  blank: 3,
  /** A character that may occur between two letters of a word: a digit or the underscore. */
  inner: 4,
} as const;
const FIRST_SCRIPT = 5;
const LATIN = FIRST_SCRIPT;

/** No character from this code on is visible. */
const TABLE_SIZE = 0x40000;

const table = onDemand((): Uint8Array => {
  const kinds = new Uint8Array(TABLE_SIZE);
  fill(kinds, VISIBLE, KIND.visible);
  fill(kinds, '9-a 20', KIND.visible);
  fill(kinds, MARKS, KIND.mark);
  fill(kinds, BLANKS, KIND.blank);
  fill(kinds, '30-39 5f', KIND.inner);
  Object.values(LOOK_ALIKE_SCRIPTS).forEach((letters, index) => {
    fill(kinds, letters, FIRST_SCRIPT + index);
  });
  return kinds;
});

/** The number of the script whose marks a character carries, or whose mark it is; 0 for none. */
const carriers = onDemand((): Uint8Array => {
  const numbers = new Uint8Array(TABLE_SIZE);
  CARRIERS.forEach((ranges, index) => {
    fill(numbers, ranges, index + 1);
  });
  return numbers;
});

/** Whether a mark is drawn on a character. Marks that belong to no script are drawn on every character. */
function isCarried(mark: number, base: number): boolean {
  const script = carriers()[mark] ?? 0;
  return script === 0 || script === (carriers()[base] ?? 0);
}

function fill(kinds: Uint8Array, ranges: Ranges, kind: number): void {
  for (const range of ranges.split(' ')) {
    const [first = 0, last = first] = range.split('-').map((code) => Number.parseInt(code, 16));
    kinds.fill(kind, first, last + 1);
  }
}

/** A function of one character that computes each result once: a hostile text repeats the same characters. */
function remembered<T>(find: (character: string) => T): (character: string) => T {
  const known = new Map<string, T>();
  return (character) => {
    const before = known.get(character);
    if (before !== undefined) return before;
    const found = find(character);
    known.set(character, found);
    return found;
  };
}

/** Whether a character is not drawn, or is not known to be drawn. */
export function isHidden(character: string): boolean {
  return (table()[character.codePointAt(0) ?? 0] ?? KIND.hidden) === KIND.hidden;
}

/** Characters that no display draws. */
const UNDRAWN =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800]/gu;

/** Whether nothing in it is visible: white space, zero-width and control characters only. */
export function isBlank(text: string): boolean {
  return text.replace(UNDRAWN, '').trim() === '';
}

/** Character → the ASCII one that it looks like, without accents. */
const twins = onDemand(
  () =>
    new Map(
      TWINS.split(' ').flatMap((word) => {
        const [ascii = '', ...alike] = Array.from(
          word.replace(/<([0-9a-f]+)>/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16))),
        );
        return alike.map((one): [string, string] => [one, ascii]);
      }),
    ),
);

/** The letter that a letter looks like, without its accents; the letter itself if it looks like no other. */
function twinOf(character: string): string {
  const [letter = '', ...rest] = character.normalize('NFD');
  const base = rest.every((mark) => /\p{M}/u.test(mark)) ? letter : character;
  return twins().get(base) ?? character;
}

const isTwin = remembered((character) => twinOf(character) <= '\x7f');

/**
 * Whether a character in it is another way to write an ASCII one, such as a no-break space, a full-width letter or the
 * Kelvin sign: some programs read it as that one.
 */
export function hasAsciiTwin(text: string): boolean {
  for (const character of text)
    if (character > '\x7f' && /[\0-\x7f]/.test(character.normalize('NFKC'))) return true;
  return false;
}

const PLAIN = /^[ -~]*$/;

/** A form of the text that is equal for texts that a person cannot tell apart at a glance. */
export function skeletonOf(text: string): string {
  // The rest would change nothing in plain ASCII, and takes seven times as long.
  if (PLAIN.test(text)) return text.replace(/ +/g, ' ').trim().replace(/[Il|]/g, 'l');
  const letters = text.normalize('NFKC').replace(UNDRAWN, '').replace(/\s+/g, ' ').trim();
  return Array.from(letters, twinOf).join('').replace(/[Il|]/g, 'l');
}

// ---- Three levels ----

type Level = 'prose' | 'source' | 'command';

/**
 * For prose. Spells out hidden characters, marks without a base character, and letters of a word that are not in the script of
 * most of its letters. Newlines, tabs and characters that are already spelled out stay.
 */
export function revealed(text: string): string {
  return shownAt('prose', text);
}

/**
 * For source text and diffs. Spells out what `revealed` does, every blank other than the space, other ways to write an ASCII
 * letter (full-width, mathematical, phonetic), and words in another script whose letters all look like ASCII. Such a word stays
 * if it is next to a word of the same script that does not look like ASCII.
 */
export function revealedSource(text: string): string {
  return shownAt('source', text);
}

/**
 * For a command, a path or another argument. Spells out every character that may not be what it looks like, such as typographic
 * hyphens and quotes, words made of look-alikes of ASCII characters, and words whose order a display changes. What stays is
 * ASCII, accented Latin letters, words of scripts in general use, and emoji.
 */
export function spelledOut(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  return shownAt('command', inWrittenOrder(text.replace(BEYOND_ASCII, spellRun)));
}

/** A name or a path, spelled out on one line; in quotes if it contains a line break. */
export function spelledLine(text: string): string {
  return spelledOut(/[\u0000-\u001f\u007f"]/.test(text) ? JSON.stringify(text) : text);
}

const PLAIN_ASCII = /^[\t\n\x20-\x7e]*$/;
const BEYOND_ASCII = /[^\0-\x7f]+/gu;

const reveal = remembered((character) => spelled(character.codePointAt(0) ?? 0));

function spelled(code: number): string {
  if (code < 32) return `^${String.fromCharCode(code ^ 64)}`;
  if (code === 127) return '^?';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** No language puts more marks on one character (annex 39), and more may cover the lines around it. */
const MOST_MARKS = 4;

function shownAt(level: Level, text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  const kinds = table();
  const kindAt = (index: number): number => kinds[text.codePointAt(index) ?? 0] ?? KIND.hidden;
  let shown = '';
  /** The text before this position is in `shown`. */
  let done = 0;
  let index = 0;
  /** How many more marks the last base character may carry. */
  let room = 0;
  let base = 0;
  let before: Neighbour | null = null;

  const replace = (end: number, by: string): void => {
    shown += text.slice(done, index) + by;
    done = end;
  };

  while (index < text.length) {
    const code = text.codePointAt(index) ?? 0;
    const kind = kinds[code] ?? KIND.hidden;
    const next = index + (code > 0xffff ? 2 : 1);
    if (kind >= KIND.inner) {
      const found = wordAt(text, index, kindAt);
      if (found.isPlain) before = null;
      else {
        const { spell, neighbour } = strangersOf(level, text, found, before, kindAt);
        before = neighbour;
        if (spell !== null) replace(found.end, spellLetters(text, index, found.end, spell));
      }
      index = found.end;
      // The marks of a word belong to the word itself.
      room = 0;
      continue;
    }
    if (kind === KIND.mark && !isCarried(code, base)) room = 0;
    if (kind === KIND.hidden || (kind === KIND.mark && room === 0)) replace(next, spelled(code));
    else if (level !== 'prose' && code > 0x7f && (kind === KIND.blank || isOtherForm(text, index, code)))
      replace(next, spelled(code));
    if (kind === KIND.mark) room = Math.max(0, room - 1);
    else {
      room = kind === KIND.visible && code > 0x20 ? MOST_MARKS : 0;
      base = code;
    }
    index = next;
  }
  return done === 0 ? text : shown + text.slice(done);
}

/** A run of letters of scripts that look alike, and of the characters that may occur between two of them. */
interface Word {
  begin: number;
  end: number;
  /** ASCII only. */
  isPlain: boolean;
  /** The number of its letters in each script. */
  counts: Map<number, number>;
}

function wordAt(text: string, begin: number, kindAt: (index: number) => number): Word {
  const counts = new Map<number, number>();
  let index = begin;
  let isPlain = true;
  let marks = 0;
  let base = 0;
  while (index < text.length) {
    const kind = kindAt(index);
    const code = text.codePointAt(index) ?? 0;
    if (kind === KIND.mark) {
      marks += 1;
      if (marks > MOST_MARKS || !isCarried(code, base)) break;
    } else if (kind < KIND.inner) break;
    else {
      marks = 0;
      base = code;
    }
    if (kind >= FIRST_SCRIPT) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (code > 0x7f) isPlain = false;
    index += code > 0xffff ? 2 : 1;
  }
  return { begin, end: index, isPlain, counts };
}

/** The last word in another script: where it ends, and whether it counts as a genuine word of that script. */
interface Neighbour {
  end: number;
  script: number;
  isHonest: boolean;
}

/** Which letters of a word are spelled out; null for none. */
function strangersOf(
  level: Level,
  text: string,
  word: Word,
  before: Neighbour | null,
  kindAt: (index: number) => number,
): { spell: ((kind: number, character: string) => boolean) | null; neighbour: Neighbour | null } {
  const { begin, end, counts } = word;
  if (counts.size > 1) {
    // If two scripts are equally frequent, the first in the table is the word's own. That is Latin, in which the others are
    // spelled out.
    const most = Math.max(...counts.values());
    const own = Math.min(...[...counts].filter(([, count]) => count === most).map(([script]) => script));
    return {
      spell: (kind, character) =>
        kind >= FIRST_SCRIPT && (kind !== own || (level !== 'prose' && isLatinTwin(kind, character))),
      neighbour: null,
    };
  }
  const [script] = counts.keys();
  if (level === 'prose' || script === undefined) return { spell: null, neighbour: null };
  if (script === LATIN) return { spell: isLatinTwin, neighbour: null };
  const isHonest =
    !isMimic(text.slice(begin, end)) ||
    (level === 'source' &&
      (isBeside(before, script, text, begin) || startsHonestly(text, end, script, kindAt)));
  return {
    spell: isHonest ? null : (kind, character) => kind >= FIRST_SCRIPT || character > '\x7f',
    neighbour: { end, script, isHonest },
  };
}

/**
 * Whether every letter of a word in another script looks like an ASCII character, as in a Cyrillic word that looks like `copy`.
 */
function isMimic(word: string): boolean {
  return Array.from(word.replace(/[\0-\x7f\p{M}]/gu, '')).every(isTwin);
}

const BETWEEN_WORDS = /^[ ,.;:!?\xab\xbb"'()\u2013\u2014-]{1,3}$/;

function isBeside(before: Neighbour | null, script: number, text: string, begin: number): boolean {
  return (
    before?.isHonest === true &&
    before.script === script &&
    begin - before.end <= 3 &&
    BETWEEN_WORDS.test(text.slice(before.end, begin))
  );
}

/** Whether the next word is in this script and does not look like ASCII. */
function startsHonestly(
  text: string,
  end: number,
  script: number,
  kindAt: (index: number) => number,
): boolean {
  for (let index = end + 1; index <= end + 3 && index < text.length; index += 1) {
    if (kindAt(index) < KIND.inner) continue;
    const { begin, end: nextEnd, counts } = wordAt(text, index, kindAt);
    return (
      BETWEEN_WORDS.test(text.slice(end, begin)) &&
      counts.size === 1 &&
      counts.has(script) &&
      !isMimic(text.slice(begin, nextEnd))
    );
  }
  return false;
}

/** Latin letters up to this one belong to languages in use; later ones are phonetic or historical, and some look like ASCII. */
const LAST_ORDINARY_LATIN = '\u017e';

function isLatinTwin(kind: number, character: string): boolean {
  return kind === LATIN && character > LAST_ORDINARY_LATIN && (isTwin(character) || isFormOfAscii(character));
}

function spellLetters(
  text: string,
  begin: number,
  end: number,
  isSpelled: (kind: number, character: string) => boolean,
): string {
  const kinds = table();
  let shown = '';
  for (const character of text.slice(begin, end)) {
    const kind = kinds[character.codePointAt(0) ?? 0] ?? KIND.hidden;
    shown += isSpelled(kind, character) ? reveal(character) : character;
  }
  return shown;
}

// ---- Other forms of ASCII characters ----

/** Superscripts, subscripts and circled characters are equivalent to others, too, and look different. */
const RAISED_OR_CIRCLED = /[\xaa\xb2\xb3\xb9\xba\u02b0-\u02ff\u1d2c-\u1d6a\u2070-\u209c\u2460-\u24ff]/u;
/** Ideographs, kana and Hangul: their writers use full-width punctuation. */
const FULL_WIDTH_NEIGHBOUR =
  /[\u2e80-\u303f\u3041-\u30ff\u3105-\u312f\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\u{20000}-\u{3ffff}]/u;
const FULL_WIDTH_PUNCTUATION = /[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/u;

/** Whether a character is equivalent to an ASCII one and looks like it. */
const isFormOfAscii = remembered(
  (character) => /^[!-~]$/.test(character.normalize('NFKC')) && !RAISED_OR_CIRCLED.test(character),
);

function isOtherForm(text: string, index: number, code: number): boolean {
  const character = String.fromCodePoint(code);
  if (!isFormOfAscii(character)) return false;
  if (!FULL_WIDTH_PUNCTUATION.test(character)) return true;
  const around = [text.slice(Math.max(0, index - 2), index), text.slice(index + 1, index + 3)];
  return !around.some((side) => FULL_WIDTH_NEIGHBOUR.test(side));
}

// ---- Commands ----
// A person allows a command by its look, so a character stays only if it is what it looks like.

/**
 * The scripts in general use, from table 5 of Unicode's annex 31, without Latin. Most people cannot read the letters of the
 * other scripts.
 */
const IN_USE =
  'Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Knda Kana Khmr Laoo Mlym Mymr Orya Sinh ' +
  'Taml Telu Thaa Thai Tibt';
const inUse = onDemand(() => {
  const classes = IN_USE.split(' ').map((script) => `\\p{Script_Extensions=${script}}`);
  return new RegExp(`[${classes.join('')}]`, 'u');
});

/** Latin letters that are not an ASCII letter with marks, and do not look like one. */
const LATIN_OF_ITS_OWN = new Set('ßæœøđłðþŋħÆŒØĐŁÐÞŊĦẞ');

/** Emoji that are question and exclamation marks, operators or a dollar sign. */
const LIKE_PUNCTUATION = /[\u2753-\u2757\u2795-\u2797\u{1f4b2}\u{1f7f0}]/u;

type Display = 'as it is' | 'in a word' | 'spelled out';

const displayOf = remembered((character): Display => {
  if (isHidden(character)) return 'spelled out';
  // Another way to write something else, such as a full-width letter or a presentation form.
  if (character.normalize('NFKC') !== character) return 'spelled out';
  if (/\p{Emoji_Presentation}/u.test(character))
    return LIKE_PUNCTUATION.test(character) ? 'spelled out' : 'as it is';
  if (/\p{Script=Latin}/u.test(character)) {
    const isAccented = /^[A-Za-z]\p{M}+$/u.test(character.normalize('NFD'));
    return isAccented || LATIN_OF_ITS_OWN.has(character) ? 'as it is' : 'spelled out';
  }
  return /[\p{L}\p{M}]/u.test(character) && inUse().test(character) ? 'in a word' : 'spelled out';
});

/**
 * A single letter between ASCII characters may imitate one of them: `src\u30CEa` is not a path. So may several
 * that all look like ASCII: `src\u30CE\u30CEa`.
 */
function spellRun(run: string): string {
  let shown = '';
  let word: string[] = [];
  const endWord = (): void => {
    const letters = word.filter((character) => !/\p{M}/u.test(character));
    const isWord = word.length > 1 && /(?!\p{Lm})\p{L}/u.test(word[0] ?? '') && !letters.every(isTwin);
    shown += isWord ? word.join('') : word.map(reveal).join('');
    word = [];
  };
  for (const character of run) {
    const display = displayOf(character);
    if (display === 'in a word') {
      word.push(character);
      continue;
    }
    endWord();
    shown += display === 'as it is' ? character : reveal(character);
  }
  endWord();
  return shown;
}

/** Of the scripts in general use, those that are written from right to left, with their marks. */
const RIGHT_TO_LEFT = '\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Thaana}';
const unorderedRun = onDemand(() => new RegExp(`(?:[${RIGHT_TO_LEFT}]|[^\\p{L}\\n])+`, 'gu'));
const quotedPhrase = onDemand(
  () => new RegExp(`(?<!\\\\)(["'])([${RIGHT_TO_LEFT}])[${RIGHT_TO_LEFT}\\p{M}0-9 .,:;!?()-]*\\1`, 'gu'),
);
const firstWord = onDemand(() => new RegExp(`^[^${RIGHT_TO_LEFT}]*[${RIGHT_TO_LEFT}\\p{M}]+`, 'u'));
const orderedLater = onDemand(() => new RegExp(`[0-9${RIGHT_TO_LEFT}]`, 'u'));
const lettersFromRight = onDemand(() => new RegExp(`[${RIGHT_TO_LEFT}]`, 'gu'));

/**
 * A display reverses a right-to-left word together with what follows it, up to the next left-to-right letter. After `>`, such a
 * word would appear where the source of the redirection belongs, and the sign would be drawn as `<`. So such words are spelled
 * out, except for a single word and a sentence in quotes.
 */
function inWrittenOrder(text: string): string {
  return text.replace(unorderedRun(), (run) => {
    const words = run.replace(quotedPhrase(), '$1$2$1');
    const rest = words.replace(firstWord(), '');
    return rest !== words && orderedLater().test(rest) ? run.replace(lettersFromRight(), reveal) : run;
  });
}
