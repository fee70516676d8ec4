/** The loop guard's rule: when agents have talked among themselves for too long. */
import { describe, expect, test } from 'vitest';
import {
  hopsAfter,
  isLoopNotified,
  type Loop,
  loopReason,
  MOST_HOPS,
  MOST_MENTIONS,
  pairOf,
  windowBefore,
} from '../../src/domain/loops.ts';

test('a pair is the same from both sides', () => {
  expect(pairOf('a', 'b')).toEqual(pairOf('b', 'a'));
});

describe('hops', () => {
  test('count the replies of a chain', () => {
    expect(hopsAfter(null, 0)).toBe(0);
    expect(hopsAfter({ hops: 0, seq: 1 }, 0)).toBe(1);
    expect(hopsAfter({ hops: 8, seq: 9 }, 0)).toBe(9);
  });

  test('restart when a human has posted since the message that is answered', () => {
    expect(hopsAfter({ hops: 8, seq: 9 }, 12)).toBe(1);
    expect(hopsAfter({ hops: 0, seq: 9 }, 9)).toBe(1);
    expect(hopsAfter({ hops: 8, seq: 9 }, 8)).toBe(9);
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

  test('is counted over five minutes', () => {
    expect(windowBefore('2026-01-11T18:30:00.000Z')).toBe('2026-01-11T18:25:00.000Z');
  });

  test("is reported once, and again when it comes back after a human's message", () => {
    const loop: Loop = { ...pairOf('a', 'b'), state: 'tripped', at: '', seq: 10, reason: '' };
    expect(isLoopNotified(undefined, 0)).toBe(false);
    expect(isLoopNotified(loop, 0)).toBe(true);
    expect(isLoopNotified(loop, 5)).toBe(true);
    expect(isLoopNotified(loop, 15)).toBe(false);
  });
});
