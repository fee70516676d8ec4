// `npm run check`: everything that can be checked without running the code.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const node = process.execPath;

const steps = [
  { name: 'types', needs: 'src', command: ['node_modules/.bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'lint and format', command: ['node_modules/.bin/biome', 'check', '--error-on-warnings'] },
  { name: 'unused code', needs: 'src/cli/main.ts', command: ['node_modules/.bin/knip', '--no-config-hints'] },
  {
    name: 'layers and circles',
    needs: 'src',
    command: ['node_modules/.bin/depcruise', 'src', '--config', '.dependency-cruiser.mjs'],
  },
  { name: 'imports of hive hook', needs: 'src', command: [node, 'scripts/check-hook-imports.mjs'] },
  { name: 'package', needs: 'src/index.ts', command: [node, 'scripts/build.mjs'] },
  {
    name: 'address of the repository',
    needs: 'README.md',
    command: [node, 'scripts/repository.mjs', '--check'],
  },
  { name: 'elisp', needs: 'elisp', command: ['emacs', '-Q', '--batch', '-l', 'scripts/check-elisp.el'] },
];

let failed = 0;
for (const { name, needs, command } of steps) {
  if (needs && !existsSync(join(root, needs))) {
    console.log(`ok      ${name} (there is no ${needs} yet)`);
    continue;
  }
  const started = performance.now();
  const [program, ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`);
  if (status !== 0) {
    failed++;
    console.log([stdout, stderr, error?.message].filter(Boolean).join('\n').trim());
  }
}
process.exitCode = failed > 0 ? 1 : 0;
