/**
 * Frames draw everything that Emacs is given to display: the screen of a real terminal is read back, with UTF-8 and without.
 *
 * @module-tag as-displayed
 * @module-tag untrusted
 * @module-tag emacs
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { revealed } from '../../src/domain/display.ts';
import { childEnvironment, ROOT } from '../support/children.ts';
import { asciiOnly, everyDrawn, withoutPixels } from '../support/drawn.ts';
import { ALMOST_Q, lisp, writeEarlyInit } from '../support/emacs.ts';
import { lispFolder } from '../support/lisp.ts';
import { tempStore } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { PATIENCE_MS } from '../support/wait.ts';

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
  onTestFinished(async () => {
    await terminal.close();
    rmSync(folder, { recursive: true });
  });
  await terminal.until(/^ready/m);
  return terminal;
}

interface Size {
  columns: number;
  lines: number;
}

describe('every character that Unicode has assigned', () => {
  const items = everyDrawn();
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

  // All blocks are drawn in test/faults/drawn.test.ts.
  test('takes pixels in a graphical frame, if a permission shows it as it is; a mark changes its letter', async () => {
    expect(await withoutPixels(10)).toEqual([]);
  });
});

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
  ['C', { columns: 132, lines: 40 }],
])(
  'a text that is said to fit into the echo area is on the screen as a whole: %s, %o',
  async (locale, size) => {
    const texts = [...fc.sample(text, 40), `<${'é'.repeat(size.columns * size.lines)}>`];
    const emacs = await emacsIn(locale, { texts }, size);
    let whole = 0;
    for (const [index, one] of texts.entries()) {
      await emacs.keys('t');
      const [title = ''] = await emacs
        .until(new RegExp(`^text ${index + 1} (fits|is)`, 'm'))
        .catch((cause: unknown) => {
          // The texts of another run are others.
          throw new Error(`This text was not shown: ${JSON.stringify(one)}`, { cause });
        });
      if (title.endsWith('fits')) {
        whole += 1;
        // Its title is drawn first, while the text before it is still on the screen.
        const drawn = async () =>
          (await emacs.screen())
            .slice(1)
            .join('')
            .replaceAll(/[\s\\]/g, '');
        const wanted = (locale === 'C' ? asciiOnly(revealed(one)) : revealed(one)).replaceAll(/[\s\\]/g, '');
        await expect.poll(drawn, { timeout: PATIENCE_MS }).toBe(wanted);
      }
      await emacs.keys('x');
    }
    expect(whole).toBeGreaterThan(2);
    expect(whole).toBeLessThan(texts.length);
  },
);
