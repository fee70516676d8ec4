/**
 * `hive install` and `hive uninstall` in a home of their own. npm is replaced by a script that takes the package from this
 * checkout, so that nothing is fetched; test/package installs a release with the real one.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../support/children.ts';
import { type Ran, type Shell, shell } from '../support/cli.ts';
import { beforeFile } from '../support/lifetime.ts';
import { NPM } from '../support/npm.ts';
import { tempFolder, tempHome } from '../support/temp.ts';

interface Home {
  folder: string;
  person: Shell;
  install(env?: Record<string, string>, ...args: string[]): Promise<Ran>;
  /** The version that `current` leads to. */
  current(): string;
  versions(): string[];
}

function script(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** A home with these files, in which the machine's Node has this version. */
function home(files: Record<string, string> = {}, version = process.version): Home {
  const folder = tempHome();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  script(join(folder, 'machine/npm'), NPM);
  const node = `[ "$1" = --version ] && { echo ${version}; exit; }\nexec ${process.execPath} "$@"\n`;
  script(join(folder, 'machine/node'), `#!/bin/sh\n${node}`);
  script(join(folder, 'machine/emacs'), '#!/bin/sh\n');
  const env = {
    HOME: folder,
    PATH: `${join(folder, '.local/bin')}:${join(folder, 'machine')}:/usr/bin:/bin`,
    PACKAGE_CONTENT: 'first',
  };
  const store = join(folder, '.local/state/hive/hive.db');
  const share = join(folder, '.local/share/hive');
  return {
    folder,
    person: shell(store, env),
    install: (more = {}, ...args) => shell(store, { ...env, ...more }).hive('install', ...args),
    current: () => readlinkSync(join(share, 'current')),
    versions: () => readdirSync(join(share, 'versions')).sort(),
  };
}

/** Runs the command as the shell of the person finds it. */
async function installed({ folder }: Home, ...args: string[]): Promise<string> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const env = { HOME: folder, PATH: `${join(folder, '.local/bin')}:/usr/bin:/bin` };
  return (await promisify(execFile)('hive', args, { env })).stdout;
}

const INIT = '.emacs.d/init.el';
const MINE = ';; Mine.\r\n(setq inhibit-startup-screen t)';

describe('hive install', () => {
  describe('for one person', () => {
    let place: Home;
    let init: string;
    beforeFile(async () => {
      place = home({ [INIT]: MINE });
    });

    it('writes into no file of others without a yes', async () => {
      const { code, out } = await place.install();
      expect(code, out).toBe(0);
      expect(out).toContain('Use --yes, or run later: hive init emacs');
      expect(out).toContain(`Found Emacs (${join(place.folder, 'machine/emacs')}).`);
      expect(out).toMatch(
        /Did not find Claude Code or Codex: not on PATH, nor in .*\/usr\/local\/bin\. An alias of your shell cannot be seen from here\. If you have one of them, run: hive init claude --hooks, or: hive init codex\n/,
      );
      expect(out.trim().split('\n').at(-1)).toMatch(
        /^Try it: run hive ask .*, and answer it with: hive respond$/,
      );
      expect(readFileSync(join(place.folder, INIT), 'utf8')).toBe(MINE);
    });

    it('installs a command, the lines in the init file, and what the doctor finds', async () => {
      const { code, out } = await place.install({ PACKAGE_CONTENT: 'second' }, '--yes');
      expect(code, out).toBe(0);
      expect(await installed(place, '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
      const elisp = join(place.folder, '.local/share/hive/current/node_modules/hive-sidecar/elisp');
      init = readFileSync(join(place.folder, INIT), 'utf8');
      expect(init).toContain(`(add-to-list 'load-path "${elisp}")`);
      expect(out).toContain(`Hive runs on Node ${process.version.slice(1)}`);
      expect(out).toMatch(
        /\nhive doctor: \d+ checks: \d+ ok, \d+ not set up, 0 broken\.\n-- {4}Claude Code /,
      );
    });

    it('does nothing the second time', async () => {
      const state = () => [
        place.current(),
        // The folder itself, and not another one in its place: a program may run from it.
        ...place
          .versions()
          .map((name) => [name, statSync(join(place.folder, '.local/share/hive/versions', name)).ino]),
        readFileSync(join(place.folder, INIT), 'utf8'),
      ];
      const before = state();
      const { out } = await place.install({ PACKAGE_CONTENT: 'second' }, '--yes');
      expect(out).toContain('This version is already installed.');
      expect(state()).toEqual(before);
    });

    it('updates in place: files that name it stay as they are, and only the version before is kept', async () => {
      const second = place.current();
      expect(place.versions()).toHaveLength(2);
      await place.install({ PACKAGE_CONTENT: 'third' }, '--yes');
      expect(place.current()).not.toBe(second);
      expect(readFileSync(join(place.folder, INIT), 'utf8')).toBe(init);
      expect(place.versions()).toEqual(
        [second, place.current()].map((link) => link.replace('versions/', '')).sort(),
      );
      expect(await installed(place, '--version')).toMatch(/^\d/);
    });

    it('offers Emacs and the agents that it finds', async () => {
      for (const agent of ['claude', 'codex']) script(join(place.folder, 'machine', agent), '#!/bin/sh\n');
      rmSync(join(place.folder, INIT));
      expect((await place.install({ PACKAGE_CONTENT: 'third' })).out).toContain(
        'run later: hive init emacs; hive init claude --hooks; hive init codex\n',
      );
    });
  });

  it('brings its own Node when that of the machine is too old', async () => {
    const place = home({}, 'v20.20.2');
    const { code, out } = await place.install();
    expect(code, out).toBe(0);
    expect(out).toMatch(
      /Hive uses its own Node 24\.\S+, because \S+\/machine\/node \(20\.20\.2\) is older than 24\.15\.0\./,
    );
    // There is no other one on this PATH.
    expect(await installed(place, 'doctor')).toMatch(/^ok {4}Node/m);
    const now = await place.install({
      PATH: `${dirname(process.execPath)}:${place.folder}/machine:/usr/bin:/bin`,
    });
    // The Node of a project is not the machine's.
    expect(now.out).toContain('This version is already installed.');
  });

  describe('where a version is installed', () => {
    let place: Home;
    let before: string;
    beforeFile(async () => {
      place = home();
      await place.install();
    });
    beforeEach(() => {
      before = place.current();
    });

    it('waits for nobody: while another one runs it says so', async () => {
      const lock = join(place.folder, '.local/share/hive/lock');
      writeFileSync(lock, `${process.pid}\n`);
      const { code, err } = await place.install({ PACKAGE_CONTENT: 'second' });
      expect({ code, err }).toEqual({
        code: 1,
        err: `hive: Another installation is running (process ${process.pid}): wait for it to end.\n`,
      });
      rmSync(lock);
    });

    it.each([
      ['npm fails', 'echo "no network" >&2; exit 1', /"npm pack" failed, so nothing was changed: no network/],
      [
        'the package cannot be unpacked',
        '[ "$1" != pack ] || { echo broken > hive-sidecar-0.1.0.tgz; exit; }',
        /"tar" failed, so nothing was changed: /,
      ],
      [
        'the new version does not start',
        '[ "$1" != pack ] || { mkdir -p package/bin; echo "throw 1" > package/bin/hive; tar -czf hive-sidecar-0.1.0.tgz package; exit; }',
        /The new version does not start, so it was not installed/,
      ],
    ])('keeps what is installed when %s, and says so', async (_, does, sentence) => {
      const { code, err } = await place.install({ PACKAGE_CONTENT: 'second', NPM_DOES: does });
      expect(err).toMatch(sentence);
      expect(code).toBe(1);
      expect(place.current()).toBe(before);
      expect(place.versions()).toHaveLength(1);
    });

    it.each([
      ['packs', 'kill -9 $PPID'],
      ['fetches', '[ "$1" = pack ] || kill -9 $PPID'],
      ['has fetched half', '[ "$1" = pack ] || { mkdir -p node_modules/hive-sidecar/bin; kill -9 $PPID; }'],
    ])('when killed while it %s leaves the old version, and the next one finishes', async (name, does) => {
      const killed = await place.install({ PACKAGE_CONTENT: name, NPM_DOES: does });
      expect(killed.code).toBe(null);
      expect(place.current()).toBe(before);
      expect(await installed(place, '--version')).toMatch(/^\d/);
      const { code, err } = await place.install({ PACKAGE_CONTENT: name });
      expect(code, err).toBe(0);
      expect(place.current()).not.toBe(before);
      expect(place.versions()).toHaveLength(2);
      expect(readdirSync(join(place.folder, '.local/share/hive'))).not.toContain('lock');
    });

    it('says so where the Node of the machine has gone, and there is no other', async () => {
      rmSync(join(place.folder, 'machine/node'));
      const { spawnSync } = await import('node:child_process');
      const launcher = join(place.folder, '.local/share/hive/bin/hive');
      const ran = spawnSync(launcher, ['list'], { env: { PATH: '/nowhere' }, encoding: 'utf8' });
      expect(ran).toMatchObject({ status: 8, stdout: '' });
      expect(ran.stderr).toMatch(/^hive: needs Node, and there is none on PATH\. [^\n]*\n$/);
    });
  });

  it('leaves nothing when the first one fails, and what others have in its folders', async () => {
    const place = home({ '.local/share/hive/mine': 'mine' });
    const before = readdirSync(place.folder, { recursive: true }).sort();
    const does = '[ "$1" = pack ] || { echo "no network" >&2; exit 1; }';
    const { code, err } = await place.install({ NPM_DOES: does });
    expect(code).toBe(1);
    expect(err).toBe('hive: "npm install" failed, so nothing was changed: no network\n');
    expect(readdirSync(place.folder, { recursive: true }).sort()).toEqual(before);
  });

  it("leaves somebody else's hive alone", async () => {
    const place = home({ '.local/bin/hive': 'mine' });
    const { code, err } = await place.install();
    expect(code).toBe(1);
    expect(err).toContain('this installation did not make it');
    expect(readFileSync(join(place.folder, '.local/bin/hive'), 'utf8')).toBe('mine');
    expect(existsSync(join(place.folder, '.local/share'))).toBe(false);
  });

  it('with --to writes nothing outside of that folder', async () => {
    const place = home();
    const folder = join(place.folder, 'here');
    expect(await place.install({}, '--to', folder)).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, 'bin/hive'))).toBe(true);
    expect(existsSync(join(place.folder, '.local/bin'))).toBe(false);
  });

  it('leaves alone what others have in its folder', async () => {
    const place = home({ 'here/versions/1.0/file': 'mine', 'here/versions/.unfinished-book': 'mine' });
    const folder = join(place.folder, 'here');
    for (const PACKAGE_CONTENT of ['first', 'second', 'third'])
      expect(await place.install({ PACKAGE_CONTENT }, '--to', folder)).toMatchObject({ code: 0 });
    const names = readdirSync(join(folder, 'versions'));
    expect(names).toEqual(expect.arrayContaining(['1.0', '.unfinished-book']));
    expect(names).toHaveLength(4);
  });

  it.each(['bin/hive', 'current', 'previous'])('refuses to replace a %s of somebody else', async (name) => {
    const place = home({ [`here/${name}`]: 'mine' });
    const { code, err } = await place.install({}, '--to', join(place.folder, 'here'));
    expect(code).toBe(1);
    expect(err).toBe(
      `hive: ${join(place.folder, 'here', name)} exists, and this installation did not make it: move it away, or name another folder with --to.\n`,
    );
    expect(readFileSync(join(place.folder, 'here', name), 'utf8')).toBe('mine');
  });
});

describe('hive uninstall', () => {
  describe('of a program that is installed and set up', () => {
    let place: Home;
    let init: string;
    const lines = (): string => readFileSync(join(place.folder, INIT), 'utf8');
    beforeFile(async () => {
      place = home({ 'mine/bin/hive': 'mine', '.local/lib/file': 'mine' });
      await place.install({}, '--yes');
      init = lines();
      expect(init).toContain('hive-mode');
    });

    it('refuses a folder that Hive was not installed in', async () => {
      const before = readdirSync(place.folder, { recursive: true });
      // The link in ~/.local/bin leads to an installation that is elsewhere.
      for (const name of ['', 'mine', '.local', '.local/share']) {
        const folder = join(place.folder, name);
        expect(await place.person.hive('uninstall', '--yes', '--to', folder)).toMatchObject({
          code: 1,
          out: '',
          err: `hive: Hive is not installed in ${folder.replace(/\/$/, '')}.\n`,
        });
      }
      expect(
        await place.person.hive('uninstall', '--yes', '--to', join(place.folder, 'nowhere')),
      ).toMatchObject({ code: 0, out: expect.stringContaining('Hive is not installed in ') });
      expect(readdirSync(place.folder, { recursive: true })).toEqual(before);
    });

    it('removes nothing without a yes; it names the files of others that it changes before it asks, and shows their lines also without a terminal', async () => {
      const file = join(place.folder, INIT);
      const { code, out, err } = await place.person.hive('uninstall');
      expect(code).toBe(1);
      expect(out).toMatch(
        /^This removes what Hive has written into .*\. Then it removes the program in .*\n/,
      );
      expect(out.split('\n')[0]).toContain(`${file}, and asks about each program.`);
      expect(out).toMatch(/^ {2}-\(require 'hive-mode\)$/m);
      expect(err).toBe(
        'hive: Hive cannot ask for confirmation without a terminal. Use --yes to remove Hive without asking. Nothing was removed.\n',
      );
      const declined = await place.person.terminal(['uninstall'], 'Continue?', 'n');
      expect(declined).toMatchObject({ code: 6, out: expect.stringContaining('Nothing was removed.') });
      expect(lines()).toBe(init);
      expect(lstatSync(join(place.folder, '.local/bin/hive')).isSymbolicLink()).toBe(true);
      expect(declined.out.replaceAll(/\s/g, '')).toContain(`${file},andasksabouteachprogram.`);
      expect((await place.person.hive('uninit', 'emacs')).err).toContain('without asking.\n');
    });

    it('says what to do where the installed program does not start, and removes nothing', async () => {
      const launcher = join(place.folder, '.local/share/hive/bin/hive');
      const node = join(place.folder, 'machine/node');
      const works = readFileSync(node, 'utf8');
      script(node, '#!/bin/sh\necho "hive: this Node is too old" >&2; exit 8\n');
      expect(await place.person.hive('uninstall', '--yes')).toMatchObject({
        code: 1,
        err: `hive: Nothing was removed, because Hive cannot tell whether it is configured for Codex: ${launcher} does not start (this Node is too old). Install Hive again first, then remove it.\n`,
      });
      chmodSync(launcher, 0o644);
      expect((await place.person.hive('uninstall', '--yes')).err).toContain(`${launcher} does not start (`);
      expect(lines()).toBe(init);
      expect(existsSync(launcher)).toBe(true);
      chmodSync(launcher, 0o755);
      script(node, works);
    });

    it('says first how Claude Code removes the plugin that it has from there', async () => {
      const plugin = join(place.folder, '.local/share/hive/current/node_modules/hive-sidecar/plugin');
      const hive = { source: { source: 'directory', path: plugin } };
      const settings = join(place.folder, '.claude/settings.json');
      script(settings, JSON.stringify({ extraKnownMarketplaces: { hive } }));
      const { code, err } = await place.person.hive('uninstall', '--yes');
      expect(code).toBe(1);
      expect(err).toMatch(/^hive: Nothing was removed, .* Run claude plugin marketplace remove hive, /);
      expect(lines()).toBe(init);
      writeFileSync(settings, '{}');
      expect(await place.person.hive('uninstall', '--yes')).toMatchObject({ code: 0 });
    });
  });

  it.each([
    ['each folder in which --bin has put it, on PATH or not', ['one', 'two'], '.local/share/hive', []],
    ['a folder that is not on PATH, with --to', ['two'], 'to', ['--to']],
  ])('removes the command from %s, and names no other', async (_what, names, to, option) => {
    const place = home();
    const bins = names.map((name) => join(place.folder, name));
    const elsewhere = option.flatMap((name) => [name, join(place.folder, to)]);
    for (const bin of bins) await place.install({}, '--bin', bin, ...elsewhere);
    const PATH = `${join(place.folder, 'one')}:${place.folder}/machine:/usr/bin:/bin`;
    const person = shell('unused', { HOME: place.folder, PATH });
    const { code, out } = await person.hive('uninstall', '--yes', ...elsewhere);
    const removed = [join(place.folder, to), ...bins.map((bin) => join(bin, 'hive'))];
    expect({ code, first: out.split('\n')[0] }).toEqual({
      code: 0,
      first: `This removes the program in ${removed.join(', ').replace(/, ([^,]*)$/, ' and $1')}.`,
    });
    expect(bins.filter((bin) => existsSync(bin))).toEqual([]);
  });

  it('restores every file to the byte, and leaves only the store', async () => {
    const place = home({ [INIT]: MINE, '.claude.json': '{"a":1}' });
    script(join(place.folder, 'machine/claude'), '#!/bin/sh\n');
    await place.install({}, '--yes');
    expect(readFileSync(join(place.folder, '.claude.json'), 'utf8')).toContain('current/bin/node');
    expect(await installed(place, 'uninstall', '--yes')).toContain('Your questions and answers are kept in');
    expect(readFileSync(join(place.folder, INIT), 'utf8')).toBe(MINE);
    expect(readFileSync(join(place.folder, '.claude.json'), 'utf8')).toBe('{"a":1}');
    expect(readdirSync(place.folder).sort()).toEqual(['.claude.json', '.emacs.d', '.local', 'machine']);
    expect(readdirSync(join(place.folder, '.local'))).toEqual(['state']);
    const state = readdirSync(join(place.folder, '.local/state/hive'));
    expect(state.filter((name) => !name.startsWith('hive.db'))).toEqual([]);
  });

  it('finds what names it in files where its folder is reached over a link', async () => {
    const place = home({ [INIT]: MINE, '.claude.json': '{"a":1}', 'disk/mine': 'mine' });
    script(join(place.folder, 'machine/claude'), '#!/bin/sh\n');
    symlinkSync('../disk', join(place.folder, '.local/share'));
    const { out } = await place.install({}, '--yes');
    expect(out).toContain('Try it: restart Emacs, start claude in a project');
    expect(await place.person.hive('uninstall', '--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(join(place.folder, INIT), 'utf8')).toBe(MINE);
    expect(readFileSync(join(place.folder, '.claude.json'), 'utf8')).toBe('{"a":1}');
    expect(readdirSync(join(place.folder, 'disk'))).toEqual(['mine']);
  });

  it('leaves folders that were there, and what others put into them', async () => {
    const place = home({ '.local/bin/other': 'theirs' });
    mkdirSync(join(place.folder, '.local/share'));
    await place.install();
    await installed(place, 'uninstall', '--yes');
    expect(readdirSync(join(place.folder, '.local')).sort()).toEqual(['bin', 'share', 'state']);
    expect(readdirSync(join(place.folder, '.local/bin'))).toEqual(['other']);
  });

  it('leaves the lines of another Hive in the init file', async () => {
    const place = home();
    await place.person.hive('init', 'emacs', '--yes');
    const init = readFileSync(join(place.folder, INIT), 'utf8');
    await place.install();
    await installed(place, 'uninstall', '--yes');
    expect(readFileSync(join(place.folder, INIT), 'utf8')).toBe(init);
  });

  it('leaves what others have in the folder of the program, and says so', async () => {
    const theirs = { 'here/mine': 'x', 'here/bin/other': 'x', 'here/versions/1.0/file': 'x' };
    const place = home(theirs);
    const folder = join(place.folder, 'here');
    for (const PACKAGE_CONTENT of ['first', 'second'])
      await place.install({ PACKAGE_CONTENT }, '--to', folder);
    // The remains of a killed installation.
    mkdirSync(join(folder, 'versions/.unfinished-1'));
    symlinkSync(readlinkSync(join(folder, 'current')), join(folder, 'current.1'));
    expect(await place.person.hive('uninstall', '--yes', '--to', folder)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Removed Hive from ${folder}. What else is in that folder stays.\n`),
    });
    expect(
      readdirSync(place.folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.startsWith('here/'))
        .sort(),
    ).toEqual([...Object.keys(theirs), 'here/bin', 'here/versions', 'here/versions/1.0'].sort());
  });

  it('finishes what was begun', async () => {
    const place = home();
    await place.install();
    const share = join(place.folder, '.local/share/hive');
    // As the one that was killed leaves it.
    for (const name of ['bin', 'current']) rmSync(join(share, name), { recursive: true });
    expect(await place.person.hive('uninstall', '--yes')).toMatchObject({ code: 0 });
    expect(readdirSync(join(place.folder, '.local'))).toEqual(['state']);
  });

  it('makes no link where the program itself is', async () => {
    const place = home();
    const prefix = join(place.folder, 'prefix');
    const folders = ['--to', prefix, '--bin', join(prefix, 'bin')];
    expect(await place.install({}, ...folders)).toMatchObject({ code: 0 });
    expect(lstatSync(join(prefix, 'bin/hive')).isFile()).toBe(true);
    expect(await place.person.hive('uninstall', '--yes', ...folders)).toMatchObject({ code: 0 });
    expect(existsSync(prefix)).toBe(false);
  });

  it('a file of a client that cannot be read is named: nothing is removed, and installing goes on', async () => {
    const broken = 'model = ';
    const place = home({ [INIT]: MINE, '.codex/config.toml': broken });
    script(join(place.folder, 'machine/codex'), '#!/bin/sh\n');
    const sentence = `${join(place.folder, '.codex/config.toml')}: This is not TOML that Hive can add to`;
    for (const args of [[], ['--yes']]) {
      const { code, out, err } = await place.install({}, ...args);
      expect(code, err).toBe(0);
      expect(out).toContain('hive doctor: ');
      if (args.length > 0) expect(err).toContain(`hive: ${sentence}`);
    }
    const init = readFileSync(join(place.folder, INIT), 'utf8');
    expect(init).not.toBe(MINE);
    const { code, err } = await place.person.hive('uninstall', '--yes');
    expect(code).toBe(1);
    expect(err).toContain(
      `hive: Nothing was removed, because Hive cannot tell whether it is configured for Codex: ${sentence}`,
    );
    expect(readFileSync(join(place.folder, INIT), 'utf8')).toBe(init);
    expect(await installed(place, '--version')).toMatch(/^\d/);
  });
});

it('bin/hive refuses Windows at once and names WSL', async () => {
  const preload = join(tempFolder(), 'windows.cjs');
  writeFileSync(preload, "Object.defineProperty(process, 'platform', { value: 'win32' });\n");
  const { spawnChild, childEnvironment, HIVE } = await import('../support/children.ts');
  const env = childEnvironment(join(tempFolder(), 'hive.db'));
  for (const command of ['status', 'hook', 'install']) {
    const child = spawnChild(process.execPath, ['--require', preload, HIVE, command], env);
    child.process.stdin.end();
    expect(await child.exited).toMatchObject({ code: 8 });
    expect(child.stderr()).toMatch(/^hive: does not run on Windows itself; install it in WSL, .+\n$/);
  }
});

/** A package as npm has installed it, with a Node beside it; the Node that starts it says that it is 20. */
function old(more = ''): { folder: string; run(...args: string[]): Promise<Ran> } {
  const folder = tempFolder();
  const root = join(folder, 'node_modules/hive-sidecar');
  mkdirSync(dirname(root), { recursive: true });
  mkdirSync(root);
  for (const part of ['dist', 'package.json']) symlinkSync(join(ROOT, part), join(root, part));
  mkdirSync(join(root, 'bin'));
  for (const name of ['hive', 'package.json'])
    writeFileSync(join(root, 'bin', name), readFileSync(join(ROOT, 'bin', name)));
  script(join(folder, 'bin/node'), `#!/bin/sh\necho beside >&2\nexec ${process.execPath} "$@"\n`);
  const preload = join(folder, 'old.cjs');
  const version = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
  writeFileSync(preload, `if (!process.execArgv.length) return;\n${version};\n${more}\n`);
  const command = ['--require', preload, join(root, 'bin/hive')];
  script(join(folder, 'hive'), `#!/bin/sh\nexec ${process.execPath} ${command.join(' ')} "$@"\n`);
  return {
    folder,
    run: async (...args) => {
      const { spawnChild, childEnvironment } = await import('../support/children.ts');
      const child = spawnChild(join(folder, 'hive'), args, childEnvironment(join(folder, 's/hive.db')));
      let out = '';
      child.process.stdout.on('data', (text: Buffer) => {
        out += text.toString();
      });
      child.process.stdin.end();
      const { code } = await child.exited;
      return { code, out, err: child.stderr(), json: () => JSON.parse(out) };
    },
  };
}

it.each([
  ['in the same process', ''],
  ['in a child, where Node cannot replace itself', 'delete process.execve;'],
])('bin/hive on a Node that is too old goes on with the Node beside it, %s', async (_, more) => {
  const { run } = old(more);
  expect(await run('--version')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+\./),
    err: 'beside\n',
  });
  expect(await run('poll', 'ask-unknown')).toMatchObject({ code: 1 });
  expect(await run('ask')).toMatchObject({ code: 2 });
});
