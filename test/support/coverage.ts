/** At the end of a whole run: which invariants were proved over which engines, through which doors (tags.ts). */
import type { Reporter, TestModule } from 'vitest/node';
import { DOORS, ENGINES, INVARIANTS } from './tags.ts';

/** A run of fewer files was not meant to cover anything in particular. */
const WHOLE_RUN_FILES = 100;

export const coverage: Reporter = {
  onTestRunEnd(modules) {
    if (modules.length >= WHOLE_RUN_FILES) process.stdout.write(`\n${coverageTable(passedTags(modules))}\n`);
  },
};

/** The tags of each test that passed. */
function passedTags(modules: readonly TestModule[]): (readonly string[])[] {
  return modules.flatMap((module) =>
    [...module.children.allTests()]
      .filter((test) => test.result().state === 'passed')
      .map(({ tags }) => tags),
  );
}

/** A row for each invariant, a column for each door, a count for each engine; a dot where nothing was proved. */
export function coverageTable(tests: readonly (readonly string[])[]): string {
  const [doors, engines] = [Object.keys(DOORS), Object.keys(ENGINES)];
  const cell = (invariant: string, door: string): string =>
    engines
      .map((engine) => tests.filter((tags) => [invariant, door, engine].every((tag) => tags.includes(tag))))
      .map(({ length }) => (length === 0 ? '·' : String(length)).padStart(4))
      .join('');
  const head = ['', ...doors.map((door) => DOORS[door] ?? door)];
  const rows = Object.entries(INVARIANTS).map(([name, title], n) => [
    `${String(n + 1).padStart(2)} ${title}`,
    ...doors.map((door) => cell(name, door)),
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const lines = [head, ...rows].map((row) =>
    row
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
  const of = Object.values(ENGINES).join(' and ');
  return [`Tests that passed, by invariant and door, each over ${of}:`, ...lines].join('\n');
}
