/**
 * Markdown on the page of the inbox: formatted, and never without a part of its source.
 * @module-tag untrusted
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, type Inline } from '../../src/extensions/inbox/page/markdown.ts';
import { hostileText } from '../support/hostile-texts.ts';

const MOST_PARTS = 2_000;

/** Everything that the page gets of a text, one after the other. */
function textOf(shown: Block | Inline): string {
  if (typeof shown === 'string') return shown;
  switch (shown.as) {
    case 'break':
      return '';
    case 'code':
      return 'opened' in shown ? [shown.opened, shown.of, shown.closed].join('\n') : shown.of;
    case 'mark':
    case 'link':
    case 'plain':
      return shown.of;
    case 'quote':
      return shown.of.map((line) => line.map(textOf).join('')).join('\n');
    case 'list':
      return shown.of.map(({ of }) => of.map(textOf).join('')).join('\n');
    case 'table':
      return shown.of.map((row) => row.flatMap((cell) => cell.map(textOf)).join('')).join('\n');
    default:
      return shown.of.map(textOf).join('');
  }
}
const visible = (text: string): string => text.replace(/\s+/gu, '');
const partsOf = (shown: Block | Inline): number => {
  if (typeof shown === 'string') return 1;
  const of: unknown = 'of' in shown ? shown.of : [];
  const below = (value: unknown): number =>
    Array.isArray(value)
      ? value.reduce((sum: number, one) => sum + below(one), 0)
      : value !== null && typeof value === 'object' && !('as' in value) && 'of' in value
        ? below(value.of)
        : partsOf(value as Inline);
  return 1 + (Array.isArray(of) ? below(of) : 0);
};
const depthOf = (shown: Block | Inline): number =>
  typeof shown === 'string' || !('of' in shown) || typeof shown.of === 'string'
    ? 0
    : 1 + Math.max(0, ...(shown.of as unknown[]).flat(3).map((one) => depthOf(one as Inline)));

describe('a hostile text', () => {
  test('has every visible character on the page, in its order', () => {
    fc.assert(
      fc.property(hostileText(20_000), (text) => {
        expect(visible(blocksOf(text, MOST_PARTS).map(textOf).join('\n'))).toBe(visible(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test('has few parts, which nest a few levels', () => {
    fc.assert(
      fc.property(hostileText(64_000), (text) => {
        const blocks = blocksOf(text, MOST_PARTS);
        // A part may be two: a piece, and the item or cell that it is in.
        expect(blocks.reduce((sum, one) => sum + partsOf(one), 0)).toBeLessThan(3 * MOST_PARTS);
        expect(Math.max(0, ...blocks.map(depthOf))).toBeLessThan(12);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the page draws', () => {
  const draw = (text: string): Block[] => blocksOf(text, MOST_PARTS);
  const inline = (text: string): Inline[] => {
    const [only] = draw(text);
    return only?.as === 'paragraph' ? only.of : [];
  };
  const mark = (of: string): Inline => ({ as: 'mark', of });

  test.each<[string, Inline[]]>([
    ['**a**', [{ as: 'strong', of: [mark('**'), 'a', mark('**')] }]],
    ['*a* b', [{ as: 'em', of: [mark('*'), 'a', mark('*')] }, ' b']],
    [
      '***a***',
      [{ as: 'strong', of: [mark('**'), { as: 'em', of: [mark('*'), 'a', mark('*')] }, mark('**')] }],
    ],
    ['~~a~~', [{ as: 'del', of: [mark('~~'), 'a', mark('~~')] }]],
    ['`a*b*`', [mark('`'), { as: 'code', of: 'a*b*' }, mark('`')]],
    ['``a`b``', [mark('``'), { as: 'code', of: 'a`b' }, mark('``')]],
    ['\\*a\\*', [mark('\\'), '*a', mark('\\'), '*']],
    ['snake_case_name', ['snake_case_name']],
    ['2 * 3 * 4', ['2 * 3 * 4']],
    ['a  \nb', ['a  ', { as: 'break' }, '\nb']],
    ['[a](https://x.example/b "c").', ['[a](', { as: 'link', of: 'https://x.example/b' }, ' "c").']],
    ['(https://x.example/a_(b)).', ['(', { as: 'link', of: 'https://x.example/a_(b)' }, ').']],
    [
      '**https://x.example**',
      [{ as: 'strong', of: [mark('**'), { as: 'link', of: 'https://x.example' }, mark('**')] }],
    ],
    // Its reader could not tell where it leads.
    ['https://ex\u0430mple.org', ['https://ex\u0430mple.org']],
    ['javascript:alert(1)', ['javascript:alert(1)']],
  ])('%s', (text, shown) => expect(inline(text)).toEqual(shown));

  test('headings, quotes, lists, rules and code', () => {
    const text = [
      '## A',
      'b',
      '===',
      '> c',
      '> d',
      '- e',
      '  f',
      '  1. g',
      '* * *',
      '```diff h',
      '+i',
      '```',
      '',
      '    j',
    ];
    expect(draw(text.join('\n'))).toEqual([
      { as: 'heading', level: 2, of: [mark('##'), ' A'] },
      { as: 'heading', level: 1, of: ['b', { as: 'break' }, mark('===')] },
      {
        as: 'quote',
        of: [
          [mark('> '), 'c'],
          [mark('> '), 'd'],
        ],
      },
      {
        as: 'list',
        of: [
          { depth: 0, of: [mark('-'), ' e\n  f'] },
          { depth: 1, of: [mark('  1.'), ' g'] },
        ],
      },
      { as: 'paragraph', of: [mark('* * *')] },
      { as: 'code', language: 'diff', opened: '```diff h', of: '+i', closed: '```' },
      { as: 'code', language: '', opened: null, of: '    j', closed: null },
    ]);
  });

  test('a table in columns, with every cell', () => {
    expect(draw('| a | b |\n|---|---|\n| c \\| d | e | f |\ng')).toEqual([
      {
        as: 'table',
        of: [
          [
            [mark('| '), 'a '],
            [mark('| '), 'b ', mark('|')],
          ],
          [[mark('|---')], [mark('|---'), mark('|')]],
          [
            [mark('| '), 'c ', mark('\\'), '| d '],
            [mark('| '), 'e '],
            [mark('| '), 'f ', mark('|')],
          ],
        ],
      },
      { as: 'paragraph', of: ['g'] },
    ]);
  });
});
