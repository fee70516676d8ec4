/**
 * Text from agents and people is untrusted (invariant 12). It is made storable once, at the boundary: NUL breaks
 * Emacs' parser and PostgreSQL, and a lone surrogate breaks JSON on the Emacs side.
 */

const NUL = /\u0000/g;

/**
 * The end of a file with text from agents. Emacs reads local variables only behind the last page break, so it takes none
 * of the text before for any.
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

/** Whether nothing in it is visible: white space, zero-width and control characters only. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cf}\p{Cc}]/u.test(text.replace(hidden(), ''));
}

/**
 * Makes a value when it is first needed. Expressions with many characters or classes of Unicode take up to a millisecond to
 * make, which every hook would pay, and most hooks need none.
 */
export function onDemand<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Characters as `first-last`, separated by spaces, in hexadecimal. */
type Ranges = string;

/** The ranges as the inside of a character class; `spell` writes one character. */
export function characterClass(ranges: Ranges, spell: (code: string) => string): string {
  return ranges
    .split(' ')
    .map((range) => range.split('-').map(spell).join('-'))
    .join('');
}

function anyOf(ranges: Ranges, flags: string, repeat = ''): RegExp {
  return new RegExp(`[${characterClass(ranges, (code) => `\\u{${code}}`)}]${repeat}`, flags);
}

/**
 * Characters that a terminal would obey, reorder by or hide: controls, everything that Unicode calls default-ignorable
 * (soft hyphen, fillers, zero width, variation selectors, bidi marks, invisible tags), line separators, the empty
 * braille pattern, and the blanks that no keyboard writes. With them a text could forge the line that names its author, or look like another text.
 * Emacs gets these ranges and the ones below from scripts/lisp-names.mjs.
 */
export const HIDDEN_RANGES: Ranges =
  '0-8 b-1f 7f-9f ad 34f 61c 115f-1160 1680 17b4-17b5 180b-180f 2000-200f 2028-202e 205f-206f 2800 3164 fe00-fe0f feff ' +
  'ffa0 fff0-fffb 1bca0-1bca3 1d173-1d17a e0000-e0fff';

/** All of them. */
export const hidden: () => RegExp = onDemand(() => anyOf(HIDDEN_RANGES, 'gu'));

/**
 * Scripts with letters that look alike. A word of two of them is not what it seems. Others, such as Japanese, are often
 * written together with Latin, and look like nothing in it.
 */
export const LOOK_ALIKE_SCRIPTS: Readonly<Record<'latin' | 'others', readonly Ranges[]>> = {
  latin: [
    '41-5a 61-7a aa ba c0-d6 d8-f6 f8-2af 1d00-1d25 1d2c-1d5c 1e00-1eff 2c60-2c7f a722-a7ff ab30-ab64 fb00-fb06',
  ],
  others: [
    '370-3ff 1f00-1fff',
    '400-52f 1c80-1c8f 2de0-2dff a640-a69f',
    '531-556 561-587 fb13-fb17',
    '13a0-13ff ab70-abbf',
    '2c80-2cff',
  ],
};

/** What may be between two letters of a word, of any script: digits, the underscore, combining marks. */
export const WITHIN_WORDS: Ranges = '30-39 5f 300-34e 350-36f';

/**
 * Whether a character in it is another way to write an ASCII one, such as a no-break space, a full-width letter or the
 * Kelvin sign: some programs read it as that one.
 */
export function hasAsciiTwin(text: string): boolean {
  for (const character of text)
    if (character > '\x7f' && /[\0-\x7f]/.test(character.normalize('NFKC'))) return true;
  return false;
}

/**
 * Letters of other scripts that look like an ASCII character, which is the first of each word here. Of the scripts that look
 * alike they are those of Unicode's list of confusables (annex 39, version 13) without accents, and a few more. Of the others
 * they are strokes, rings and dots, which together look like punctuation.
 */
const TWINS =
  '"\u05f0\u05f1\u05f2 \'\u05d9 +十 -\u1173ーㅡ一 .\u119eㆍ /ノ丿 2ϨꙄ 3ЗҘӠⳌ 4Ꮞ 6бᏮⳒ 9Ⳋ <く =ニ二 ?ॽ AΑАᎪ ' +
  'BΒВᏴ CСҪᏟⲤ DᎠ EΕЕᎬ FϜ GԌᏀᏳ HΗНҢӇӉᎻⲎ JͿЈᎫ KΚКҚҞᏦⲔ LᏞⳐ MΜϺМӍᎷⲘ NΝⲚ OΘΟθОѲӨՕଠዐᎾᏫⲞ PΡРᏢⲢ RᎡᏒ ' +
  'SЅՏᏕᏚ TΤТҬᎢⲦ UՍሀᏌ VѴᏙ WԜᎳᏔ XΧХҲⲬ YΥУҮҰᎩᎽⲨ ZΖᏃ \\丶 ^へヘ aαа bБЬвѢѣҌҍᏏ cсҫⲥꮯ dԁᏧ eеҽҿ fք gԍց ' +
  'hћһհᏂᏲꚕ iιіᎥꙇꭵ jϳј kκ lΙІӀӏլ\u05d5\u05df\u0627\u1175Ⲓㅣ丨 nηոռ ' +
  'oοσоѳөօ\u05e1\u0647\u06be\u06c1\u06d5\u06ffഠဝჿ\u110bⲟㅇꭴꮎꮻ pρрⲣ qԛգզ rгғⲅꮁ sѕꮪ uυսꮜ ' +
  'vνѵ\u05d8ꮩ wѡѽԝաꮃ xхメ乂 yγуүұყ zꮓ ĸк';
const twins = onDemand(
  () =>
    new Map(
      TWINS.split(' ').flatMap((word) => {
        const [ascii = '', ...alike] = Array.from(word);
        return alike.map((one): [string, string] => [one, ascii]);
      }),
    ),
);

/** What a letter looks like, without its accents; the letter itself if it looks like nothing else. */
function twinOf(character: string): string {
  const [letter = '', ...rest] = character.normalize('NFD');
  const base = rest.every((mark) => /\p{M}/u.test(mark)) ? letter : character;
  return twins().get(base) ?? character;
}

const PLAIN = /^[ -~]*$/;

/** Equal for texts that a person cannot tell apart at a glance. */
export function skeletonOf(text: string): string {
  // The rest would change nothing in plain ASCII, and takes seven times as long.
  if (PLAIN.test(text)) return text.replace(/ +/g, ' ').trim().replace(/[Il|]/g, 'l');
  const visible = text.normalize('NFKC').replace(hidden(), '').replace(/\s+/g, ' ').trim();
  return Array.from(visible, twinOf).join('').replace(/[Il|]/g, 'l');
}

const scripts = onDemand(() =>
  [...LOOK_ALIKE_SCRIPTS.latin, ...LOOK_ALIKE_SCRIPTS.others].map((ranges) => anyOf(ranges, 'gu')),
);
const otherScript = onDemand(() => anyOf(LOOK_ALIKE_SCRIPTS.others.join(' '), 'u'));
const word = onDemand(() =>
  anyOf([...LOOK_ALIKE_SCRIPTS.latin, ...LOOK_ALIKE_SCRIPTS.others, WITHIN_WORDS].join(' '), 'gu', '+'),
);

/**
 * The same text with each hidden character spelled out, such as `<U+200B>`, and so the letters of a word that are not
 * of the script of most of it. Newlines and tabs stay. What is spelled out already stays as it is.
 */
export function revealed(text: string): string {
  const shown = text.replace(hidden(), reveal);
  return otherScript().test(shown) ? shown.replace(word(), spellStrangers) : shown;
}

function spellStrangers(given: string): string {
  if (!otherScript().test(given)) return given;
  const found = scripts().map((script) => ({ script, count: given.match(script)?.length ?? 0 }));
  // Of two that are as frequent, the one that comes first here is the word's own.
  const most = Math.max(...found.map(({ count }) => count));
  const own = found.findIndex(({ count }) => count === most);
  return found.reduce(
    (spelled, { script, count }, index) =>
      // Latin comes first: what is spelled out is Latin.
      index === own || count === 0 ? spelled : spelled.replace(script, reveal),
    given,
  );
}

function reveal(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 32) return `^${String.fromCharCode(code ^ 64)}`;
  if (code === 127) return '^?';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

// ---- Commands ----
// A person allows a command by what it looks like, so there only what is plainly what it looks like is shown as it is.

/** Of source text and diffs: `revealed`, and with it every blank that is no space. */
export function revealedSource(text: string): string {
  return revealed(text).replace(/(?! )\p{Zs}/gu, reveal);
}

/**
 * Of a command, a path or another argument: `revealed`, and with it every character that is not plainly what it looks
 * like, such as no-break spaces, typographic hyphens and quotes, full-width forms, and words that consist of the twins of
 * ASCII characters. What stays is ASCII, accented Latin letters, words of scripts in general use, and emoji.
 */
export function spelledOut(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  return revealed(text.replace(BEYOND_ASCII, spellRun)).replace(word(), spellTwins);
}

/** A name or a path, spelled out on one line: in quotes where it has a line break of its own. */
export function spelledLine(text: string): string {
  return spelledOut(/[\u0000-\u001f\u007f"]/.test(text) ? JSON.stringify(text) : text);
}

/** A word in which every letter of another script has an ASCII twin, such as one that looks like `copy`. */
function spellTwins(given: string): string {
  const foreign = Array.from(given).filter((character) => otherScript().test(character));
  return foreign.length === 0 || !foreign.every(isTwin) ? given : given.replace(BEYOND_ASCII, spellAll);
}

function isTwin(character: string): boolean {
  return twinOf(character) <= '\x7f';
}

function spellAll(run: string): string {
  return Array.from(run, reveal).join('');
}

const PLAIN_ASCII = /^[\t\n\x20-\x7e]*$/;
const BEYOND_ASCII = /[^\0-\x7f]+/gu;
/** The scripts in general use, from table 5 of Unicode's annex 31, without Latin. The others have letters that nobody knows. */
const IN_USE =
  'Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Knda Kana Khmr Laoo Mlym Mymr Orya Sinh ' +
  'Taml Telu Thaa Thai Tibt';
const inUse = onDemand(() => {
  const classes = IN_USE.split(' ').map((script) => `\\p{Script_Extensions=${script}}`);
  return new RegExp(`[${classes.join('')}]`, 'u');
});

/** Latin letters that are no ASCII letter with marks, and look like none. */
const LATIN_OF_ITS_OWN = new Set('ßæœøđłðþŋħÆŒØĐŁÐÞŊĦẞ');

/** Emoji that are question and exclamation marks, operators or a dollar sign. */
const LIKE_PUNCTUATION = /[\u2753-\u2757\u2795-\u2797\u{1f4b2}\u{1f7f0}]/u;

type Display = 'as it is' | 'in a word' | 'spelled out';

function displayOf(character: string): Display {
  // Another way to write something else, such as a full-width letter or a presentation form.
  if (character.normalize('NFKC') !== character) return 'spelled out';
  if (/\p{Emoji_Presentation}/u.test(character))
    return LIKE_PUNCTUATION.test(character) ? 'spelled out' : 'as it is';
  if (/\p{Script=Latin}/u.test(character)) {
    const isAccented = /^[A-Za-z]\p{M}+$/u.test(character.normalize('NFD'));
    return isAccented || LATIN_OF_ITS_OWN.has(character) ? 'as it is' : 'spelled out';
  }
  return /[\p{L}\p{M}]/u.test(character) && inUse().test(character) ? 'in a word' : 'spelled out';
}

/**
 * A letter that stands alone between ASCII characters may be there for its look: `src\u30CEa` is no path. So may several
 * that all look like ASCII: `src\u30CE\u30CEa`.
 */
function spellRun(run: string): string {
  let shown = '';
  let word: string[] = [];
  const endWord = (): void => {
    const letters = word.filter((character) => !/\p{M}/u.test(character));
    const isWord = word.length > 1 && /(?!\p{Lm})\p{L}/u.test(word[0] ?? '') && !letters.every(isTwin);
    shown += isWord ? word.join('') : spellAll(word.join(''));
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

/** Cleans every string inside a JSON-like value, keys included. The JSON parser has already bounded the depth. */
export function cleanDeep<T>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T;
  if (Array.isArray(value)) return value.map((item) => cleanDeep(item)) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [cleanText(key), cleanDeep(item)]),
    ) as T;
  }
  return value;
}

/** What search compares: NFKC, lower case, white space folded. Done in JS so that all engines agree. */
export function searchText(...parts: (string | null | undefined)[]): string {
  return parts
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .join(' ')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}

/** The first `length` characters on one line, with an ellipsis where text was left out. */
export function excerpt(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join('')}…`;
}

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

/** The text before `applyEdits`. @throws Error when the text is not the result of these edits. */
export function revertEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduceRight((now, edit) => replaceAt(now, edit.offset, edit.inserted, edit.removed), text);
}

function replaceAt(text: string, offset: number, old: string, by: string): string {
  if (!text.startsWith(old, offset)) throw new Error('The text is not the one that was edited.');
  return text.slice(0, offset) + by + text.slice(offset + old.length);
}
