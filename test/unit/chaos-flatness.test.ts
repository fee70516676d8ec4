/** What `npm run soak` calls flat. */
import { expect, test } from 'vitest';
import { flatnessTable, judge, type Sample } from '../chaos/flatness.ts';

const MINUTE = 60_000;

/** Thirty samples, one a minute; `more` is what each holds beyond the first. */
function samples(more: (minute: number) => Partial<Sample>): Sample[] {
  const base = { memory: 100, files: 20, watchers: 1 };
  return Array.from({ length: 30 }, (_, minute) => {
    const { memory = 0, files = 0, watchers = 0 } = more(minute);
    return {
      memory: base.memory + memory,
      files: base.files + files,
      watchers: base.watchers + watchers,
    };
  });
}

const grown = (more: (minute: number) => Partial<Sample>): readonly string[] =>
  judge('hive', samples(more), MINUTE).grows;

test('a process that holds the same, that warms up, or that breathes is flat', () => {
  expect(grown(() => ({}))).toEqual([]);
  expect(grown((minute) => ({ memory: Math.min(minute, 10) * 5 }))).toEqual([]);
  expect(grown((minute) => ({ memory: (minute % 3) * 20, files: minute % 2 }))).toEqual([]);
});

test('a leak of memory, of files or of watchers is told', () => {
  expect(grown((minute) => ({ memory: minute * 2 }))).toEqual(['memory']);
  expect(grown((minute) => ({ files: minute }))).toEqual(['files']);
  expect(grown((minute) => ({ watchers: Math.floor(minute / 10) }))).toEqual(['watchers']);
});

test('in a short run a heap may still come to its size, and files may not', () => {
  const warming = samples((minute) => ({ memory: minute * 2, files: minute }));
  expect(judge('hive', warming, 1_000).grows).toEqual(['files']);
});

test('what was not measured is not called flat', () => {
  expect(judge('hive', [], MINUTE).grows).toEqual(['not measured']);
});

test('the slope is told by the hour', () => {
  const { slope } = judge(
    'hive',
    samples((minute) => ({ memory: minute })),
    MINUTE,
  );
  expect(slope).toBeCloseTo(60);
  expect(
    flatnessTable([
      judge(
        'hive',
        samples((minute) => ({ memory: minute })),
        MINUTE,
      ),
    ]),
  ).toMatch(/hive +30 +114\.5 +124\.5 +60\.0 +20 +20 +1 +1 +flat/);
});
