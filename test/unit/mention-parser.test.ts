/** Whom a text mentions: the parser, case by case, and what must hold for any text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMentions } from '../../src/domain/mention-parser.ts';

type Case = readonly [text: string, ...names: string[]];

function table(name: string, cases: readonly Case[]): void {
  describe(name, () => {
    test.each(cases.map(([text, ...names]) => [text, names] as const))('%j mentions %j', (text, names) => {
      expect(parseMentions(text)).toEqual(names);
    });
  });
}

table('anywhere in a line, at the start of a word', [
  ['@Claude-abc12 please review', 'Claude-abc12'],
  ['please review, @Claude-abc12', 'Claude-abc12'],
  ['one @Claude-a two @Codex-b three', 'Claude-a', 'Codex-b'],
  ['first\nsecond @All\nthird', 'All'],
  ['(@All) [@Human] {@reviewer} "@a" \'@b\' <@c>', 'All', 'Human', 'reviewer', 'a', 'b', 'c'],
  ['cc:@Claude-abc12', 'Claude-abc12'],
  ['@a,@b;@c', 'a', 'b', 'c'],
  ['|@a|@b|', 'a', 'b'],
  ['word@Claude-abc12'],
  ['1@Claude-abc12'],
  ['word_@Claude-abc12'],
  ['x.@Claude-abc12'],
  ['x/@Claude-abc12'],
  ['key=@Claude-abc12'],
  ['@'],
  ['@ Claude-abc12'],
  ['@-a @_a @.a'],
  ['@@Claude-abc12'],
]);

test.each<[string, string[]]>([
  ['＠Claude-abc12 look', ['＠Claude-abc12']],
  ['(＠All) and ＠代理-1。', ['＠All', '＠代理-1']],
  ['確認＠Claude-abc12に', ['＠Claude-abc12に']],
  ['@Claude-abc12@Codex-1 look', ['@Claude-abc12@Codex-1']],
  ['@a@b @a@b @c@d-', ['@a@b', '@c@d']],
  ['@a@b@c', ['@a@b']],
  ['＠', []],
  ['＠ name, name＠host, 1＠2', []],
  ['a@b.example, @scope/package, @a@ b, @@a', []],
  ['`＠a @a@b` \\＠a https://x.example/＠a @a', []],
  ['> ＠quoted\n```\n＠code @a@b\n```', []],
])('%j looks as if it mentioned %j, and does not', (text, looks) => {
  const missed = new Set<string>();
  const names = parseMentions(text, missed);
  expect([...missed]).toEqual(looks);
  for (const look of looks) expect(names).not.toContain(look.slice(1));
});

table('in headings, lists and emphasis', [
  ['## 2026-01-11 18:00:00 Claude-1 @Claude-2', 'Claude-2'],
  ['# @All', 'All'],
  ['- @a\n* @b\n+ @c\n1. @d\n2) @e', 'a', 'b', 'c', 'd', 'e'],
  ['**@Claude-abc12** _@Codex-1_ ~~@x~~ ***@y***', 'Claude-abc12', 'Codex-1', 'x', 'y'],
  ['    @indented', 'indented'],
  ['foo*@bar'],
]);

table('a handle has letters, digits, dashes and underscores of any script, and no punctuation at its end', [
  ['@Claude-abc12.', 'Claude-abc12'],
  ['@Claude-abc12, @Codex-x: @All! @Human? @a; @b…', 'Claude-abc12', 'Codex-x', 'All', 'Human', 'a', 'b'],
  ["@Claude-abc12's work", 'Claude-abc12'],
  ['@Claude-abc12- and @All--', 'Claude-abc12', 'All'],
  ['@snake_case_', 'snake_case'],
  ['@Émile-1 @Größe @Ωmega @Агент-7', 'Émile-1', 'Größe', 'Ωmega', 'Агент-7'],
  ['@エージェント @代理-1', 'エージェント', '代理-1'],
  ['@𝒳-1', '𝒳-1'],
  ['@Claude—abc', 'Claude'],
  ['@1st', '1st'],
  [`@${'x'.repeat(300)}`],
]);

table('each once, whatever its case', [
  ['@Claude-abc12 @claude-ABC12 @CLAUDE-abc12', 'Claude-abc12'],
  ['@all @All', 'all'],
  ['@E\u0301mile @Émile', 'E\u0301mile'],
]);

table('where words are not spaced a letter may stand before it', [
  ['レビューは@Claude-abc12にお願いします', 'Claude-abc12にお願いします'],
  ['確認しました。@All', 'All'],
  ['（@Human）', 'Human'],
  ['é@example'],
]);

table('never in code fences, of backticks or tildes, of any length, indented, unclosed', [
  ['```\n@no\n```\n@yes', 'yes'],
  ['~~~\n@no\n~~~\n@yes', 'yes'],
  ['`````ts\n@no\n```\n@no\n`````\n@yes', 'yes'],
  ['~~~~\n```\n@no\n~~~\n@no\n~~~~~\n@yes', 'yes'],
  ['- item\n\n  ```\n  @no\n  ```\n  @yes', 'yes'],
  ['```\n@no'],
  ['```\n@no\n``` not closed\n@no'],
  ['``` a ` b\n@yes', 'yes'],
  ['~~~ a ~ b\n@no'],
  ['@yes\n```\n@no\n```', 'yes'],
]);

table('never in inline code, of any number of backticks, also over lines of one paragraph', [
  ['`@no` @yes', 'yes'],
  ['``@no ` @no`` @yes', 'yes'],
  ['`a\n@no` @yes', 'yes'],
  ['a ` b @yes', 'yes'],
  ['`a\n\n@yes`', 'yes'],
  ['- `a\n- @yes`', 'yes'],
  ['\\`a @yes`', 'yes'],
  ['`a\\` @yes', 'yes'],
  ['`` ` @no `` ` @yes', 'yes'],
]);

table('never in quoted lines', [
  ['> @no\n@yes', 'yes'],
  ['>@no'],
  ['  > @no'],
  ['>> @no\n\n@yes', 'yes'],
  ['a > @yes', 'yes'],
]);

table('never in e-mail addresses, URLs and names of packages', [
  ['ada@example.com'],
  ['first.last+tag@example.co.uk'],
  ['@ada@social.example'],
  ['https://example.com/@no'],
  ['see https://user@example.com/a?x=@no, @yes', 'yes'],
  ['(https://example.com/@no) @yes', 'yes'],
  ['[link](https://example.com/a_(b)/@no) @yes', 'yes'],
  ['<https://example.com/@no> @yes', 'yes'],
  ['https://example.com/@no、@yes', 'yes'],
  ['ssh://git@host/@no'],
  ['@types/node and @scope/pkg@1.2'],
  ['example.com/@no'],
]);

table('not where it is escaped', [['\\@no'], ['\\\\@no']]);

table('with any line ends', [
  ['@a\r\n```\r\n@no\r\n```\r\n@b\r\n', 'a', 'b'],
  ['@a\r```\r@no\r```\r@b', 'a', 'b'],
  ['> @no\r\n@a', 'a'],
]);

/** A text that counts how often it is looked at. */
class WatchedText extends String {
  looks = 0;
  override charCodeAt(index: number): number {
    this.looks += 1;
    return super.charCodeAt(index);
  }
}

/** How often each character of a text is read on average: quadratic work shows here, not in milliseconds. */
function looksPerCharacter(text: string): number {
  const watched = new WatchedText(text);
  parseMentions(watched as unknown as string);
  return watched.looks / text.length;
}

const MOST_LOOKS = 12;

describe('linear in the text', () => {
  const growing = Array.from({ length: 300 }, (_, n) => `${'`'.repeat(n + 1)} `).join('');
  const hostile: Record<string, string> = {
    'unclosed backticks': '`'.repeat(20_000),
    'wide at signs': '＠a'.repeat(10_000),
    'two names': '@a@b '.repeat(10_000),
    'many names without a blank': '@a'.repeat(10_000),
    'two long names': `@a@${'b'.repeat(20_000)}`,
    'backticks of all lengths': growing,
    'backticks of all lengths, backwards': growing.split(' ').reverse().join(' '),
    'pairs that do not match': '`a ``b '.repeat(3_000),
    ats: '@'.repeat(20_000),
    mentions: '@a'.repeat(10_000),
    'emphasis before each at': '****@'.repeat(4_000),
    'one long emphasis': `${'*'.repeat(20_000)}@a`,
    'one long handle': `@${'x'.repeat(20_000)}`,
    'dashes at the end of handles': '@a----'.repeat(3_000),
    'one handle that ends in dashes': `@a${'-'.repeat(20_000)}`,
    quotes: '> '.repeat(10_000),
    'quoted lines': '> @a\n'.repeat(4_000),
    'open fences': '```\n'.repeat(5_000),
    'fences that do not open': '``` ` x\n'.repeat(3_000),
    tildes: '~'.repeat(20_000),
    urls: 'http://('.repeat(3_000),
    'one long url': `http://${'a/'.repeat(10_000)}`,
    escapes: '\\`'.repeat(10_000),
    'numbers of lists': '123456789. '.repeat(2_000),
    digits: '1'.repeat(20_000),
    'blank lines': ' \n'.repeat(10_000),
    'carriage returns': '\r'.repeat(20_000),
    'wide letters': '@あ'.repeat(10_000),
    'high surrogates': '@\ud800'.repeat(10_000),
  };
  test.each(Object.entries(hostile))('%s', (_name, text) => {
    expect(looksPerCharacter(text)).toBeLessThan(MOST_LOOKS);
  });

  test('any mixture of known constructs', () => {
    const pieces = fc.constantFrom(
      ...[
        '`',
        '``',
        '```',
        '~~~',
        '\n',
        '\r\n',
        '> ',
        '@',
        '@a',
        '-',
        '*',
        '_',
        '\\',
        '://',
        '(',
        ')',
        ' ',
        '1.',
        'あ',
        '\ud83d',
      ],
    );
    const texts = fc.array(pieces, { minLength: 20, maxLength: 400 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => looksPerCharacter(text) < MOST_LOOKS),
      { numRuns: 500 },
    );
  });
});

describe('whatever the text holds', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'`~@>#\\ \n\r-ab1/:*(') }),
  );

  test('nothing is thrown, and every name is in the text after an @', () => {
    fc.assert(
      fc.property(text, (body) => {
        for (const name of parseMentions(body)) {
          expect(body).toContain(`@${name}`);
          expect(name).toMatch(/^[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}_-]*$/u);
          expect(name).not.toMatch(/[-_]$/);
        }
      }),
    );
  });

  test('a mention in a paragraph of its own is found, if no fence is open', () => {
    const harmless = text.filter((body) => !/```|~~~/.test(body));
    fc.assert(
      fc.property(harmless, harmless, (before, after) => {
        expect(parseMentions(`${before}\n\n@Claude-abc12 look\n\n${after}`)).toContain('Claude-abc12');
      }),
    );
  });

  test('nothing is found in a fence that is longer than any fence inside it', () => {
    fc.assert(
      fc.property(text, (body) => {
        const fence = '`'.repeat(body.length + 3);
        expect(parseMentions(`${fence}\n${body}\n${fence}`)).toEqual([]);
      }),
    );
  });
});
