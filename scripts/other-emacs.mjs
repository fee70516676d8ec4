// `npm run test:emacs -- 30`: runs the tests of the Emacs package, the demo and the installation from Git with another version of
// Emacs than this machine's, in an installation of the Debian release that has it.
//   npm run test:emacs -- VERSION [--short] [--editors] [--anew] [--root FOLDER] [PATTERN…]
// --short runs the ERT files, what its terminal draws, its menus, repeated keys and TRAMP, the demo and the check of the Lisp.
// --editors runs only the tests with Evil, Vertico, Embark, Marginalia, which-key and terminals. --anew makes the root again.
// PATTERNs are test files.
// The root is kept in the cache folder, and used again if the files of its packages still have their checksums. A run writes
// nothing there, nor into the clone. --root names a root of your own instead.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { apt, enter, makeRoot, refuseWithoutMeans, run } from './roots.mjs';

const clone = join(import.meta.dirname, '..');
/** The Debian release that has each version of Emacs. */
const SUITES = { 28: 'bookworm', 30: 'trixie' };
/** The last two are libraries that the binary of Node needs. */
const PACKAGES = ['emacs-nox', 'elpa-package-lint', 'tmux', 'libstdc++6', 'libatomic1'];
/** Programs that the other tests start. */
const MORE_PACKAGES = ['git', 'texinfo', 'openssh-client'];
/** Packages for --editors; Emacs 30 contains which-key, and only its Debian has eat. */
const EDITORS = ['elpa-evil', 'elpa-vertico', 'elpa-embark', 'elpa-marginalia', 'elpa-vterm'];
const PLACE = '/srv/hive';
const REPOSITORY = '/srv/repository';
/** Tests whose result may depend on the version of Emacs; the others mostly test Hive's own code. */
const SHORT = ['ert', 'drawn', 'citizen', 'token'].map((name) => `test/emacs/${name}.test.ts`);

try {
  const { values, positionals } = parseArgs({
    options: {
      short: { type: 'boolean', default: false },
      editors: { type: 'boolean', default: false },
      anew: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
    allowPositionals: true,
  });
  const [version = '', ...patterns] = positionals;
  const folder = rootWith(version, values);
  const found =
    /GNU Emacs (\S+)/.exec(inside(folder, 'emacs --version', { stdio: 'pipe' }).stdout)?.[1] ?? 'none';
  if (!found.startsWith(`${version}.`))
    throw new Error(`The root ${folder} has Emacs ${found}, not ${version}.`);
  console.log(`Emacs ${found} in ${folder}`);
  const results = [inside(folder, testLine(values, patterns))];
  if (patterns.length === 0 && !values.editors) {
    results.push(inside(folder, 'node scripts/demo.mjs'));
    results.push(inside(folder, 'emacs -Q --batch -l scripts/check-elisp.el'));
    if (!values.short && Number(version) >= 30) results.push(installFromGit(folder));
  }
  if (results.some(({ status }) => status !== 0)) process.exitCode = 1;
} catch (error) {
  process.exitCode = 1;
  console.error(error.message);
}

/** @throws Error that explains why there is no root with this version. */
function rootWith(version, { short, editors, anew, root }) {
  if (root !== undefined) {
    if (process.getuid() !== 0) throw new Error(`Only root can enter ${root}: run this as root.`);
    return root;
  }
  const suite = SUITES[version];
  if (suite === undefined)
    throw new Error(
      `No Debian has Emacs ${version || '(none named)'}; Debian has ${Object.keys(SUITES).join(' and ')}. To test with another one, ` +
        `make a root that has it, and ${[...PACKAGES.slice(1), ...MORE_PACKAGES].join(', ')}, and name its folder: --root FOLDER.`,
    );
  refuseWithoutMeans();
  const caches = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hive-emacs');
  const folder = join(caches, `${version}-${suite}`);
  if (anew || !isWhole(folder)) makeKept(suite, folder);
  const also = Number(version) < 30 ? [...EDITORS, 'elpa-which-key'] : [...EDITORS, 'elpa-eat'];
  if (editors && !has(folder, also)) apt(folder, ...also);
  if (!short && !editors && !has(folder, MORE_PACKAGES)) apt(folder, ...MORE_PACKAGES);
  return folder;
}

/** Makes the root under another name first, so that a root with its final name is complete. */
function makeKept(suite, folder) {
  console.log(`Making a root of Debian in ${folder} (about a minute) …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const draft = `${folder}.${process.pid}`;
  try {
    makeRoot(suite, draft, PACKAGES);
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Whether the root is there and its files have the checksums that their packages name: dpkg prints the differences. */
function isWhole(folder) {
  const verify = () => spawnSync('chroot', [folder, 'dpkg', '--verify'], { encoding: 'utf8' });
  return existsSync(folder) && has(folder, PACKAGES) && verify().stdout === '';
}

function has(folder, packages) {
  return spawnSync('chroot', [folder, 'dpkg-query', '--show', ...packages]).status === 0;
}

// The graphical Emacs is another package, which excludes this one.
function testLine({ short, editors }, patterns) {
  const vitest = 'node node_modules/vitest/vitest.mjs run';
  if (editors) return `${vitest} --project editors`;
  const tests = patterns.length > 0 ? patterns : ['test/emacs'];
  const which = short
    ? [...SHORT, '-t', "'^(?!.* takes pixels in a graphical frame)'"]
    : [...tests, '--exclude', "'**/graphical.test.ts'"];
  return `${vitest} --project quick --project extensions ${which.join(' ')}`;
}

/** Uses a clone, because the .git of a worktree names a folder that the root does not show. */
function installFromGit(folder) {
  const repository = mkdtempSync(join(tmpdir(), 'hive-repository-'));
  try {
    run('git', 'clone', '--quiet', clone, repository);
    const line = `emacs -Q --batch -l scripts/use-package-vc.el ${REPOSITORY}`;
    return inside(folder, line, { layers: [{ of: repository, at: REPOSITORY }] });
  } finally {
    rmSync(repository, { recursive: true, force: true });
  }
}

function inside(folder, line, { stdio = 'inherit', layers = [] } = {}) {
  // The Node and the packages of the clone come before Debian's.
  const env = { PATH: `${PLACE}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin` };
  return enter(folder, { line, cwd: PLACE, env, layers: [{ of: clone, at: PLACE }, ...layers], stdio });
}
