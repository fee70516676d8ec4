/** The release: the same bytes each time, and what a person gets who installs it in an empty home. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Environment, ROOT } from '../support/children.ts';
import { lisp } from '../support/emacs.ts';
import { lettingScriptsAnswer } from '../support/scripts-answer.ts';
import { tempFolder } from '../support/temp.ts';
import { npmOfThisMachine, releasedFile, run } from './install-release.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

let npm: Environment;
beforeAll(async () => {
  npm = await npmOfThisMachine();
});

test('two releases have the same files with the same bytes', () => {
  const { first, second } = inject('releases');
  const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8');
  expect(readFileSync(join(second, 'SHA256SUMS'), 'utf8')).toBe(sums);
  const names = sums
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('  ')[1] ?? '');
  expect([...names, 'SHA256SUMS'].sort()).toEqual(readdirSync(first).sort());
  for (const name of names)
    expect(readFileSync(join(second, name)).equals(readFileSync(join(first, name))), name).toBe(true);
});

test('its checksums are those of its files, and its changes have a heading', async () => {
  const { first } = inject('releases');
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: first });
  expect(readFileSync(join(first, 'CHANGES.md'), 'utf8')).toMatch(new RegExp(`^# Hive ${version}\n\n\\S`));
});

test('the zip has every file of the plugin', async () => {
  const folder = tempFolder();
  const unzip = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
  await run('python3', ['-c', unzip, releasedFile('.zip'), folder]);
  await run('diff', ['-r', join(ROOT, 'plugin'), folder]);
});

/** A machine on which `node` and `npm` are of this version. */
async function machine(major: number): Promise<{ home: string; node: string; env: Environment }> {
  const home = lettingScriptsAnswer(tempFolder());
  const bin = join(home, 'machine');
  mkdirSync(bin);
  const binary = `node-${process.platform}-${process.arch}`;
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', bin];
  await run('npm', [...install, `${binary}@${major}`], { env: { ...process.env, ...npm } });
  // As a machine has it: not in a project.
  const node = join(bin, 'node');
  await run('cp', [join(bin, 'node_modules', binary, 'bin/node'), node]);
  const { stdout } = await run('/bin/sh', ['-c', 'readlink -f "$(command -v npm)"']);
  const npmCli = stdout.trim();
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec ${node} ${npmCli} "$@"\n`);
  chmodSync(join(bin, 'npm'), 0o755);
  const PATH = `${join(home, '.local/bin')}:${bin}:/usr/bin:/bin`;
  const bus = { DBUS_SESSION_BUS_ADDRESS: 'disabled:', LANG: 'C.UTF-8' };
  return { home, node, env: { ...npm, ...bus, HOME: home, PATH, npm_config_prefer_offline: 'true' } };
}

test.each([20, 22, 24])(
  'hive install from the release file installs on Node %i, works, and is removed again',
  async (major) => {
    const { home, node, env } = await machine(major);
    const before = readdirSync(home).sort();
    await run('tar', ['-xzf', releasedFile('.tgz'), '-C', join(home, 'machine')]);
    const hive = join(home, 'machine/package/bin/hive');
    const { stdout } = await run(node, [hive, 'install', '--yes'], { env, cwd: home });
    expect(stdout).toMatch(
      major < 24 ? /Hive uses its own Node 24\.\S+, because \S+ \(2[02]\./ : /Hive runs on Node 24\./,
    );
    expect(stdout).toMatch(/hive doctor: \d+ checks: \d+ ok, \d+ not set up, 0 broken/);
    expect(existsSync(join(home, '.emacs.d/init.el'))).toBe(true);
    // A package that is bundled into the programs is not installed a second time; any other is found.
    const packages = join(home, '.local/share/hive/current/node_modules');
    expect(readdirSync(packages)).not.toContain('@modelcontextprotocol');
    const load = 'for (const name of ["pg", "node-notifier"]) require(name);';
    await run(node, ['-e', load], { env, cwd: join(packages, 'hive-sidecar') });

    // The files that Emacs loads are compiled.
    const folder = join(packages, 'hive-sidecar/elisp');
    const files = readdirSync(folder);
    const sources = files.filter((name) => name.endsWith('.el'));
    expect(files).toEqual(expect.arrayContaining(sources.map((name) => `${name}c`)));
    const find = ['-Q', '--batch', '-L', folder, '--eval', '(princ (locate-library "hive-mode"))'];
    expect((await run('emacs', find, { env, cwd: home })).stdout).toBe(join(folder, 'hive-mode.elc'));

    const shell = async (line: string): Promise<string> =>
      (await run('/bin/sh', ['-c', line], { env, cwd: home })).stdout.trim();
    const id = await shell('HIVE_AGENT=script hive ask "Go on?" --option yes --option no');
    await shell(`hive respond ${id} yes`);
    expect(JSON.parse(await shell(`HIVE_AGENT=script hive poll ${id} --json`))).toMatchObject({
      status: 'responded',
      decision: 'yes',
    });

    await shell('hive uninstall --yes');
    expect(
      readdirSync(home)
        .filter((name) => !['.local', '.npm', '.cache'].includes(name))
        .sort(),
    ).toEqual(before);
    expect(readdirSync(join(home, '.local'))).toEqual(['state']);
  },
);

describe('the Emacs package', () => {
  test('is installed by package-install-file, and its sidecar and its manual are found', async () => {
    const home = tempFolder();
    const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, LANG: 'C.UTF-8' };
    const emacs = async (form: string): Promise<string> =>
      (await run('emacs', ['-Q', '--batch', '--eval', form], { env, cwd: home, maxBuffer: 2 ** 26 })).stdout;
    const packages = "(require 'package) (package-initialize)";
    await emacs(`(progn ${packages} (package-install-file ${lisp(releasedFile('.tar'))}))`);
    const folder = join(home, `.emacs.d/elpa/hive-mode-${version}`);
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(['hive-mode.elc', 'hive-mode-autoloads.el', 'hive.info']),
    );
    const said = await emacs(`(progn ${packages}
      (princ (list (featurep 'hive-mode) (commandp 'hive-next) (commandp 'hive-install-sidecar)))
      (info "(hive)Installing Hive")
      (princ (buffer-string))
      (require 'hive-doctor)
      (princ (hive-doctor--install-origin)))`);
    expect(said).toMatch(/^\(nil t t\)/);
    expect(said).toContain('Installing Hive');
    // Nothing of the program is beside it.
    expect(said).toMatch(/hive-sidecar@latest$/);
  });

  test('M-x hive-install-sidecar installs the release file that lies beside it, and connects', async () => {
    const home = tempFolder();
    mkdirSync(join(home, 'lisp'));
    await run('tar', ['-xf', releasedFile('.tar'), '-C', join(home, 'lisp'), '--strip-components=1']);
    await run('cp', [releasedFile('.tgz'), join(home, 'lisp')]);
    const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
    const env = { ...npm, HOME: home, PATH, LANG: 'C.UTF-8', DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
    const form = `(progn
      (add-to-list 'load-path ${lisp(join(home, 'lisp'))})
      (require 'hive-mode)
      (setq exec-path (cons ${lisp(dirname(process.execPath))} '("/usr/bin" "/bin")))
      (hive-mode 1)
      (princ (format "%s " hive-sidecar-state))
      (hive-install-sidecar)
      (let ((until (+ (float-time) 170)))
        (while (and (< (float-time) until) (not (hive-sidecar-connected-p)))
          (accept-process-output nil 0.05)))
      (princ (format "%s %s" hive-sidecar-state (hive-program-installed)))
      (unless (hive-sidecar-connected-p)
        (princ (with-current-buffer "*hive install*" (buffer-string))))
      (hive-mode -1))`;
    const { stdout } = await run('emacs', ['-Q', '--batch', '--eval', form], { env, cwd: home });
    expect(stdout).toBe(`failed connected ${join(home, '.local/share/hive/bin/hive')}`);
    expect(existsSync(join(home, '.local/bin/hive'))).toBe(true);
    expect(existsSync(join(home, '.emacs.d/init.el'))).toBe(false);
  });
});
