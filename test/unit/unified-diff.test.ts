/** The changes of an edit, as a person reads them before saying yes. */
import { expect, test } from 'vitest';
import { unifiedDiff } from '../../src/infrastructure/platform/edits.ts';

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `line ${n + 1}`);

test('the changed lines, with two lines around them and their places', () => {
  const before = numbered(20);
  const after = before.with(9, 'changed').toSpliced(3, 0, 'new');
  expect(unifiedDiff(before.join('\n'), after.join('\n'), 2).split('\n')).toEqual([
    '@@ -2,4 +2,5 @@',
    ' line 2',
    ' line 3',
    '+new',
    ' line 4',
    ' line 5',
    '@@ -8,5 +9,5 @@',
    ' line 8',
    ' line 9',
    '-line 10',
    '+changed',
    ' line 11',
    ' line 12',
  ]);
});

test('a new text, a removed one, and no change', () => {
  expect(unifiedDiff('', 'a\nb\n', 2)).toBe('@@ -0,0 +1,2 @@\n+a\n+b');
  expect(unifiedDiff('a\nb\n', '', 2)).toBe('@@ -1,2 +0,0 @@\n-a\n-b');
  expect(unifiedDiff('a\n', 'a\n', 2)).toBe('');
});

test('a missing newline at the end is shown, because it is a change', () => {
  expect(unifiedDiff('a\n', 'a', 2)).toBe('@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file');
});

test('texts with little in common are not compared line by line, except for their beginnings and ends', () => {
  const [before, after] = [numbered(5_000), numbered(5_000).map((line) => `other ${line}`)];
  const around = (lines: readonly string[]): string => ['a', 'b', 'c', ...lines, 'y', 'z'].join('\n');
  expect(unifiedDiff(around(before), around(after), 2).split('\n')).toEqual([
    '@@ -2,5004 +2,5004 @@',
    ' b',
    ' c',
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
    ' y',
    ' z',
    '\\ No newline at end of file',
  ]);
  expect(unifiedDiff('', around(after), 2).split('\n').slice(0, 2)).toEqual(['@@ -0,0 +1,5005 @@', '+a']);
});
