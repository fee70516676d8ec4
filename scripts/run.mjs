// Runs `npm run NAME`: sets up, then runs the steps of NAME under the project's own Node 24.
// A chain `node setup && node build` in package.json would not work: in a fresh clone the shell remembers
// where it found the first `node` (measured with dash and bash) and continues with the machine's older one.
// Arguments after `npm run NAME --` go to the last step.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const vitest = 'node_modules/vitest/vitest.mjs';

// A real client takes a whole processor while it starts: more of them at once run into limits of their own.
const clients = `${vitest} run --maxWorkers 3`;

const everything = 'scripts/setup.mjs --system';
const compiler = 'scripts/setup.mjs --only-system=gcc,libc6-dev';
const browser = 'scripts/setup.mjs --only-system=chromium';
const modulesOnly = 'scripts/setup.mjs';
const modulesToBuild = 'scripts/setup.mjs --to-build';
const quickBuild = 'scripts/build.mjs --fast';
// The bench opens the store from src/, whose migrations are imported as text.
const bench = '--import ./test/support/sql-loader.mjs bench/main.ts';

// It opens stores in its own process, from src/.
const powerloss = '--import ./test/support/sql-loader.mjs test/powerloss/main.ts';

const tasks = {
  setup: [everything],
  build: [modulesOnly, 'scripts/manual.mjs', 'scripts/build.mjs'],
  // Includes the manual, if there is an Emacs to make it.
  'install-hive': [modulesToBuild, 'scripts/manual.mjs', quickBuild, 'bin/hive install'],
  'uninstall-hive': [modulesToBuild, quickBuild, 'bin/hive uninstall'],
  release: [
    'scripts/setup.mjs --system=emacs',
    'scripts/manual.mjs',
    'scripts/build.mjs',
    'scripts/release.mjs',
  ],
  demo: ['scripts/setup.mjs --to-run --system=emacs,tmux', quickBuild, 'scripts/demo.mjs'],
  test: [everything, quickBuild, `${vitest} run --project quick`],
  'test:security': [everything, quickBuild, 'scripts/security-tests.mjs'],
  'test:steady': [everything, quickBuild, 'scripts/steady.mjs'],
  // It makes a clone; the modules installed here provide the agents of the client tests.
  'test:fresh': [modulesOnly, 'scripts/fresh.mjs'],
  // In one run, so that the processors are busy while some tests wait.
  'ci:more': [
    everything,
    quickBuild,
    `${vitest} run --project documents --project extensions --project faults`,
  ],
  'test:long': [everything, compiler, quickBuild, `${vitest} run --project long`],
  'test:clients': [everything, quickBuild, `${clients} --project clients`],
  'ci:clients': [everything, quickBuild, `${clients} --project clients --project clients-by-process`],
  'test:editors': [
    everything,
    'scripts/setup.mjs --only-system=evil,vertico,embark,marginalia,which-key,vterm',
    quickBuild,
    `${vitest} run --project editors`,
  ],
  'ci:editors': [
    everything,
    'scripts/setup.mjs --only-system=evil,vertico,embark,marginalia,which-key,vterm',
    quickBuild,
    `${vitest} run --project editors`,
    'scripts/other-emacs.mjs 30 --editors',
  ],
  'test:web': [everything, browser, quickBuild, `${vitest} run --project web`],
  'ci:web': [
    everything,
    browser,
    quickBuild,
    `${vitest} run --project web screens race agents-text hostile-texts pure`,
  ],
  check: ['scripts/setup.mjs --system=emacs,package-lint', 'scripts/check.mjs'],
  'ci:package': [
    everything,
    'scripts/setup.mjs --only-system=use-package',
    `${vitest} run --project package`,
  ],
  fuzz: [everything, quickBuild, 'scripts/fuzz.mjs'],
  chaos: [everything, compiler, 'test/chaos/main.ts'],
  'ci:chaos': [everything, compiler, 'test/chaos/main.ts --seconds 60 --disk-if-possible'],
  powerloss: [everything, compiler, powerloss],
  'ci:powerloss': [everything, compiler, `${powerloss} --states 600 --seed 18`],
  soak: [everything, 'test/chaos/soak.ts'],
  bench: [everything, browser, quickBuild, bench],
  'bench:full': [everything, browser, quickBuild, `${bench} --full`],
  'ci:bench': [everything, browser, quickBuild, `${bench} --smoke`],
  audit: [modulesOnly, 'scripts/audit.mjs'],
  'test:emacs': [modulesOnly, quickBuild, 'scripts/other-emacs.mjs'],
  'ci:emacs': [modulesOnly, quickBuild, 'scripts/other-emacs.mjs 30 --short'],
  format: [
    modulesOnly,
    'scripts/characters.mjs',
    'scripts/lisp-names.mjs',
    'scripts/protocol.mjs',
    'scripts/figures.mjs',
    'node_modules/@biomejs/biome/bin/biome check --write',
  ],
};

/** Fewer rounds of tests that take a minute or more: the full number of rounds is for the suites by themselves. */
const shorter = {
  'ci:clients': { HIVE_TEST_RUNS: '4' },
  'ci:web': { HIVE_TEST_LOOKS: '2', HIVE_TEST_ANSWERS: '60', HIVE_TEST_TEXTS: '60' },
};

const [name, ...args] = process.argv.slice(2);
const steps = tasks[name];
if (steps === undefined) {
  console.error(`There is no task "${name}"; choose one of ${Object.keys(tasks).join(', ')}.`);
  process.exit(1);
}

for (const [index, step] of steps.entries()) {
  const words = step.split(' ');
  if (index === steps.length - 1) words.push(...args);
  // The set-up may replace node_modules and therefore runs on the Node that started us. An installation outlives this
  // folder, and any Node can build it, so the project's own Node is not fetched for that.
  const onMachinesNode =
    steps[0] === modulesToBuild || ['scripts/setup.mjs', 'scripts/fresh.mjs'].includes(words[0]);
  const node = onMachinesNode ? process.execPath : join(bin, 'node');
  const code = await run(node, words);
  if (code !== 0) process.exit(code);
}

function run(program, words) {
  const env = { ...shorter[name], ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const child = spawn(program, words, { cwd: root, env, stdio: 'inherit' });
  // C-c reaches the child through the terminal; we wait until it has cleaned up.
  process.on('SIGINT', () => {});
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
