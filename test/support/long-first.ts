import { BaseSequencer, type TestProject, type TestSpecification } from 'vitest/node';

/**
 * Short files that take long. In a fresh clone vitest knows of no earlier run and begins with the largest files: these would
 * come last, and the processors would wait for them.
 */
const LONG = [
  'contract/sqlite',
  'emacs/commands',
  'emacs/demo',
  'faults/drawn',
  'emacs/ert',
  'emacs/graphical',
  'process/popups',
];

/** The order of vitest, but within each project the files of `LONG` come first. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = new Set<TestProject>(sorted.map(({ project }) => project));
    return [...projects].flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
}
