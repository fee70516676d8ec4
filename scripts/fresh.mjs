// `npm run test:fresh`: runs what the README tells a new user to run, in fresh installations of Debian: its two commands, the
// first day with a real Claude Code, the release and the installation from it, the removal,
// the dev container feature, and the check of the Lisp with the Emacs of that Debian. Prints a table of times. Needs root,
// debootstrap and the network. The roots are below TMPDIR and are removed, and nothing is mounted outside of their own
// namespaces.
//   npm run test:fresh -- [--only 12|13] [--tests PATTERN]… [--without-tests] [--keep]
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { apt, enter, makeRoot, refuseWithoutMeans, run } from './roots.mjs';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    tests: { type: 'string', multiple: true, default: [] },
    'without-tests': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});

// The systems before Hive: "a machine with Node ≥ 20 and Emacs", and git for the clone.
const SYSTEMS = [
  // Its own Node is 18, so it gets the one of this machine.
  { name: 'Debian 12', suite: 'bookworm', node: 'machine' },
  { name: 'Debian 13', suite: 'trixie', node: 'own' },
].filter(({ name }) => values.only === undefined || name.endsWith(values.only));

// The folder of the agents that a new user already has.
const AGENTS = '/opt/agents';

// The tests run more than once, to show that they are reliable.
const TIMES = 3;
// A machine that has just started has process ids from about 300 on. The root has its own ids, which begin anew each time.
const LOW_IDS = 'echo 299 > /proc/sys/kernel/ns_last_pid';

const table = [];
// The machine's own programs: npm puts those of this folder in front.
process.env.PATH = process.env.PATH.split(':')
  .filter((folder) => !folder.endsWith('node_modules/.bin'))
  .join(':');

const ANSWERED = `set -e
  PATH=~/.local/bin:$PATH
  mkdir -p -m 700 ~/.config/hive
  (umask 077; echo '{"allow_scripts_to_answer": true}' > ~/.config/hive/trust.json)
  id=$(HIVE_AGENT=builder hive ask 'Go on?' --option yes --option no)
  hive respond "$id" yes
  test "$(HIVE_AGENT=builder hive poll "$id" --wait)" != ''
  HIVE_AGENT=builder hive poll "$id" | grep -q yes`;

const IN_EMACS = `emacs -Q --batch --eval '(progn
  (require (quote package)) (package-initialize)
  (package-install-file (car (file-expand-wildcards "/srv/release/hive-mode-*.tar"))))' &&
  emacs -Q --batch --eval '(progn
  (require (quote package)) (package-initialize)
  (hive-mode 1)
  (let ((until (+ (float-time) 60)))
    (while (and (< (float-time) until) (not (hive-sidecar-connected-p))) (accept-process-output nil 0.05)))
  (princ (format "Emacs %s: %s" emacs-version hive-sidecar-state))
  (let ((connected (hive-sidecar-connected-p))) (hive-mode -1) (kill-emacs (if connected 0 1))))'`;

try {
  refuseWithoutMeans();
  for (const system of SYSTEMS) tryOn(system);
} catch (error) {
  process.exitCode = 1;
  console.error(error.message);
}
report();

function tryOn(system) {
  const base = values.keep ? join(tmpdir(), 'hive-fresh') : mkdtempSync(join(tmpdir(), 'hive-fresh-'));
  const folder = join(base, system.suite);
  try {
    if (!existsSync(join(folder, 'etc/debian_version'))) makeFreshRoot(system, folder);
    const place = { system, folder };
    // README's two commands, as root, who may use apt; only git and Node are installed.
    clone(folder, '/srv/hive');
    measure(place, 'npm run demo', 40, () => inside(folder, '/srv/hive', 'root', 'npm run --silent demo'));
    for (let time = 1; time <= (values['without-tests'] ? 0 : TIMES); time += 1)
      measure(place, `${['npm test', ...values.tests].join(' ')} (${time} of ${TIMES})`, null, () =>
        inside(folder, '/srv/hive', 'root', `${LOW_IDS} && npm test --silent -- ${values.tests.join(' ')}`),
      );
    clone(folder, '/home/ada/source', 'ada');
    copyAgents(folder);
    measure(place, 'the first day, from the clone to an answered question of Claude Code', 90, () =>
      inside(
        folder,
        '/home/ada/source',
        'ada',
        `HIVE_CLIENTS_CACHE=${AGENTS} node scripts/first-question.mjs`,
      ),
    );
    measure(place, 'npm run release', null, () =>
      inside(folder, '/srv/hive', 'root', 'npm run --silent release -- /srv/release'),
    );
    measure(place, 'hive install of the release', 90, () =>
      inside(
        folder,
        '/home/eve',
        'eve',
        'tar -xzf /srv/release/hive-sidecar-*.tgz && node package/bin/hive install --yes',
      ),
    );
    measure(place, 'a question asked and answered with it', null, () =>
      inside(folder, '/home/eve', 'eve', ANSWERED),
    );
    measure(place, 'package-install-file of the release', null, () =>
      inside(folder, '/home/eve', 'eve', IN_EMACS),
    );
    measure(place, 'hive uninstall', null, () =>
      inside(
        folder,
        '/home/eve',
        'eve',
        '~/.local/bin/hive uninstall --yes && test "$(ls ~/.local)" = state',
      ),
    );
    measure(place, 'the dev container feature: installed, asked and answered', null, () =>
      inside(folder, '/srv/hive', 'root', 'sh scripts/feature-trial.sh'),
    );
    measure(place, 'the check of the Lisp, native code too', null, () => {
      apt(folder, 'elpa-package-lint');
      return inside(folder, '/srv/hive', 'root', 'emacs -Q --batch -l scripts/check-elisp.el -- native');
    });
  } finally {
    if (!values.keep) rmSync(base, { recursive: true, force: true });
  }
}

// ---- A fresh root ----

function makeFreshRoot({ name, suite, node }, folder) {
  console.log(`Making a root with ${name} …`);
  makeRoot(suite, folder);
  apt(folder, 'git', ...(node === 'own' ? ['nodejs', 'npm'] : []));
  if (node === 'machine') copyNode(folder);
  for (const user of ['ada', 'eve'])
    run('chroot', folder, 'useradd', '--create-home', '--shell', '/bin/sh', user);
}

function copyNode(folder) {
  const cli = realpathSync(run('/bin/sh', '-c', 'command -v npm').trim());
  const npm = dirname(dirname(cli));
  mkdirSync(join(folder, 'usr/local/lib/node_modules'), { recursive: true });
  cpSync(npm, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true });
  copyFileSync(
    realpathSync(run('/bin/sh', '-c', 'command -v node').trim()),
    join(folder, 'usr/local/bin/node'),
  );
  for (const name of ['npm', 'npx'])
    run('ln', '-sf', `../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'usr/local/bin', name));
  // The binary of Node needs no libraries besides these.
  apt(folder, 'libstdc++6', 'libatomic1');
}

/** Copies the agents that a new user already has: those of the client tests, installed here if they are not there yet. */
function copyAgents(folder) {
  const script = `import { installClients } from ${JSON.stringify(join(root, 'test/clients/support/install.ts'))};
    console.log(installClients().modules);`;
  const node = join(root, 'node_modules/node/bin/node');
  const modules = run(node, '--no-warnings', '--input-type=module', '-e', script).trim().split('\n').at(-1);
  cpSync(modules, join(folder, AGENTS, 'node_modules'), { recursive: true, verbatimSymlinks: true });
}

function clone(folder, place, user = 'root') {
  rmSync(join(folder, place), { recursive: true, force: true });
  run('git', 'clone', '--quiet', root, join(folder, place));
  run('chroot', folder, 'chown', '-R', `${user}:`, place);
}

/**
 * Runs a line of shell in the root as one of its users. Returns the seconds of processor time that it took.
 * @throws Error with the end of what it printed, and the file that has all of it.
 */
function inside(folder, cwd, user, line) {
  const env = { npm_config_registry: run('npm', 'config', 'get', 'registry').trim() };
  // The last line is what all of it took of the processors: "0m1.23s 0m0.45s".
  const counted = `(${line}\n); code=$?; times >&2; exit $code`;
  const { status, stdout, stderr } = enter(folder, { line: counted, cwd, user, env });
  if (status !== 0) {
    const log = join(mkdtempSync(join(tmpdir(), 'hive-fresh-failed-')), 'output');
    writeFileSync(log, `${stdout}${stderr}`);
    throw new Error(`${line}\n${`${stdout}${stderr}`.split('\n').slice(-40).join('\n')}\nAll of it: ${log}`);
  }
  const times = stderr
    .trimEnd()
    .split('\n')
    .at(-1)
    .matchAll(/(\d+)m([\d.]+)s/g);
  return [...times].reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

// ---- The table ----

function measure({ system }, what, target_s, work) {
  const began = performance.now();
  let problem = null;
  let cpu_s;
  try {
    cpu_s = work();
  } catch (error) {
    problem = error.message;
    process.exitCode = 1;
    console.error(`${system.name}: ${what} failed:\n${problem}\n`);
  }
  const seconds = (performance.now() - began) / 1000;
  table.push({ system: system.name, what, seconds, cpu_s, target_s, ok: problem === null });
  console.log(lineOf(table.at(-1)));
}

function report() {
  console.log(`\n${['', ...table.map(lineOf)].join('\n').trimStart()}`);
  console.log(`${table.filter(({ ok }) => ok).length} of ${table.length} passed`);
}

function lineOf({ system, what, seconds, cpu_s, target_s, ok }) {
  const target = target_s === null ? '' : ` (at most ${target_s} s)`;
  const cpu = (cpu_s?.toFixed(1) ?? '').padStart(6);
  return `${ok ? 'ok    ' : 'FAILED'}  ${system}  ${seconds.toFixed(1).padStart(6)} s, of processors ${cpu} s  ${what}${target}`;
}
