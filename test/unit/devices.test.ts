/** Pairing codes and phrases. */
import { createHash } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { describe, expect, test } from 'vitest';
import { isFresh } from '../../src/domain/devices.ts';
import { cleanCode, codeFrom, phraseOf, phraseText, shownCode } from '../../src/extensions/inbox/device.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('a pairing code', () => {
  test('is 8 characters that are hard to misread, each from its own byte', () => {
    expect(codeFrom('00010a1f20ff7f80')).toBe('01az0zz0');
    for (let n = 0; n < 200; n += 1)
      expect(cleanCode(codeFrom(sha256(String(n)).toString('hex')))).not.toBeNull();
  });

  test.each([
    ['7K3M-9Q2X', '7k3m9q2x'],
    [' 7k3m 9q2x ', '7k3m9q2x'],
    ['OIL0-oil0', '01100110'],
  ])('may be typed as %j', (typed, code) => {
    expect(cleanCode(typed)).toBe(code);
  });

  test.each(['', '7k3m9q2', '7k3m9q2xx', '7k3m9q2u', '7k3m9q2é'])('is not %j', (typed) => {
    expect(cleanCode(typed)).toBeNull();
  });

  test('is shown in two groups', () => {
    expect(shownCode('7k3m9q2x')).toBe('7K3M-9Q2X');
  });
});

describe('the phrase', () => {
  const said = { code: '7k3m9q2x', key: 'A'.repeat(43) };
  const phrase = (changes: object = {}): string =>
    phraseOf(sha256(phraseText({ ...said, ...changes })), wordlist);

  test('is four words, the same for the same code and key', () => {
    expect(phrase()).toMatch(/^[a-z]+ [a-z]+ [a-z]+ [a-z]+$/);
    expect(phrase()).toBe(phrase());
  });

  test.each([
    ['code', { code: '7k3m9q2z' }],
    ['key', { key: `${'A'.repeat(42)}E` }],
  ])('is another one for another %s', (_what, changes) => {
    expect(phrase(changes)).not.toBe(phrase());
  });

  test('depends on nothing that a server tells the page: somebody in between could try millions', () => {
    expect(phrase({ store_id: 'store-0000000000000001', device_id: 'device-1', human: 'eve' })).toBe(
      phrase(),
    );
  });

  test('takes 11 bits for each word, from the beginning of the digest', () => {
    const bytes = Uint8Array.from([0xff, 0xe0, 0x00, 0x00, 0x00, 0x10, 0, 0]);
    expect(phraseOf(bytes, wordlist)).toBe(`${wordlist[2047]} ${wordlist[0]} ${wordlist[0]} ${wordlist[1]}`);
  });
});

test.each([
  [0, true],
  [119_000, true],
  [-119_000, true],
  [121_000, false],
  [-121_000, false],
])('an answer signed %d ms ago is fresh: %s', (age, fresh) => {
  const now = Date.parse('2026-01-01T00:00:00.000Z');
  expect(isFresh(new Date(now - age).toISOString(), new Date(now).toISOString())).toBe(fresh);
});
