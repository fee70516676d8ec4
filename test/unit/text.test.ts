/** Text from outside is made storable once, at the boundary (invariant 12). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isBlank } from '../../src/domain/display.ts';
import {
  characterCount,
  cleanDeep,
  cleanOptional,
  cleanText,
  excerpt,
  searchText,
} from '../../src/domain/text.ts';

/** Strings of UTF-16 code units, whole or broken. */
const units = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });

/** Whole characters of every plane; fast-check's own `binary` unit takes seconds to begin. */
const characters = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});

describe('clean text', () => {
  test('is well-formed and without NUL, whatever it was', () => {
    fc.assert(
      fc.property(units, (text) => {
        const clean = cleanText(text);
        expect(clean.isWellFormed()).toBe(true);
        expect(clean).not.toContain('\0');
      }),
    );
  });

  test('is unchanged if nothing was wrong', () => {
    fc.assert(
      fc.property(characters, (text) => {
        fc.pre(!text.includes('\0'));
        expect(cleanText(text)).toBe(text);
      }),
    );
  });

  test('keeps its length, so that nothing is silently dropped', () => {
    expect(cleanText('a\0b\ud800c')).toBe('a\ufffdb\ufffdc');
  });

  test('is cleaned everywhere inside a value, keys included', () => {
    expect(cleanDeep({ 'a\0': ['x\0', { b: '\udc00' }], n: 1, no: null, yes: true })).toEqual({
      'a\ufffd': ['x\ufffd', { b: '\ufffd' }],
      n: 1,
      no: null,
      yes: true,
    });
  });

  test('that is empty or missing is null if it may be missing', () => {
    expect([cleanOptional(''), cleanOptional(undefined), cleanOptional(null), cleanOptional('a')]).toEqual([
      null,
      null,
      null,
      'a',
    ]);
  });
});

describe('blank text', () => {
  test.each(['', ' \n', '\u200b', '\ufeff\u2060', '\u202e\u202c'])('%j is blank', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  test.each(['a', 'שלום', '🐝', '\u200ba'])('%j is not', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});

describe('an excerpt', () => {
  test('is one line of a limited number of whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, length) => {
        const short = excerpt(text, length);
        expect(characterCount(short)).toBeLessThanOrEqual(length);
        expect(short).not.toContain('\n');
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });

  test('shows where text was left out', () => {
    expect(excerpt('one\n two   three', 8)).toBe('one two…');
  });
});

test('characters are counted as code points', () => {
  expect(characterCount('a🐝é')).toBe(3);
});

test('searched text is folded: width, case and white space', () => {
  expect(searchText('Ｈello', null, ' WORLD\n!')).toBe('hello world !');
});
