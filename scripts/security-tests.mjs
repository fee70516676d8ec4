// Runs every test that docs/internals/threat-model.md names, and all of test/security/: they prove each claim of that page.
// --list only names them.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The test that runs a file of the page that is not a test itself; it is in the same folder. */
function runnerOf(file) {
  if (file.endsWith('-test.el')) return ['test/emacs/ert.test.ts'];
  if (file.endsWith('-contract.ts'))
    return ['test/contract/sqlite.test.ts', 'test/contract/postgres.test.ts'];
  return [file];
}

/** The test files to run, by their paths from the root. */
function securityTests() {
  const page = readFileSync(join(root, 'docs/internals/threat-model.md'), 'utf8');
  const named = page.match(/\btest\/[\w/-]+(?:\.test\.ts|-test\.el|-contract\.ts)\b/g) ?? [];
  const own = readdirSync(join(root, 'test/security')).filter((name) => name.endsWith('.test.ts'));
  return [...new Set([...own.map((name) => `test/security/${name}`), ...named.flatMap(runnerOf)])].sort();
}

if (process.argv.includes('--list')) console.log(JSON.stringify(securityTests()));
else {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const projects = ['quick', 'documents', 'extensions'].flatMap((name) => ['--project', name]);
  const args = [vitest, 'run', ...projects, ...process.argv.slice(2)];
  const child = spawn(process.execPath, [...args, ...securityTests()], { cwd: root, stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 1));
}
