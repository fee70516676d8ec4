/** Texts that make parsers of Markdown slow, deep or forgetful, and pages that draw them. */
import fc from 'fast-check';

/** Markup that nests, or that a parser leaves out. */
const MARKUP = [
  '>',
  '> ',
  '1. ',
  '- ',
  '  - ',
  '* ',
  '#',
  '# ',
  '=',
  '---\n',
  '__a',
  '**a',
  '*a**b',
  '***a',
  '_a_',
  '~~a',
  '`',
  '``a`',
  '[',
  '![',
  '[a](',
  '[a](b "c")',
  '[a]: https://x.example "d"\n',
  '](',
  '<',
  '<a',
  '<!--',
  '<https://x.example/e>',
  'https://x.example/f(g)',
  'http://',
  '&amp;',
  '&',
  '\\',
  '\\*',
  '```sh h\n',
  '~~~~ diff i\n',
  '```\n',
  '    ',
  '\t',
  '| a ',
  '| j | k |\n|---|---|\n| l | m | n |\n',
  '|-|\n',
  '- [x] o\n',
  '<script>p</script>',
  '(',
  ')',
  ' "q"',
  '  \n',
  '\n\n',
  '\r\n',
];
const WORDS = ['word', 'two words', 'snake_case', '42', 'ёж', '漢字', 'שלום', 'é', '👩‍💻', '7.'];
/** Hidden, turned around, stacked, wide, or of a script that is hard to lay out. */
const STRANGE = [
  '\u200b',
  '\u202e',
  '\u2066',
  '\u0301',
  '\u0489',
  '\u1161',
  '\ua9c1',
  '\u0e33',
  '\ufdfd',
  '\ufffd',
  '\u{1d465}',
  '\u{e0041}',
  '\u00a0',
  '\u2028',
  '\uffa0',
  '𒐫',
  '\u0dd4',
  'ᬩ᭄ᬩ',
];

const atom = fc.constantFrom(...MARKUP, ...WORDS, ...STRANGE);
/** One of them again and again, to the end of the room. */
const repeated = (most: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(atom, { minLength: 1, maxLength: 3 }), fc.constantFrom(8, 200, 4_000, most))
    .map(([atoms, times]) => {
      const unit = atoms.join('');
      return unit.repeat(Math.max(1, Math.min(times, Math.floor(most / Buffer.byteLength(unit)))));
    });
const mixed = fc.array(atom, { minLength: 1, maxLength: 60 }).map((atoms) => atoms.join(''));
const letters = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });

/** Texts of at most this many bytes, with something to see in them. */
export function hostileText(most_bytes: number): fc.Arbitrary<string> {
  return fc
    .oneof(
      repeated(most_bytes),
      mixed,
      letters,
      fc.tuple(mixed, repeated(most_bytes - 4_000), mixed).map((parts) => parts.join('\n')),
    )
    .map((text) => `seen ${text}`)
    .filter((text) => Buffer.byteLength(text) <= most_bytes);
}

/** A text as a person sees it: without blanks, and with each character that is spelled out as itself. */
export function seen(text: string): string {
  return text
    .replace(/<U\+([0-9A-F]{4,6})>/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\r\n/g, '\n')
    .replace(
      /(?![\t\n\r])[\u0000-\u001f]/g,
      (control) => `^${String.fromCharCode(control.charCodeAt(0) ^ 64)}`,
    )
    .replace(/\r(?!\n)/g, '^M')
    .replaceAll('\u007f', '^?')
    .replace(/[\s\u2028\u2029\u0085]+/gu, '');
}
