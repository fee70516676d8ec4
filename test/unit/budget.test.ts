/** The bucket, as properties: whatever is taken and returned, in any order, however the clock is set. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Bucket,
  fullBucket,
  nextCreditAt,
  type Rate,
  refill,
  refundCredit,
  takeCredit,
} from '../../src/domain/rates.ts';

const HOUR = 3_600_000;
const SIZE: Rate = { capacity: 5, refill_ms: 1.5 * HOUR };
const START = Date.parse('2026-03-01T12:00:00.000Z');
const at = (ms: number): string => new Date(START + ms).toISOString();

function taken(count: number, now = at(0)): Bucket {
  let bucket = fullBucket('*', SIZE, now);
  for (let n = 0; n < count; n += 1) bucket = takeCredit(bucket, SIZE, now) ?? bucket;
  return bucket;
}

describe('a bucket of five, one back each ninety minutes', () => {
  test('gives five at once and no sixth', () => {
    expect(taken(5).credits).toBe(0);
    expect(takeCredit(taken(5), SIZE, at(0))).toBeNull();
  });

  test('has the next one after ninety minutes, and not before', () => {
    expect(takeCredit(taken(5), SIZE, at(1.5 * HOUR - 1))).toBeNull();
    expect(takeCredit(taken(5), SIZE, at(1.5 * HOUR))).toMatchObject({ credits: 0 });
    expect(nextCreditAt(taken(5), SIZE, at(HOUR))).toBe(at(1.5 * HOUR));
  });

  test('keeps the part of a wait that has passed when a token is taken', () => {
    const second = takeCredit(taken(5), SIZE, at(2 * HOUR)) as Bucket;
    expect(takeCredit(second, SIZE, at(3 * HOUR))).toMatchObject({ credits: 0 });
  });

  test('is full again after seven and a half hours, and the next use starts a new wait', () => {
    const full = refill(taken(5), SIZE, at(7.5 * HOUR));
    expect(full.credits).toBe(5);
    expect(refill(full, SIZE, at(100 * HOUR)).credits).toBe(5);
    const used = takeCredit(full, SIZE, at(100 * HOUR)) as Bucket;
    expect(used).toMatchObject({ credits: 4, since: at(100 * HOUR) });
  });

  test('a clock that is set back restarts the wait and removes nothing', () => {
    const back = refill(taken(3), SIZE, at(-24 * HOUR));
    expect(back).toMatchObject({ credits: 2, since: at(-24 * HOUR) });
    expect(refill(back, SIZE, at(-22.5 * HOUR)).credits).toBe(3);
  });
});

type Step = { kind: 'take' | 'give' | 'look' | 'restart'; ms: number };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('take', 'give', 'look', 'restart'),
  // Mostly forward; sometimes the clock is set, in either direction.
  ms: fc.oneof(fc.integer({ min: 0, max: 4 * HOUR }), fc.integer({ min: -48 * HOUR, max: 48 * HOUR })),
});
const size: fc.Arbitrary<Rate> = fc.record({
  capacity: fc.integer({ min: 1, max: 20 }),
  refill_ms: fc.integer({ min: 1, max: 6 * HOUR }),
});

describe('whatever happens to it', () => {
  test('it never holds more than its size, or less than none, and its wait never begins in the future', () => {
    fc.assert(
      fc.property(size, fc.array(step, { maxLength: 60 }), (given, steps) => {
        let now = START;
        let bucket = fullBucket('*', given, at(0));
        for (const { kind, ms } of steps) {
          now += ms;
          const time = new Date(now).toISOString();
          if (kind === 'take') bucket = takeCredit(bucket, given, time) ?? bucket;
          if (kind === 'give') bucket = refundCredit(bucket, given, time);
          if (kind === 'look') bucket = refill(bucket, given, time);
          // A restart keeps what the store keeps, and nothing else.
          if (kind === 'restart') bucket = JSON.parse(JSON.stringify(bucket));
          expect(bucket.credits).toBeGreaterThanOrEqual(0);
          expect(bucket.credits).toBeLessThanOrEqual(given.capacity);
          expect(Number.isInteger(bucket.credits)).toBe(true);
          const looked = refill(bucket, given, time);
          expect(looked.since <= time).toBe(true);
        }
      }),
    );
  });

  test('in any time it gives at most what it held and what was refilled', () => {
    fc.assert(
      fc.property(size, fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 80 }), (given, waits) => {
        let now = START;
        let got = 0;
        let bucket = fullBucket('*', given, at(0));
        for (const ms of waits) {
          now += ms;
          const next = takeCredit(bucket, given, new Date(now).toISOString());
          if (next !== null) {
            bucket = next;
            got += 1;
          }
        }
        expect(got).toBeLessThanOrEqual(given.capacity + Math.floor((now - START) / given.refill_ms));
      }),
    );
  });

  test('reading it changes nothing', () => {
    fc.assert(
      fc.property(
        size,
        fc.integer({ min: 0, max: 20 }),
        fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 30 }),
        (given, uses, waits) => {
          let looked = fullBucket('*', given, at(0));
          for (let n = 0; n < uses; n += 1) looked = takeCredit(looked, given, at(0)) ?? looked;
          const untouched = looked;
          let now = 0;
          for (const ms of waits) {
            now += ms;
            looked = refill(looked, given, at(now));
          }
          expect(refill(looked, given, at(now)).credits).toBe(refill(untouched, given, at(now)).credits);
        },
      ),
    );
  });
});
