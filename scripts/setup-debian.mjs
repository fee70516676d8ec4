import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { hasEmacsGtk, setUpEmacsGtk } from './setup-emacs-gtk.mjs';

// The programs that the demo and the tests run, and the Debian package of each.
const needs = {
  emacs: { package: 'emacs-nox' },
  tmux: { package: 'tmux' },
  'gpg-agent': { package: 'gnupg' },
  'ssh-agent': { package: 'openssh-client' },
  ip: { package: 'iproute2' },
  python3: { package: 'python3' },
  // Commands of the documents, which the tests run.
  jq: { package: 'jq' },
  dunst: { package: 'dunst' },
  'notify-send': { package: 'libnotify-bin' },
  'dbus-run-session': { package: 'dbus' },
  'dbus-launch': { package: 'dbus-x11' },
  Xvfb: { package: 'xvfb' },
  xauth: { package: 'xauth' },
  postgres: { package: 'postgresql', found: hasPostgres },
  pgbouncer: { package: 'pgbouncer', found: (name) => onPath(name) || existsSync('/usr/sbin/pgbouncer') },
  'package-lint': { package: 'elpa-package-lint', found: hasEmacsPackage },
  import: { package: 'imagemagick' },
  xprop: { package: 'x11-utils' },
  xdotool: { package: 'xdotool' },
  fonts: { package: 'fonts-dejavu-core', found: hasFonts },
};

// The browser of `npm run test:web`, the compiler of the recorder (test/powerloss), and Emacs packages that only
// `npm run ci:editors` or `npm run ci:package` need: they are installed only when they are named.
const emacsPackages = ['evil', 'vertico', 'embark', 'marginalia', 'which-key', 'vterm', 'use-package'];
const usual = Object.keys(needs);
needs.chromium = { package: 'chromium' };
needs.gcc = { package: 'gcc' };
needs['libc6-dev'] = { package: 'libc6-dev', found: () => existsSync('/usr/include/stdio.h') };
for (const name of emacsPackages) needs[name] = { package: `elpa-${name}`, found: hasEmacsPackage };

/** Installs the Debian packages of the named programs that are missing, or prints one line about what to install. */
export function setUpDebian(names = usual) {
  const unknown = names.filter((name) => needs[name] === undefined);
  if (unknown.length > 0) throw new Error(`The set-up knows no program called ${unknown.join(' or ')}.`);

  const packages = missing(names).map((name) => needs[name].package);
  const prefix = rootPrefix();
  if (packages.length === 0) return alsoEmacsGtk(names, prefix);
  if (!onPath('apt-get') || prefix === undefined) throw new Error(adviceFor(names));

  const started = Date.now();
  console.log(`Installing Debian packages (about 15 s): ${packages.join(' ')} …`);
  const install = () => apt(prefix, 'install', '-y', '-qq', '--no-install-recommends', ...packages);
  const said = hasNewLists() ? [install()] : [];
  // A third-party source that does not answer must not stop us, because the others may have what we need.
  if (missing(names).length > 0) said.push(apt(prefix, 'update', '-qq'), install());
  const lacking = missing(names);
  if (lacking.length > 0) {
    throw new Error([...said, `apt-get did not install ${lacking.join(', ')}.`].filter(Boolean).join('\n'));
  }
  console.log(`Debian packages are ready (${Math.round((Date.now() - started) / 1000)} s).`);
  alsoEmacsGtk(names, prefix);
}

// Package lists from today are current enough; if they are not, apt-get does not find a package, and they are fetched again.
function hasNewLists() {
  const day_ms = 24 * 60 * 60 * 1000;
  const lists = entries('/var/lib/apt/lists').filter((name) => /_(?:In)?Release$/.test(name));
  return lists.some((name) => Date.now() - statSync(join('/var/lib/apt/lists', name)).ctimeMs < day_ms);
}

// Needed only by the tests, and only on Debian.
function alsoEmacsGtk(names, prefix) {
  if (!names.includes('xdotool') || hasEmacsGtk() || prefix === undefined || !onPath('apt-get')) return;
  console.log('Unpacking a graphical Emacs for the tests of focus and mouse (about 20 s) …');
  setUpEmacsGtk((libraries) => apt(prefix, 'install', '-y', '-qq', '--no-install-recommends', ...libraries));
}

function missing(names) {
  return names.filter((name) => !(needs[name].found ?? onPath)(name));
}

// How to become root: no prefix if already root, sudo if the person allowed it, else undefined.
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return process.env.HIVE_SETUP === '1' && onPath('sudo') ? ['sudo'] : undefined;
}

// Returns the complaints of apt-get, for which a failed update is only a warning. `env`, because sudo drops the
// variables of its caller.
function apt(prefix, ...args) {
  const [program, ...rest] = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args];
  const { stderr } = spawnSync(program, rest, { stdio: ['inherit', 'ignore', 'pipe'], encoding: 'utf8' });
  return (stderr ?? '').trim();
}

function adviceFor(names) {
  const lacking = missing(names);
  const packages = lacking.map((name) => needs[name].package).join(' ');
  if (!onPath('apt-get')) return `Please install what is missing here: ${lacking.join(', ')}.`;
  return (
    `Missing: ${lacking.join(', ')}. Run "sudo apt-get update && sudo apt-get install ` +
    `--no-install-recommends ${packages}", or set HIVE_SETUP=1 to let this script do it.`
  );
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

// Debian keeps the server's programs out of PATH, in one folder per version.
function hasPostgres() {
  return entries('/usr/lib/postgresql').some((version) =>
    existsSync(join('/usr/lib/postgresql', version, 'bin/postgres')),
  );
}

function hasEmacsPackage(name) {
  return entries('/usr/share/emacs/site-lisp/elpa-src').some((folder) => folder.startsWith(`${name}-`));
}

function hasFonts() {
  return entries('/usr/share/fonts').some((name) => name === 'truetype' || name === 'opentype');
}

function entries(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}
