/** What the suite prints at its end. */
import { expect, test } from 'vitest';
import { coverageTable } from '../support/coverage.ts';
import { DOORS, INVARIANTS } from '../support/tags.ts';

test('counts the tests of each invariant, door and engine, and shows where there is none', () => {
  const table = coverageTable([
    ['one-winner', 'sqlite', 'mcp'],
    ['one-winner', 'silence', 'sqlite', 'mcp', 'emacs'],
    ['one-winner', 'postgres', 'mcp'],
    ['one-winner', 'mcp'],
  ]);
  expect(table.split('\n')).toHaveLength(2 + Object.keys(INVARIANTS).length);
  for (const door of Object.values(DOORS)) expect(table.split('\n')[1]).toContain(door);
  expect(table).toMatch(/ 2 one winner +· +· +2 +1 +· +· /);
  expect(table).toMatch(/ 3 silence is never a decision +· +· +1 +· /);
  expect(table).toMatch(/16 a hook costs next to nothing( +·)+$/m);
});
