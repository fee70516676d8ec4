/** The loop guard's rule: when agents have talked among themselves for too long. */
import { describe, expect, test } from 'vitest';
import {
  countedSince,
  hopsAfter,
  isTold,
  type Loop,
  loopReason,
  MOST_HOPS,
  MOST_MENTIONS,
  pairOf,
} from '../../src/domain/loop-guard.ts';

const at = (minute: number): string => `2026-01-11T18:${String(minute).padStart(2, '0')}:00.000Z`;

test('a pair is the same from both sides', () => {
  expect(pairOf('a', 'b')).toEqual(pairOf('b', 'a'));
});

describe('hops', () => {
  test('count the replies of a chain', () => {
    expect(hopsAfter(null, null)).toBe(0);
    expect(hopsAfter({ hops: 0, at: at(0) }, null)).toBe(1);
    expect(hopsAfter({ hops: 8, at: at(0) }, null)).toBe(9);
  });

  test('begin anew when a human has spoken since what is answered', () => {
    expect(hopsAfter({ hops: 8, at: at(1) }, at(2))).toBe(1);
    expect(hopsAfter({ hops: 0, at: at(2) }, at(2))).toBe(1);
    expect(hopsAfter({ hops: 8, at: at(2) }, at(1))).toBe(9);
  });
});

describe('a loop', () => {
  test('is a chain of more than eight replies', () => {
    expect(loopReason({ hops: MOST_HOPS, before: 0 })).toBeNull();
    expect(loopReason({ hops: MOST_HOPS + 1, before: 0 })).toBe('a chain of 9 replies');
  });

  test('is more than six mentions of each other', () => {
    expect(loopReason({ hops: 0, before: MOST_MENTIONS - 1 })).toBeNull();
    expect(loopReason({ hops: 0, before: MOST_MENTIONS })).toBe('7 mentions of each other within 5 minutes');
  });

  test('is looked for in five minutes, or since a human spoke', () => {
    expect(countedSince(at(30), null)).toBe(at(25));
    expect(countedSince(at(30), at(20))).toBe(at(25));
    expect(countedSince(at(30), at(28))).toBe(at(28));
  });

  test('is told of once, and again when it comes back after a human word', () => {
    const loop: Loop = { ...pairOf('a', 'b'), state: 'tripped', at: at(10), reason: '' };
    expect(isTold(undefined, null)).toBe(false);
    expect(isTold(loop, null)).toBe(true);
    expect(isTold(loop, at(5))).toBe(true);
    expect(isTold(loop, at(15))).toBe(false);
  });
});
