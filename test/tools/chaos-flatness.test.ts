/** The verdict of `npm run soak` on the growth of a process. */
import { expect, test } from 'vitest';
import { flatnessTable, judge, type Sample } from '../chaos/flatness.ts';

const MINUTE = 60_000;

/** Thirty samples, one a minute; `more` is what each holds beyond the first. */
function samples(more: (minute: number) => Partial<Sample>): Sample[] {
  const base = { memory: 100, files: 20, watchers: 1 };
  return Array.from({ length: 30 }, (_, minute) => {
    const { memory = 0, files = 0, watchers = 0 } = more(minute);
    return { memory: base.memory + memory, files: base.files + files, watchers: base.watchers + watchers };
  });
}

const grown = (more: (minute: number) => Partial<Sample>): readonly string[] =>
  judge('hive', samples(more), MINUTE).grows;

test('a process that stays the same, warms up, or goes up and down is flat', () => {
  expect(grown(() => ({}))).toEqual([]);
  expect(grown((minute) => ({ memory: Math.min(minute, 10) * 5 }))).toEqual([]);
  expect(grown((minute) => ({ memory: (minute % 3) * 20, files: minute % 2 }))).toEqual([]);
});

test('a leak of memory, of files or of watchers is reported', () => {
  expect(grown((minute) => ({ memory: minute * 2 }))).toEqual(['memory']);
  expect(grown((minute) => ({ files: minute }))).toEqual(['files']);
  expect(grown((minute) => ({ watchers: Math.floor(minute / 10) }))).toEqual(['watchers']);
});

test('a leak that is slow compared with the size is found by its slope', () => {
  // Of a gigabyte: in both cases less than a twentieth from one third to the next.
  const large = (an_hour: number) => samples((minute) => ({ memory: 900 + (minute * an_hour) / 60 }));
  expect(judge('hive', large(48), MINUTE).grows).toEqual([]);
  expect(judge('hive', large(72), MINUTE).grows).toEqual(['memory']);
});

test('in a short run the heap may still move, but not far, and files may not', () => {
  const warming = samples((second) => ({ memory: second, files: second }));
  expect(judge('hive', warming, 1_000).grows).toEqual(['files']);
  expect(
    judge(
      'hive',
      samples((second) => ({ memory: second * 2 })),
      1_000,
    ).grows,
  ).toEqual(['memory']);
});

test('what was not measured does not count as flat', () => {
  expect(judge('hive', [], MINUTE).grows).toEqual(['not measured']);
});

test('the slope is given per hour', () => {
  const creeping = judge(
    'hive',
    samples((minute) => ({ memory: minute / 4 })),
    MINUTE,
  );
  expect(creeping.slope).toBeCloseTo(15);
  expect(flatnessTable([creeping])).toMatch(/hive +30 +103\.6 +106\.1 +15\.0 +20 +20 +1 +1 +flat/);
});
