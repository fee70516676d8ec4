/** Everything that the documents name exists: commands of Emacs and of the shell, scripts, files. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { askEmacs, lispStrings } from '../support/emacs-batch.ts';
import { tempStore } from '../support/temp.ts';
import { PAGES, readPage } from './support.ts';

interface Named {
  page: string;
  name: string;
}

/** The names that the first group of `pattern` finds in the documents. */
function namesLike(pattern: RegExp): Named[] {
  const named = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(pattern)].map(([, name = '']) => ({ page, name })),
  );
  expect(named, 'the pattern finds what it is for').not.toEqual([]);
  return named;
}

/** The names that the first group of `pattern` finds in the documents and `exists` does not know, with their pages. */
function strangers(pattern: RegExp, exists: (name: string) => boolean): string[] {
  return namesLike(pattern)
    .filter(({ name }) => !exists(name))
    .map(({ page, name }) => `${page}: ${name}`);
}

test('every M-x command is one', async () => {
  const pattern = /M-x (hive[a-z-]*)/g;
  const names = [...new Set(namesLike(pattern).map(({ name }) => name))];
  const commands = await askEmacs(
    `(vconcat (cl-remove-if-not (lambda (name) (commandp (intern name))) ${lispStrings(names)}))`,
  );
  expect(strangers(pattern, (name) => (commands as string[]).includes(name))).toEqual([]);
});

test('every npm run is a script', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  expect(strangers(/npm run ([a-z:-]*[a-z])/g, (name) => name in scripts)).toEqual([]);
});

test('every `hive COMMAND` is a command', async () => {
  const { out } = await shell(tempStore()).hive('--help', '--all');
  const commands = new Set([...out.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name));
  expect(strangers(/`hive ([a-z][a-z-]*)/g, (name) => commands.has(name))).toEqual([]);
});

test('every file that is named is there', () => {
  const file = /`((?:src|test|scripts|sql|elisp|bench|examples|docs)\/[\w./-]+\.(?:ts|mjs|el|sql|md))`/g;
  expect(strangers(file, (name) => existsSync(join(ROOT, name)))).toEqual([]);
});

/** Arguments and settings of the clients and of PostgreSQL, which the pages for users name. */
const OF_OTHERS = [
  'approval_policy',
  'default_transaction_isolation',
  'doom_loop',
  'external_directory',
  'max_connections',
  'max_prepared_statements',
  'run_in_background',
  'synchronous_standby_names',
  'tool_timeout_sec',
];

test('every setting, field and tool that a page for users names is in the code', () => {
  const code = globSync('{src,elisp,sql}/**/*.{ts,el,sql}', { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n');
  const unknown = strangers(
    /`([a-z]+(?:_[a-z]+)+)`/g,
    (name) => OF_OTHERS.includes(name) || code.includes(name),
  );
  expect(unknown.filter((found) => !found.startsWith('docs/internals/'))).toEqual([]);
});
