import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Short files that take long. In a fresh clone vitest knows of no earlier run and begins with the largest files: these would
 * come last, and the processors would wait for them.
 */
const LONG = [
  'contract/postgres',
  'contract/sqlite',
  'emacs/commands',
  'emacs/demo',
  'emacs/ert',
  'emacs/graphical',
  'faults/drawn',
  'faults/install',
  'faults/postgres-faults',
  'process/popups',
  'process/remote-bridge',
];

/** The order of vitest, but the files of `LONG` come first. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
}
