/** Devices: codes, addresses, phrases. */
import { createHash } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { describe, expect, test } from 'vitest';
import {
  cleanCode,
  inboxAddress,
  isFresh,
  pairingAddress,
  phraseOf,
  phraseText,
  shownCode,
  whyOutOfReach,
} from '../../src/domain/devices.ts';

describe('a pairing code', () => {
  test.each([
    ['7K3M-9Q2X', '7k3m9q2x'],
    ['7k3m 9q2x', '7k3m9q2x'],
    ['OIL0-0000', '01100000'],
    ['7k3m9q2', null],
    ['7k3m9q2u', null],
    ['', null],
  ])('typed as %j is %j', (typed, code) => expect(cleanCode(typed)).toBe(code));

  test('is shown in two groups', () => expect(shownCode('7k3m9q2x')).toBe('7K3M-9Q2X'));

  test('is in the part of the address that no server gets', () => {
    const url = new URL(pairingAddress('https://hive.example.org/inbox', '7k3m9q2x'));
    expect([url.hash, url.search, url.pathname]).toEqual(['#code=7K3M-9Q2X', '', '/inbox']);
  });
});

describe('the address of an inbox', () => {
  test.each([
    ['https://hive.example.org', 'https://hive.example.org/inbox'],
    ['https://hive.example.org:8443/', 'https://hive.example.org:8443/inbox'],
    ['http://127.0.0.1:7373/inbox', 'http://127.0.0.1:7373/inbox'],
  ])('%s is %s', (given, address) => expect(inboxAddress(given)).toBe(address));

  test.each([
    'hive.example.org',
    'ftp://hive.example.org',
    'https://hive.example.org/other',
    'https://ada:secret@hive.example.org',
    'https://hive.example.org/inbox?x=1',
    'https://hive.example.org/inbox#code=1',
    'javascript:alert(1)',
  ])('%s is none', (given) => expect(() => inboxAddress(given)).toThrow(/is not the address of an inbox/));

  test.each([
    ['https://hive.example.org/inbox', null],
    ['http://localhost:7373/inbox', /this machine only/],
    ['https://127.0.0.1:7373/inbox', /this machine only/],
    ['http://192.168.0.7:7373/inbox', /plain HTTP/],
  ])('%s: a phone can use it, or the reason why not', (address, why) => {
    const said = whyOutOfReach(address);
    if (why === null) expect(said).toBeNull();
    else expect(said).toMatch(why);
  });
});

test('a phrase is four words, and another one for another code, key or store', () => {
  const phrase = (said: { code: string; key: string; store_id: string }): string =>
    phraseOf(createHash('sha256').update(phraseText(said)).digest(), wordlist);
  const said = { code: '7k3m9q2x', key: 'A'.repeat(43), store_id: 'store-1' };
  // A phone computes the same; a change would make both sides differ while one of them is older.
  expect(phrase(said)).toMatchInlineSnapshot(`"sick novel myself crumble"`);
  expect(phrase(said).split(' ')).toHaveLength(4);
  const others = [{ code: '7k3m9q2y' }, { key: 'B'.repeat(43) }, { store_id: 'store-2' }];
  expect(new Set([said, ...others.map((other) => ({ ...said, ...other }))].map(phrase)).size).toBe(4);
});

test("an answer is from now within two minutes of the store's clock, before and after", () => {
  const now = '2026-01-01T12:00:00.000Z';
  expect(['11:58:00.000', '12:02:00.000'].map((time) => isFresh(`2026-01-01T${time}Z`, now))).toEqual([
    true,
    true,
  ]);
  expect(['11:57:59.999', '12:02:00.001'].map((time) => isFresh(`2026-01-01T${time}Z`, now))).toEqual([
    false,
    false,
  ]);
});
