/** docs/threat-model.md makes no claim without a test: each that it names exists, under a name that is there, and is run. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { tableUnder } from './support.ts';

const CLAIMS = tableUnder('docs/threat-model.md', '## Claims and their tests').map(
  ([claim = '', tests = '']) => ({
    claim,
    tests: [...tests.matchAll(/`(test\/[^`]+)`: (.+?)(?=; `test\/|$)/g)].map(([, file = '', name = '']) => ({
      file,
      name,
    })),
  }),
);

/** What the quick suite runs: its folders in vitest.config.ts; contracts and Lisp are run by a test beside them. */
const RUN = readFileSync(join(ROOT, 'vitest.config.ts'), 'utf8');

function isRun(file: string): boolean {
  const [, folder = ''] = file.split('/');
  if (!new RegExp(`project\\('quick',[^)]*'${folder}'`).test(RUN)) return false;
  if (file.endsWith('.test.ts')) return true;
  if (file.endsWith('-test.el'))
    return readFileSync(join(ROOT, 'test/emacs/ert.test.ts'), 'utf8').includes('-test');
  // A contract, run on each engine by the tests that import all of them.
  const contract = file.split('/').at(-1) ?? '';
  return ['sqlite', 'store-contract'].some((name) =>
    [`test/contract/${name}.test.ts`, `test/contract/${name}.ts`].some(
      (path) => existsSync(join(ROOT, path)) && readFileSync(join(ROOT, path), 'utf8').includes(contract),
    ),
  );
}

test('there are claims', () => expect(CLAIMS.length).toBeGreaterThan(30));

describe('each claim', () => {
  test.each(CLAIMS)('$claim', ({ tests }) => {
    expect(tests).not.toEqual([]);
    for (const { file, name } of tests) {
      expect(existsSync(join(ROOT, file)), `${file} is there`).toBe(true);
      // Quotes in a name are escaped or not as its source has them.
      const source = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'");
      const named = source
        .split('\n')
        .some((line) => line.includes(name) && /test|it\(|fuzz\(|^\s*\[?['"]|ert-deftest|should/.test(line));
      expect(named, `${file} has a test named "${name}"`).toBe(true);
      expect(source, `${file} skips nothing`).not.toMatch(/\b(?:test|it|describe)\.(?:skip|todo|only)\b/);
      expect(isRun(file), `${file} is run`).toBe(true);
    }
  });
});
