/** At the end of a whole run: which invariants were proved over which engines, through which doors (tags.ts). */
import type { Reporter, TestModule } from 'vitest/node';
import { DOORS, ENGINES, INVARIANTS } from './tags.ts';

/** A run of fewer files prints no table. */
const WHOLE_RUN_FILES = 100;

export const coverage: Reporter = {
  onTestRunEnd(modules) {
    if (modules.length >= WHOLE_RUN_FILES) process.stdout.write(`\n${coverageTable(passed(modules))}\n`);
  },
};

/** A test that passed. */
interface Passed {
  tags: readonly string[];
  file: string;
}

function passed(modules: readonly TestModule[]): Passed[] {
  return modules.flatMap((module) =>
    [...module.children.allTests()]
      .filter((test) => test.result().state === 'passed')
      .map(({ tags }) => ({ tags, file: module.relativeModuleId })),
  );
}

/**
 * A row for each invariant: how many tests are about the rule alone, without a store, and for each door a count for each
 * engine, SQLite where no other is named; a dot where nothing was proved. Below are the files whose tests are in no cell: they lack
 * a door.
 */
export function coverageTable(passed: readonly Passed[]): string {
  const [doors, engines] = [Object.keys(DOORS), Object.keys(ENGINES)];
  const hasOne = (tags: readonly string[], group: readonly string[]): boolean =>
    group.some((tag) => tags.includes(tag));
  const tests = passed.map(({ tags }) =>
    hasOne(tags, doors) && !hasOne(tags, engines) ? [...tags, 'sqlite'] : tags,
  );
  const alone = (invariant: string): string => {
    const { length } = tests.filter(
      (tags) => tags.includes(invariant) && !hasOne(tags, engines) && !hasOne(tags, doors),
    );
    return length === 0 ? '·' : String(length);
  };
  const halves = passed.filter(
    ({ tags }) => hasOne(tags, Object.keys(INVARIANTS)) && hasOne(tags, engines) && !hasOne(tags, doors),
  );
  const cell = (invariant: string, door: string): string =>
    engines
      .map((engine) => tests.filter((tags) => [invariant, door, engine].every((tag) => tags.includes(tag))))
      .map(({ length }) => (length === 0 ? '·' : String(length)).padStart(4))
      .join('');
  const head = ['', 'rule alone', ...doors.map((door) => DOORS[door] ?? door)];
  const rows = Object.entries(INVARIANTS).map(([name, title], n) => [
    `${String(n + 1).padStart(2)} ${title}`,
    alone(name),
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
  const files = [...new Set(halves.map(({ file }) => file))].sort();
  const untold = files.length === 0 ? [] : [`In no cell, for want of a door: ${files.join(', ')}`];
  return [`Tests that passed, by invariant and door, each over ${of}:`, ...lines, ...untold].join('\n');
}
