/** Ids: unique, of one form, and in the order in which a process made them. */
import { expect, test } from 'vitest';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';

const many = Array.from({ length: 2_000 }, () => randomIds.make('ask'));

test('they have a prefix and 16 characters that are not misread', () => {
  for (const id of many) expect(id).toMatch(/^ask-[0-9a-hjkmnp-tv-z]{16}$/);
  expect(new Set(many).size).toBe(many.length);
});

test('they grow, whatever their prefix, so that what a process writes in one millisecond has an order', () => {
  const others = [many.at(-1) ?? '', randomIds.make('msg'), randomIds.make('ask')].map((id) => id.slice(4));
  expect(many.toSorted()).toEqual(many);
  expect(others.toSorted()).toEqual(others);
});

test('nobody can guess the next one: it is a random number of 56 bits away', () => {
  const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
  const numbers = many.map((id) =>
    [...id.slice(4)].reduce((sum, one) => sum * 32n + BigInt(ALPHABET.indexOf(one)), 0n),
  );
  const steps = numbers.slice(1).map((number, n) => number - (numbers[n] ?? 0n) - 1n);
  expect(new Set(steps).size).toBe(steps.length);
  // Each of the 56 bits is set about every other time: far from never and from always.
  for (let bit = 0n; bit < 56n; bit += 1n) {
    const set = steps.filter((step) => ((step >> bit) & 1n) === 1n).length;
    expect(set).toBeGreaterThan(500);
    expect(set).toBeLessThan(1_500);
  }
});
