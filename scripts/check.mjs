// `npm run check`: everything that can be checked without running the code.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const node = process.execPath;

const steps = [
  { name: 'types', command: ['node_modules/.bin/tsc', '-p', 'tsconfig.json'] },
  {
    name: 'types of the inbox',

    command: ['node_modules/.bin/tsc', '--noEmit', '-p', 'src/extensions/inbox/page'],
  },
  {
    name: 'types of its tests',

    command: ['node_modules/.bin/tsc', '--noEmit', '-p', 'test/web'],
  },
  { name: 'lint and format', command: ['node_modules/.bin/biome', 'check', '--error-on-warnings'] },
  { name: 'unused code', command: ['node_modules/.bin/knip', '--no-config-hints'] },
  {
    name: 'layers and circles',

    command: ['node_modules/.bin/depcruise', 'src', '--config', '.dependency-cruiser.mjs'],
  },
  { name: 'comments', command: [node, 'scripts/check-comments.mjs'] },
  { name: 'imports of hive hook', command: [node, 'scripts/check-hook-imports.mjs'] },
  { name: 'write transactions', command: [node, 'scripts/check-write-transactions.mjs'] },
  {
    name: 'figures',

    command: [node, 'scripts/figures.mjs', '--check'],
  },
  { name: 'package', command: [node, 'scripts/build.mjs'] },
  { name: 'clients as installed', command: [node, 'scripts/check-as-installed.mjs'] },
  { name: 'elisp', command: ['emacs', '-Q', '--batch', '-l', 'scripts/check-elisp.el'] },
];

/** Most of them use one processor. */
const AT_ONCE = 2;

let failed = 0;
const waiting = [...steps];
await Promise.all(Array.from({ length: AT_ONCE }, work));
process.exitCode = failed > 0 ? 1 : 0;

async function work() {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await check(step);
}

async function check({ name, command }) {
  const started = performance.now();
  const { code, said } = await run(command);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`);
  if (code === 0) return;
  failed++;
  console.log(said.trim());
}

function run([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
    child.once('error', ({ message }) => resolve({ code: 1, said: message }));
    child.once('close', (code) => resolve({ code, said }));
  });
}
