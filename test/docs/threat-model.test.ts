/** docs/internals/threat-model.md makes no claim without a test: the files that it names are there, and `.ci/run` runs them. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempStore } from '../support/temp.ts';
import { codeIn, tableUnder } from './support.ts';

const PAGE = 'docs/internals/threat-model.md';
const CLAIMS = tableUnder(PAGE, '## Claims and their tests').map(([claim = '', tests = '']) => ({
  claim,
  files: codeIn(tests),
}));

/** The table with which the page opens: who may do what, cell by cell. */
const CELLS = tableUnder(PAGE, '# Threat model').flatMap(([who = '', ...cells]) =>
  cells.map((cell, index) => ({ name: `${who}, column ${index + 1}`, cell })),
);
const linksOf = (cell: string): string[] =>
  [...cell.matchAll(/\]\((?:\.\.\/){2}(test\/[^)]+)\)/g)].map(([, file = '']) => file);

/** The tests that the runner itself says it would run. */
let run: string[] = [];
beforeFile(async () => {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const projects = ['quick', 'documents', 'extensions', 'web'].flatMap((name) => ['--project', name]);
  const args = [vitest, 'list', '--root', ROOT, ...projects, '--filesOnly', '--json'];
  const listed = await outputOf(spawnChild(process.execPath, args, childEnvironment(tempStore())));
  run = (JSON.parse(listed) as { file: string }[]).map(({ file }) => relative(ROOT, file));
});

/** ERT files and contracts are run by a test beside them; of the latter, `npm run check` finds one that nobody imports. */
function isRun(file: string): boolean {
  return run.includes(file) || /^test\/(?:emacs\/[\w-]+-test\.el|contract\/[\w-]+-contract\.ts)$/.test(file);
}

test('there are claims', () => expect(CLAIMS.length).toBeGreaterThan(30));

test.each(CLAIMS)('each claim: $claim', ({ files }) => {
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !existsSync(join(ROOT, file)) || !isRun(file))).toEqual([]);
});

describe('each cell of the first table', () => {
  test('says of six things what happens to them, for everybody', () => expect(CELLS.length % 6).toBe(0));

  // A dash claims nothing.
  test.each(CELLS.filter(({ cell }) => cell !== '—'))('$name', ({ cell }) => {
    for (const part of cell.split('; ')) expect(part).toMatch(/\b(?:refused|marked|admitted)\b/);
    const files = linksOf(cell);
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !existsSync(join(ROOT, file)) || !isRun(file))).toEqual([]);
  });
});

test('npm run test:security runs every test that the page names, and all attacks', async () => {
  const named = [...CLAIMS.flatMap(({ files }) => files), ...CELLS.flatMap(({ cell }) => linksOf(cell))];
  const direct = named.filter((file) => file.endsWith('.test.ts'));
  const attacks = run.filter((file) => file.startsWith('test/security/'));
  const script = [join(ROOT, 'scripts/security-tests.mjs'), '--list'];
  const said = await outputOf(spawnChild(process.execPath, script, childEnvironment(tempStore())));
  const runs = JSON.parse(said) as string[];
  expect([...direct, ...attacks].filter((file) => !runs.includes(file))).toEqual([]);
  expect(runs.filter((file) => !run.includes(file))).toEqual([]);
});
