/**
 * What Emacs is given to display, its frames draw: the screen of a real terminal is read back, with UTF-8 and without.
 *
 * @module-tag as-displayed
 * @module-tag untrusted
 * @module-tag emacs
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { revealed, revealedSource } from '../../src/domain/display.ts';
import { childEnvironment, ROOT } from '../support/children.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { ALMOST_Q, lisp, openEmptyHome, writeEarlyInit } from '../support/emacs.ts';
import { graphicalEmacs, openGraphical } from '../support/emacs-gtk.ts';
import { lispFolder } from '../support/lisp.ts';
import { tempStore } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { everyCharacter } from '../support/unicode.ts';

let close: () => Promise<void>;
afterEach(() => close());

async function emacsIn(locale: string, files: Record<string, string[]>, size: Size): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), 'hive-test-drawn-'));
  writeEarlyInit(folder);
  for (const [name, texts] of Object.entries(files)) writeFileSync(join(folder, name), texts.join('\f'));
  const terminal = await openTerminal(
    folder,
    childEnvironment(tempStore(), { HOME: folder, TERM: 'xterm-256color', LANG: locale, LC_ALL: locale }),
    [
      ...['emacs', '-nw', ...ALMOST_Q, '-L', lispFolder(), '-l', join(ROOT, 'test/emacs/drawn.el')],
      ...['--eval', `(drawn-start ${lisp(folder)})`],
    ],
    size,
  );
  close = async () => {
    await terminal.close();
    rmSync(folder, { recursive: true });
  };
  await terminal.until(/^ready/m);
  return terminal;
}

interface Size {
  columns: number;
  lines: number;
}

const spelled = (one: string): string =>
  `<U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** As a text is shown on a terminal that has no UTF-8. */
const asciiOnly = (text: string): string => text.replace(/[^\0-\x7f]/gu, spelled);

describe('every character that Unicode has assigned', () => {
  // Ideographs and syllables of Hangul are alike: every fiftieth.
  const shown = everyCharacter().filter(
    (one, index) =>
      one > '\x7f' &&
      !/\p{Cs}/u.test(one) &&
      (!/[\p{Script=Han}\p{Script=Hangul}\p{Script=Tangut}\p{Script=Nushu}]/u.test(one) || index % 50 === 0),
  );
  /** Letters by script: three of them carry each mark. */
  const bases = new Map<string, string[]>();
  for (const one of shown) {
    const script = scriptOf(one);
    if (/(?!\p{Lm})\p{L}/u.test(one) && revealed(one) === one)
      bases.set(script, [...(bases.get(script) ?? []), one]);
  }
  const items = shown.flatMap((one) => {
    if (!/\p{M}/u.test(one)) return [one];
    const letters = bases.get(scriptOf(one)) ?? ['o'];
    const three = [letters[0], letters[Math.floor(letters.length / 2)], letters.at(-1)];
    return [...new Set(three)].map((letter) => `${letter ?? 'o'}${one}`);
  });
  const PER_LINE = 20;
  const lines = Array.from({ length: Math.ceil(items.length / PER_LINE) }, (_, line) =>
    items.slice(line * PER_LINE, (line + 1) * PER_LINE),
  );

  test.each([
    ['C.UTF-8', (text: string) => revealed(text)],
    ['C', (text: string) => asciiOnly(revealed(text))],
  ])('is on the screen of a terminal with the locale %s, or is spelled out there', async (locale, drawn) => {
    const size = { columns: 20 * 22, lines: 63 };
    const emacs = await emacsIn(locale, { lines: lines.map((line) => `.${line.join('|')}|.`) }, size);
    const lost: string[] = [];
    for (let page = 0; page * 60 < lines.length; page += 1) {
      await emacs.keys('p');
      const screen = await emacs.until(new RegExp(`^page ${page + 1}$`, 'm'));
      const rows = screen.filter((row) => row.startsWith('.'));
      for (const [index, line] of lines.slice(page * 60, (page + 1) * 60).entries()) {
        // Emacs may put a blank before a mark that it does not compose.
        const seen = (rows[index] ?? '')
          .slice(1)
          .split('|')
          .map((part) => part.replaceAll(' ', ''));
        for (const [place, item] of line.entries()) {
          const expected = drawn(item).replaceAll(/[\u00a0\u3000]/g, '');
          if (seen[place]?.replaceAll(/[\u00a0\u3000]/g, '') !== expected)
            lost.push(`${asciiOnly(item)}: ${seen[place] ?? 'nothing'}`);
        }
      }
    }
    expect(lost).toEqual([]);
  });

  test('takes pixels in a graphical frame, if a permission shows it as it is; a mark changes its letter', async () => {
    const desktop = await startDesktop();
    const home = await openEmptyHome();
    close = async () => {
      await home.close();
      await desktop.close();
    };
    const emacs = await openGraphical(
      graphicalEmacs(),
      home,
      desktop,
      `(progn (menu-bar-mode -1) (tool-bar-mode -1) (scroll-bar-mode -1) (set-frame-position nil 0 0)
        (set-frame-size nil 1200 980 t) (load ${lisp(join(ROOT, 'test/emacs/drawn.el'))} nil t))`,
    );
    const [closeHome, file] = [close, join(home.folder, 'screen')];
    close = async () => {
      await emacs.close();
      await closeHome();
    };
    // Emacs looks for a font for each, which takes a while: the first of a kind in each block.
    const kinds = new Map<string, string>();
    for (const item of items.filter((one) => revealedSource(one) === one)) {
      const code = [...item].at(-1)?.codePointAt(0) ?? 0;
      const kind = ['M', 'L', 'N', 'P', 'S'].find((name) => new RegExp(`\\p{${name}}`, 'u').test(item));
      const key = `${kind} ${code >> (kind === 'M' ? 5 : 8)}`;
      if (!kinds.has(key)) kinds.set(key, item);
    }
    const isMarked = (item: string): boolean => /\p{M}/u.test(item);
    const alone = [...kinds.values()].filter((item) => !isMarked(item));
    const marked = [...kinds.values()].filter(isMarked);
    expect(alone.length).toBeGreaterThan(400);
    expect(marked.length).toBeGreaterThan(50);
    // A mark is compared with its letter alone, which is beside it.
    const cells = [
      ...alone,
      ...(alone.length % 2 === 1 ? ['x'] : []),
      ...marked.flatMap((item) => [[...item][0] ?? '', item]),
    ];
    const lost: string[] = [];
    for (let from = 0; from < cells.length; from += CELLS) {
      const page = cells.slice(from, from + CELLS);
      const form = `(drawn-cells (list ${page.map((cell) => lisp(cell)).join(' ')}) ${STRIDE})`;
      const numbers = (await emacs.value(form)).match(/\d+/g)?.map(Number) ?? [];
      const [end = { left: 0, top: 0 }, ...places] = Array.from({ length: numbers.length / 2 }, (_, n) => ({
        left: numbers[2 * n] ?? 0,
        top: numbers[2 * n + 1] ?? 0,
      }));
      places.reverse();
      expect(places.length).toBe(page.length);
      const screen = await screenOf(desktop, file);
      // In a line a tall glyph may begin above the others.
      const lines = places.flatMap(({ left }, index) => (left === end.left ? [index] : []));
      const topOf = (first: number | undefined): number =>
        first === undefined
          ? end.top
          : Math.min(
              ...places
                .slice(
                  first,
                  lines.find((other) => other > first),
                )
                .map(({ top }) => top),
            );
      const pixelsOf = (index: number): string => {
        const [first, next] = [
          lines.findLast((line) => line <= index),
          lines.find((line) => line > index),
        ].map(topOf);
        return screen.cut(places[index]?.left ?? 0, first ?? 0, STRIDE, (next ?? 0) - (first ?? 0));
      };
      for (const [index, cell] of page.entries()) {
        const pixels = pixelsOf(index);
        const isDrawn = isMarked(cell) ? pixels !== pixelsOf(index - 1) : new Set(pixels).size > 1;
        if (!isDrawn) lost.push(asciiOnly(cell));
      }
    }
    expect(lost).toEqual([]);
  });
});

/** So many cells fit on a page, each so many pixels wide. */
const CELLS = 420;
const STRIDE = 80;

/** The screen of the desktop; `cut` gives the pixels of a part of it, in shades of grey. */
async function screenOf(
  desktop: Desktop,
  file: string,
): Promise<{ cut(left: number, top: number, width: number, height: number): string }> {
  // Netpbm: a header with the size and the largest value, then one byte or two for each pixel.
  await desktop.screenshot(`${file}.pgm`);
  const bytes = readFileSync(`${file}.pgm`);
  const [header, columns, , most] =
    /^P5\s+(\d+)\s+(\d+)\s+(\d+)\s/.exec(bytes.toString('latin1', 0, 100)) ?? [];
  if (header === undefined) throw new Error('The screenshot has another form.');
  const each = Number(most) > 255 ? 2 : 1;
  return {
    cut: (left, top, width, height) =>
      Array.from({ length: height }, (_, line) => {
        const from = header.length + ((top + line) * Number(columns) + left) * each;
        return bytes.toString('latin1', from, from + width * each);
      }).join(''),
  };
}

function scriptOf(character: string): string {
  return SCRIPTS.find(({ is }) => is.test(character))?.name ?? 'any';
}

const SCRIPTS = [
  ...'Adlm Ahom Arab Bali Batk Beng Bhks Brah Bugi Buhd Cakm Cham Copt Cyrl Deva Dogr Dupl Elba Ethi Glag Gong Gonm Gran'.split(
    ' ',
  ),
  ...'Gujr Guru Hano Hebr Hira Hmng Hmnp Java Kali Khar Khmr Khoj Kits Knda Kthi Lana Laoo Lepc Limb Mahj Maka Mand Mani'.split(
    ' ',
  ),
  ...'Marc Mend Mlym Modi Mong Mtei Mymr Nand Newa Nkoo Orya Perm Phag Rjng Rohg Samr Saur Shrd Sidd Sind Sinh Sogd Soyo'.split(
    ' ',
  ),
  ...'Sund Sylo Syrc Tagb Takr Talu Taml Telu Tfng Tglg Thaa Thai Tibt Tirh Wcho Zanb Diak Syrc Aghb'.split(
    ' ',
  ),
].flatMap((name) => {
  try {
    return [{ name, is: new RegExp(`\\p{Script=${name}}`, 'u') }];
  } catch {
    return [];
  }
});

describe('a text that is said to fit into the echo area', () => {
  const piece = fc.constantFrom(
    'rm -rf ~',
    'é',
    'ééééé',
    '漢字',
    'Ж',
    '🐝',
    'x'.repeat(37),
    'echo ',
    '\t',
    '\n',
    '\n\n',
    'e\u0301',
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 150 }).map((pieces) => `<${pieces.join('')}>`);

  test.each([
    ['C.UTF-8', { columns: 80, lines: 24 }],
    ['C.UTF-8', { columns: 40, lines: 12 }],
    ['C', { columns: 80, lines: 24 }],
    ['C', { columns: 132, lines: 40 }],
  ])('is on the screen as a whole: %s, %o', async (locale, size) => {
    const texts = [...fc.sample(text, 40), `<${'é'.repeat(size.columns * size.lines)}>`];
    const emacs = await emacsIn(locale, { texts }, size);
    let whole = 0;
    for (const [index, one] of texts.entries()) {
      await emacs.keys('t');
      const [title = '', ...rest] = await emacs
        .until(new RegExp(`^text ${index + 1} (fits|is)[\\s\\S]*`, 'm'))
        .catch((cause: unknown) => {
          // The texts of another run are others.
          throw new Error(`This text was not shown: ${JSON.stringify(one)}`, { cause });
        });
      if (title.endsWith('fits')) {
        whole += 1;
        const ends = new RegExp(`^text ${index + 1} fits[\\s\\S]*>$`, 'm');
        const drawn = (await emacs.until(ends))
          .slice(1)
          .join('')
          .replaceAll(/[\s\\]/g, '');
        const wanted = (locale === 'C' ? asciiOnly(revealed(one)) : revealed(one)).replaceAll(/[\s\\]/g, '');
        expect(drawn, rest.join('\n')).toBe(wanted);
      }
      await emacs.keys('x');
    }
    expect(whole).toBeGreaterThan(2);
    expect(whole).toBeLessThan(texts.length);
  });
});
