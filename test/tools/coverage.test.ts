/** The table that the suite prints at its end. */
import { expect, test } from 'vitest';
import { coverageTable } from '../support/coverage.ts';
import { DOORS, INVARIANTS } from '../support/tags.ts';

test('counts the tests of each invariant, door and engine, and shows which have none', () => {
  const table = tableOf([
    ['one-winner', 'mcp'],
    ['one-winner', 'silence', 'sqlite', 'mcp', 'emacs'],
    ['one-winner', 'postgres', 'mcp'],
  ]);
  expect(table.split('\n')).toHaveLength(2 + Object.keys(INVARIANTS).length);
  for (const door of Object.values(DOORS)) expect(table.split('\n')[1]).toContain(door);
  expect(table).toMatch(/ 2 one winner +· +· +· +2 +1 +· +· /);
  expect(table).toMatch(/ 3 silence is never a decision +· +· +· +1 +· /);
  expect(table).toMatch(/16 a hook costs next to nothing( +·)+$/m);
});

test('counts tests of the rule alone separately, and names those that are in no cell', () => {
  const table = tableOf([['late'], ['late', 'postgres'], ['root', 'postgres'], ['silence', 'sqlite', 'mcp']]);
  expect(table).toMatch(/ 4 late answers are kept +1( +·)+$/m);
  expect(table).toMatch(/\nIn no cell, for want of a door: test-1\.ts$/);
});

/** A file for each test. */
function tableOf(tests: readonly (readonly string[])[]): string {
  return coverageTable(tests.map((tags, n) => ({ tags, file: `test-${n}.ts` })));
}
