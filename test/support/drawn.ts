/** The picture that a graphical Emacs draws, read from the pixels of its screen. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { revealed, revealedSource } from '../../src/domain/display.ts';
import { ROOT } from './children.ts';
import { type Desktop, startDesktop } from './desktop.ts';
import { lisp, openEmptyHome } from './emacs.ts';
import { type Graphical, graphicalEmacs, openGraphical } from './emacs-gtk.ts';
import { closedAtEnd } from './lifetime.ts';
import { everyCharacter } from './unicode.ts';

const spelled = (one: string): string =>
  `<U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** As a text is shown on a terminal that has no UTF-8. */
export const asciiOnly = (text: string): string => text.replace(/[^\0-\x7f]/gu, spelled);

/** Every character that is not ASCII; a mark on up to three letters of its script. */
export function everyDrawn(): string[] {
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
  return shown.flatMap((one) => {
    if (!/\p{M}/u.test(one)) return [one];
    const letters = bases.get(scriptOf(one)) ?? ['o'];
    const three = [letters[0], letters[Math.floor(letters.length / 2)], letters.at(-1)];
    return [...new Set(three)].map((letter) => `${letter ?? 'o'}${one}`);
  });
}

/**
 * Those of the characters that a graphical Emacs draws without pixels although a permission shows them as they are, and the
 * marks that do not change their letter. Emacs looks for a font for each, which takes a while: so the first of a kind in
 * each block is drawn, of every `nth` block.
 */
export async function withoutPixels(nth: number): Promise<string[]> {
  const kinds = new Map<string, string>();
  for (const item of everyDrawn().filter((one) => revealedSource(one) === one)) {
    const code = [...item].at(-1)?.codePointAt(0) ?? 0;
    const kind = ['M', 'L', 'N', 'P', 'S'].find((name) => new RegExp(`\\p{${name}}`, 'u').test(item));
    const key = `${kind} ${code >> (kind === 'M' ? 5 : 8)}`;
    if (!kinds.has(key)) kinds.set(key, item);
  }
  const chosen = (are: boolean): string[] =>
    [...kinds.values()].filter((item) => isMarked(item) === are).filter((_, index) => index % nth === 0);
  const [alone, marked] = [chosen(false), chosen(true)];
  expect(alone.length).toBeGreaterThan(400 / nth);
  expect(marked.length).toBeGreaterThan(50 / nth);
  // A mark is compared with its letter alone, which is beside it.
  const cells = [
    ...alone,
    ...(alone.length % 2 === 1 ? ['x'] : []),
    ...marked.flatMap((item) => [[...item][0] ?? '', item]),
  ];
  const desktop = closedAtEnd(await startDesktop());
  const home = await openEmptyHome();
  const emacs = closedAtEnd(
    await openGraphical(
      graphicalEmacs(),
      home,
      desktop,
      `(progn (menu-bar-mode -1) (tool-bar-mode -1) (scroll-bar-mode -1) (set-frame-position nil 0 0)
      (set-frame-size nil 1200 980 t) (load ${lisp(join(ROOT, 'test/emacs/drawn.el'))} nil t))`,
    ),
  );
  const lost: string[] = [];
  for (let from = 0; from < cells.length; from += CELLS) {
    const page = cells.slice(from, from + CELLS);
    lost.push(...(await undrawn(emacs, desktop, join(home.folder, 'screen'), page)));
  }
  return lost;
}

const isMarked = (item: string): boolean => /\p{M}/u.test(item);

/** So many cells fit on a page, each so many pixels wide. */
const CELLS = 420;
const STRIDE = 80;

/** The cells of one page that are not drawn. */
async function undrawn(
  emacs: Graphical,
  desktop: Desktop,
  file: string,
  page: readonly string[],
): Promise<string[]> {
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
  const topOf = (first: number | undefined): number => {
    if (first === undefined) return end.top;
    const next = lines.find((other) => other > first);
    return Math.min(...places.slice(first, next).map(({ top }) => top));
  };
  const pixelsOf = (index: number): string => {
    const first = topOf(lines.findLast((line) => line <= index));
    const next = topOf(lines.find((line) => line > index));
    return screen.cut(places[index]?.left ?? 0, first, STRIDE, next - first);
  };
  return page
    .filter((cell, index) => {
      const pixels = pixelsOf(index);
      return isMarked(cell) ? pixels === pixelsOf(index - 1) : new Set(pixels).size === 1;
    })
    .map(asciiOnly);
}

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
