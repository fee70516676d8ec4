// The address of the repository is in package.json ("repository") and nowhere else by hand. Without arguments this writes it
// into every document and Lisp file that names one; with --check it fails where another one is named.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

// What names a repository of Hive: an address that ends in its name, and the short form of a package manager.
const ADDRESS = /\bhttps?:\/\/[a-z][\w.-]*\.[a-z]+\/(?:[\w.-]+\/)*hive(?:\.git)?(?![\w/.-])/g;
const SHORT = /:repo "[^"]*"/g;

const problems = [];
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
    `${problems.join('\n')}\npackage.json has ${address}; "npm run format" writes it everywhere.`,
  );
  process.exitCode = 1;
} else if (address.includes('.invalid/')) {
  console.log(
    `The address of the repository is still to be filled in: "repository" in package.json has ${address}.`,
  );
}

function below(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.(?:md|el|json)$/.test(name) && statSync(join(root, folder, name)).isFile())
    .map((name) => `${folder}/${name}`);
}
