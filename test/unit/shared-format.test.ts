/** The shared buffer as text: rendered and read back it is the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMentions } from '../../src/domain/mention-parser.ts';
import {
  type Block,
  INTRODUCTION,
  normalizeBody,
  parseShared,
  renderBlock,
  renderShared,
  stampOf,
} from '../../src/domain/messages.ts';

const SEED = `---
vibing.nvim: true
type: shared
created_at: 2026-01-11T18:00:00
---

# Shared Buffer

## 2026-01-11 18:00:00 Claude-abc12

@Claude-def34 ログイン機能の実装が完了しました。レビューお願いします。

## 2026-01-11 18:05:00 Claude-def34

@Claude-abc12 確認しました。問題ありません。

## 2026-01-11 18:10:00 Claude-xyz56

@All 全体的な進捗を確認したいです。
`;

test("the seed's own file is read", () => {
  const { front, blocks } = parseShared(SEED);
  expect(front).toEqual({ 'vibing.nvim': 'true', type: 'shared', created_at: '2026-01-11T18:00:00' });
  expect(blocks.map(({ stamp, handle }) => [stamp, handle])).toEqual([
    ['2026-01-11 18:00:00', 'Claude-abc12'],
    ['2026-01-11 18:05:00', 'Claude-def34'],
    ['2026-01-11 18:10:00', 'Claude-xyz56'],
  ]);
  expect(blocks[1]?.body).toBe('@Claude-abc12 確認しました。問題ありません。');
});

test('the output is what the seed shows', () => {
  const block = { stamp: '2026-01-11 18:00:00', handle: 'Claude-abc12', body: '@Claude-def34 Done.' };
  expect(renderShared([block, block], { created: '2026-01-11 18:00:00', project: 'demo' })).toBe(`---
hive: true
type: shared
created_at: 2026-01-11T18:00:00
project: demo
---

# Shared Buffer

${INTRODUCTION}
## 2026-01-11 18:00:00 Claude-abc12

@Claude-def34 Done.

## 2026-01-11 18:00:00 Claude-abc12

@Claude-def34 Done.

\f
`);
});

test('the introduction is part of no message, and mentions nobody', () => {
  const block = { stamp: '2026-01-11 18:00:00', handle: 'Claude-abc12', body: 'Done.' };
  const text = renderShared([block], { created: '2026-01-11 18:00:00', project: null });
  expect(parseShared(text).blocks).toEqual([block]);
  expect(parseShared(text).lead).toBe(`# Shared Buffer\n\n${INTRODUCTION.trimEnd()}`);
  expect(parseMentions(INTRODUCTION)).toEqual([]);
  expect(parseMentions(text)).toEqual([]);
});

test('text that is not a message is recognized: text before the first heading, and headings with nothing below', () => {
  const { lead, blocks, empty } = parseShared(
    'Hello\n\n## 2026-01-11 18:00:00 A\n\n## 2026-01-11 18:00:01 B\n\nyes\n\n## 2026-01-11 18:00:02 C\n',
  );
  expect(lead).toBe('Hello');
  expect(blocks.map(({ handle }) => handle)).toEqual(['B']);
  expect(empty).toEqual([
    { stamp: '2026-01-11 18:00:00', handle: 'A' },
    { stamp: '2026-01-11 18:00:02', handle: 'C' },
  ]);
});

const heading = '## 2026-01-11 18:00:00 Claude-1';

test.each([
  ['nothing', '', []],
  ['a heading alone', `${heading}\n\n  \n`, []],
  ['text before the first heading', 'hello\n\nworld', []],
  ['a heading of another kind', '## Notes\n\ntext', []],
  ['what stands behind the handle', `${heading} @Claude-2 look`, ['@Claude-2 look']],
  ['the same with a body', `${heading} @Claude-2\nlook`, ['@Claude-2\nlook']],
  ['no blank line after the heading', `${heading}\ntext`, ['text']],
  ['other line ends', `${heading}\r\n\r\na\r\nb\r\n`, ['a\nb']],
  ['two messages without a blank line', `${heading}\na\n${heading}\nb`, ['a', 'b']],
  ['a heading that is indented', `${heading}\n\n ${heading}`, [` ${heading}`]],
  ['a rule in a body', `${heading}\n\na\n---\nb`, ['a\n---\nb']],
])('reading %s', (_name, text, bodies) => {
  expect(parseShared(text).blocks.map((block) => block.body)).toEqual(bodies);
});

test('a stamp gives the time in its zone', () => {
  expect(stampOf('2026-01-11T18:00:00.999Z', 0)).toBe('2026-01-11 18:00:00');
  expect(stampOf('2026-01-11T18:00:00.000Z', 9 * 60)).toBe('2026-01-12 03:00:00');
  expect(stampOf('2026-01-11T18:00:00.000Z', -210)).toBe('2026-01-11 14:30:00');
});

const HEADING = '## 2026-01-11 18:00:00 Claude-1';
const line = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(HEADING, `\\${HEADING}`, `\\\\${HEADING} x`, '---', '# Shared Buffer', '```', '> a', ''),
);
const body = fc
  .array(line, { maxLength: 12 })
  .map((lines) => normalizeBody(lines.join('\n')))
  .filter((text) => text !== '');
const block: fc.Arbitrary<Block> = fc.record({
  stamp: fc
    .date({ min: new Date('1970-01-01'), max: new Date('9999-01-01'), noInvalidDate: true })
    .map((date) => stampOf(date.toISOString(), 0)),
  handle: fc.stringMatching(/^[\p{L}\p{N}_-]{1,20}$/u),
  body,
});

describe('rendered and read again', () => {
  test('the messages are the same, whatever their bodies contain', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), fc.option(fc.string()), (blocks, project) => {
        const text = renderShared(blocks, { created: '2026-01-11 18:00:00', project });
        expect(parseShared(text).blocks).toEqual(blocks);
      }),
    );
  });

  test('also without front matter, and with the line ends of another system', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), (blocks) => {
        const text = blocks.map(renderBlock).join('\n').replaceAll('\n', '\r\n');
        expect(parseShared(text).blocks).toEqual(blocks);
      }),
    );
  });

  test('parsing never throws, and rendering what was parsed gives the same again', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'# 0123-:\n\r\\Claude\u2028') }), (text) => {
        const { blocks } = parseShared(`${HEADING}\n${text}`);
        expect(parseShared(blocks.map(renderBlock).join('\n')).blocks).toEqual(blocks);
      }),
    );
  });
});
