/** docs/internals/specification.md is written from the tests of test/spec, and these cover every requirement. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS } from '../spec/support/documents.ts';
import { ROOT } from '../support/children.ts';

const page = readFileSync(join(ROOT, 'docs/internals/specification.md'), 'utf8');

test('the page is up to date (npm run format writes it again)', () => {
  const script = join(ROOT, 'scripts/specification.mjs');
  expect(page).toBe(execFileSync(process.execPath, [script, '--print'], { cwd: ROOT, encoding: 'utf8' }));
});

test.each(DOCUMENTS)('$id has every requirement once, in order', ({ id, requirements }) => {
  const rows = [...page.matchAll(/^\| (\w+)-(\d+) \|/gm)].filter(([, document]) => document === id);
  const numbers = Array.from({ length: requirements }, (_, index) => index + 1);
  expect(rows.map(([, , number]) => Number(number))).toEqual(numbers);
});

test('no requirement falls short, is missing or is contradicted', () => {
  const open = page
    .split('\n')
    .filter((line) => /^\| \w+-\d+ \|.* \| (?:falls short|missing|contradicts) \|/.test(line));
  expect(open).toEqual([]);
});
