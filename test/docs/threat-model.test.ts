/** docs/threat-model.md makes no claim without a test: the files that it names are there, and `npm test` runs them. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempStore } from '../support/temp.ts';
import { codeIn, tableUnder } from './support.ts';

const CLAIMS = tableUnder('docs/threat-model.md', '## Claims and their tests').map(
  ([claim = '', tests = '']) => ({ claim, files: codeIn(tests) }),
);

/** What the runner itself says that it would run. */
let run: string[] = [];
beforeFile(async () => {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [
    vitest,
    'list',
    '--root',
    ROOT,
    '--project',
    'quick',
    '--project',
    'security',
    '--filesOnly',
    '--json',
  ];
  const listed = await outputOf(spawnChild(process.execPath, args, childEnvironment(tempStore())));
  run = (JSON.parse(listed) as { file: string }[]).map(({ file }) => relative(ROOT, file));
});

/** ERT files and contracts are run by a test beside them; of the latter, `npm run check` finds one that nobody imports. */
function isRun(file: string): boolean {
  return run.includes(file) || /^test\/(?:emacs\/[\w-]+-test\.el|contract\/[\w-]+-contract\.ts)$/.test(file);
}

test('there are claims', () => expect(CLAIMS.length).toBeGreaterThan(30));

describe('each claim', () => {
  test.each(CLAIMS)('$claim', ({ files }) => {
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !existsSync(join(ROOT, file)) || !isRun(file))).toEqual([]);
  });
});
