// A graphical Emacs for the tests of focus and mouse. Debian's emacs-nox and emacs-gtk exclude each other, so
// this one is unpacked into node_modules/.cache next to the installed one, and only its libraries are installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../node_modules/.cache/emacs-gtk');

export const hasEmacsGtk = () =>
  existsSync('/usr/bin/emacs-gtk') || existsSync(join(folder, 'usr/bin/emacs-gtk'));

/**
 * Unpacks it and installs its libraries with `install(packages)`. If the package is not available, one line reports
 * that, and a file next to it contains the reason for the tests, which fail without it.
 */
export function setUpEmacsGtk(install) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const problem = fetched() ?? unpacked() ?? librariesMissing(install);
  if (problem === null) return;
  rmSync(join(folder, 'usr'), { recursive: true, force: true });
  writeFileSync(join(folder, 'why-not'), `${problem}\n`);
  console.log(`No graphical Emacs (${problem}): the tests of focus and mouse will fail.`);
}

function run(program, ...args) {
  const env = { ...process.env, LC_ALL: 'C' };
  return spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
}

function fetched() {
  const { status, stderr } = run('apt-get', 'download', '-qq', 'emacs-gtk');
  return status === 0 ? null : `apt-get download emacs-gtk: ${lastLine(stderr)}`;
}

const archive = () => readdirSync(folder).find((name) => name.endsWith('.deb'));

function unpacked() {
  const { status, stderr } = run('dpkg-deb', '-x', archive(), folder);
  return status === 0 ? null : `dpkg-deb -x: ${lastLine(stderr)}`;
}

function librariesMissing(install) {
  const depends = run('dpkg-deb', '-f', archive(), 'Depends').stdout ?? '';
  const libraries = depends
    .split(',')
    .map((alternatives) => alternatives.trim().split(/[ |:]/)[0])
    .filter((name) => name.startsWith('lib') || name.startsWith('zlib'));
  install(libraries);
  rmSync(join(folder, archive()));
  const { stdout } = run('ldd', join(folder, 'usr/bin/emacs-gtk'));
  const missing = (stdout ?? '').match(/^\s*\S+(?= => not found)/gm);
  return missing === null ? null : `it misses ${missing.map((name) => name.trim()).join(', ')}`;
}

function lastLine(text) {
  return (text ?? '').trim().split('\n').at(-1) || 'no reason given';
}
