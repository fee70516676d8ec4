// The address of the repository is in package.json ("repository") and nowhere else by hand. Without arguments this writes it
// into every document and Lisp file that names one; with --check it fails where another one is named. The same for what helped
// to write the Lisp ("assisted_by"), which MELPA wants to see below the author in each file.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const { repository, assisted_by } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

// What names a repository of Hive: an address that ends in its name, and the short form of a package manager.
const ADDRESS = /\bhttps?:\/\/[a-z][\w.-]*\.[a-z]+\/(?:[\w.-]+\/)*hive(?:\.git)?(?![\w/.-])/g;
const SHORT = /:repo "[^"]*"/g;

const ASSISTED = /^;; Assisted-by: .*$/m;
const HEADER = `;; Author: The Hive contributors\n;; Assisted-by: ${assisted_by}\n`;

const problems = [];
for (const name of [...below('elisp'), ...below('test')].filter((each) => each.endsWith('.el'))) {
  const text = readFileSync(join(root, name), 'utf8');
  if (text.includes(HEADER) || name.endsWith('-autoloads.el')) continue;
  if (process.argv.includes('--check')) problems.push(`${name} has no header "${HEADER.trim()}"`);
  else writeFileSync(join(root, name), text.replace(ASSISTED, `;; Assisted-by: ${assisted_by}`));
}

for (const name of [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...below('docs'),
  ...below('elisp'),
  ...below('plugin'),
]) {
  const text = readFileSync(join(root, name), 'utf8');
  const wrong = [
    ...(text.match(ADDRESS) ?? []).filter((each) => each !== address),
    ...(text.match(SHORT) ?? []),
  ];
  if (wrong.length === 0) continue;
  if (process.argv.includes('--check')) problems.push(...wrong.map((each) => `${name} names ${each}`));
  else writeFileSync(join(root, name), text.replace(ADDRESS, address));
}
if (problems.length > 0) {
  console.error(
    `${problems.join('\n')}\npackage.json has ${address} and ${assisted_by}; "npm run format" writes them everywhere.`,
  );
  process.exitCode = 1;
}
const open = { repository: address, assisted_by };
for (const [field, value] of Object.entries(open).filter(([, each]) => /\.invalid\/|AGENT_NAME/.test(each)))
  console.log(`Still to be filled in: "${field}" in package.json has ${value}.`);

function below(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.(?:md|el|json)$/.test(name) && statSync(join(root, folder, name)).isFile())
    .map((name) => `${folder}/${name}`);
}
