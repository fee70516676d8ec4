/**
 * The clients' ways with their edits, one at a time. `test/clients/edits.test.ts` compares the same functions with
 * the real programs.
 *
 * @module-tag as-displayed
 */
import { expect, test } from 'vitest';
import { editedByClaude, writtenByClaude } from '../../src/domain/claude-edits.ts';
import { addedText, filesOfPatch, updatedText } from '../../src/domain/codex-patches.ts';

const MARK = '\uFEFF';

test.each<[string, string | null, string, string, boolean, string]>([
  ['replaces one text', 'a b\n', 'b', 'c', false, 'a c\n'],
  ['takes the line break after a text that it removes', 'x TODO\ny\n', ' TODO', '', false, 'xy\n'],
  ['… and then only where there is one', 'a X\nb X c\n', ' X', '', true, 'ab X c\n'],
  ['… but none after a text that ends with one', 'a\n\nb\n', 'a\n', '', false, '\nb\n'],
  ['takes a $ as it is', 'a\n', 'a', '$&$1', false, '$&$1\n'],
  ['finds typographic quotes, and writes them', 'say “hi”\n', '"hi"', '"ho"', false, 'say “ho”\n'],
  ['… also an apostrophe', 'it’s\n', "it's", "it isn't", false, 'it isn’t\n'],
  [
    'finds \\uXXXX for a character, and writes it',
    'a = "\\u00e9"\n',
    '"é"',
    '"éÉ"',
    false,
    'a = "\\u00e9\\u00c9"\n',
  ],
  ['… in the case that it has', '\\u00E9\n', 'é', 'ê', false, '\\u00EA\n'],
  ['finds a character for its \\uXXXX', 'é\n', '\\u00e9', '\\u00e8', false, 'è\n'],
  ['gives every line the end of most', 'a\r\nb\r\nc\n', 'b', 'B', false, 'a\r\nB\r\nc\r\n'],
  ['… which may be LF', 'a\r\nb\nc\n', 'b', 'B', false, 'a\nB\nc\n'],
  ['writes a file that is blank', ' \n', '', 'new\n', false, 'new\n'],
  ['keeps a byte order mark', MARK, '', 'new\n', false, `${MARK}new\n`],
  ['makes a new file', null, '', 'new\r\n', false, 'new\r\n'],
])('Edit of Claude Code %s', (_, before, from, to, every, after) => {
  expect(editedByClaude(before, { from, to, every })).toEqual({ after });
});

test.each<[string, string | null, string, string]>([
  ['does not occur', 'b\n', 'a', 'c'],
  ['occurs twice', 'a\na\n', 'a', 'c'],
  ['is the same', 'a\n', 'a', 'a'],
  ['is missing, but the file is not empty', 'a\n', '', 'b'],
  ['is in no file', null, 'a', 'b'],
  ['cannot be written', 'a\n', 'a', '\ud800'],
])('an Edit whose text %s has no effect that is known', (_, before, from, to) => {
  expect(editedByClaude(before, { from, to, every: false })).toEqual({ problem: expect.any(String) });
});

test('Write of Claude Code takes the text as it is, behind the byte order mark of the file', () => {
  expect(writtenByClaude('a\r\n', 'b\n')).toEqual({ after: 'b\n' });
  expect(writtenByClaude(`${MARK}a`, 'b')).toEqual({ after: `${MARK}b` });
  expect(writtenByClaude(`${MARK}a`, '')).toEqual({ after: '' });
});

function patched(before: string, ...lines: string[]): string | null {
  const [patch] =
    filesOfPatch(['*** Begin Patch', '*** Update File: f', ...lines, '*** End Patch'].join('\n')) ?? [];
  return patch === undefined ? null : updatedText(before, patch);
}

test.each<[string, string, string[], string]>([
  ['keeps an empty line that it adds at the end', 'a\n', [' a', '+'], 'a\n\n'],
  ['keeps an empty line at the end of the file', 'a\n\n', ['-a', '+b'], 'b\n\n'],
  ['adds lines that replace none at the end', 'a\nb\n', ['@@ a', '+c'], 'a\nb\nc\n'],
  ['ends the last line', 'a', ['-a', '+b'], 'b\n'],
  [
    'replaces the lines at the end of the file',
    'a\nb\na\n',
    ['@@', '-a', '+c', '*** End of File'],
    'a\nb\nc\n',
  ],
  ['gives new lines the end of the first one', 'a\r\nb\nc\n', ['-c', '+d'], 'a\r\nb\nd\r\n'],
  ['leaves lines as they are that say where it is', 'a\nb\r\nc\r\n', [' b', '-c', '+d'], 'a\nb\r\nd\n'],
])('a patch of Codex %s', (_, before, lines, after) => {
  expect(patched(before, ...lines)).toBe(after);
});

test.each<[string, string, string[]]>([
  ['whose lines differ in blanks', 'a \n', ['-a', '+b']],
  ['whose end of the file is elsewhere', 'a\nb\n', ['@@', '-a', '+c', '*** End of File']],
  ['whose chunks go back', 'a\nb\n', ['@@', '-b', '@@', '-a']],
  ['with blanks around a mark', 'a\n', ['@@ ', '-a']],
  ['with a mark in disguise', 'a\n', [' *** End of File', '-a']],
  ['with an empty line before its first chunk', '\na\n', ['', '-a']],
  ['with another line end', 'a\n', ['-a\r']],
  // Codex gives that line no end of its own.
  ['of a file that ends with a lone CR', 'a\nb\r', ['-a', '+b']],
  ['of a file with CR LF that ends with a lone CR', 'a\r\nb\r\n\r', ['-a', '+b']],
  // Codex writes the file and then deletes it.
  ['that moves a file to its own path', 'a\n', ['*** Move to: f', '@@', '-a', '+b']],
])('of a patch %s the effect is not known', (_, before, lines) => {
  expect(patched(before, ...lines)).toBeNull();
});

test('the place of a chunk is looked for among so many lines, and no further', () => {
  const placed = (lines: number): boolean => {
    const blank = '\n'.repeat(lines);
    return patched(`${blank}x\n`, '@@', ...' '.repeat(1_000), '-x', '+y') === `${blank}y\n`;
  };
  expect(placed(3_000)).toBe(true);
  expect(placed(7_000)).toBe(false);
});

test('a header with a blank at its end is not understood: Codex strips it', () => {
  expect(filesOfPatch('*** Begin Patch\n*** Add File: keys.txt \n+a\n*** End Patch')).toBeNull();
  const [patch] = filesOfPatch('*** Begin Patch\n*** Add File: keys.txt\n+a\n+\n*** End Patch') ?? [];
  expect(patch === undefined ? null : addedText(patch)).toBe('a\n\n');
});
