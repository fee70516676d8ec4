/**
 * Configuration that another program manages, or that cannot be written for another reason: `hive init` and `hive uninit` write all
 * of it or nothing, and one sentence says what to add or remove by hand. `hive install` likewise writes nothing.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, HIVE, readOutput, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { tempFolder, tempHome } from '../support/temp.ts';

/** Every file of a home, links and what they lead to included. */
function contents(home: string): Record<string, string> {
  const paths = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !/^\.local|hive\.db/.test(path),
  );
  return Object.fromEntries(
    paths.sort().map((path) => {
      const file = join(home, path);
      const isFile = existsSync(file) && !lstatSync(file).isDirectory() && !isFolder(file);
      return [path, isFile ? readFileSync(file, 'utf8') : 'no file'];
    }),
  );
}

function isFolder(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A file of the read-only folder, and a link to it in the home. */
function managed(home: string, store: string, path: string, text: string | null): void {
  const file = join(store, path.replaceAll('/', '-'));
  mkdirSync(dirname(join(home, path)), { recursive: true });
  if (text === null) mkdirSync(file);
  else writeFileSync(file, text);
  symlinkSync(file, join(home, path));
}

const ONE_SENTENCE = /^hive: \/.* cannot be (written|read) \([a-z -]+\)\..*\n$/;

// Only root can make a folder that root cannot write.
describe('links into a folder that is read-only', { tags: ['root', 'mounts'] }, () => {
  test.each([
    ['claude', '.claude/settings.json', '{"model":"x"}', ['claude', '--hooks']],
    ['claude', '.claude', null, ['claude', '--hooks']],
    ['codex', '.codex/config.toml', 'model = "x"\n', ['codex']],
    ['emacs', '.emacs.d/init.el', ';; mine\n', ['emacs']],
  ] as const)('%s: %s', async (client, path, text, words) => {
    const [HOME, store] = [tempHome(), tempFolder()];
    managed(HOME, store, path, text);
    const before = contents(HOME);
    const env = childEnvironment(join(HOME, 'hive.db'), { HOME });
    const run = async (direction: string, ...args: string[]): Promise<[number | null, string]> => {
      const script = `mount --bind '${store}' '${store}' && mount -o remount,ro,bind '${store}' && exec "$@"`;
      const command = ['sh', '-c', script, 'sh', process.execPath, HIVE, direction, ...args, '--yes'];
      const child = spawnChild('unshare', ['-m', ...command], env);
      child.process.stdout.resume();
      child.process.stdin.end();
      return [(await child.exited).code, child.stderr()];
    };
    const [code, said] = await run('init', ...words);
    expect(code).toBe(2);
    expect(said).toMatch(ONE_SENTENCE);
    expect(said).toContain(`${join(HOME, path)}`);
    expect(said).toMatch(/is a link to|, a link to/);
    expect(said).toMatch(
      /Nothing was written\. If another program manages this file, let it add what the same/,
    );
    expect(contents(HOME)).toEqual(before);
    if (text === null) return;
    // The same when it is to be removed again.
    const written = await shell(join(HOME, 'hive.db'), { HOME }).hive('init', ...words, '--yes');
    expect(written.code).toBe(0);
    const installed = contents(HOME);
    const [refused, why] = await run('uninit', client);
    expect(refused).toBe(2);
    expect(why).toMatch(/Nothing was written\. .* let it remove what the same hive init command shows/);
    expect(contents(HOME)).toEqual(installed);
    expect((await shell(join(HOME, 'hive.db'), { HOME }).hive('uninit', client, '--yes')).code).toBe(0);
    expect(contents(HOME)).toEqual(before);
  });
});

test.each([
  ['settings.json of Claude Code', '.claude/settings.json', ['claude', '--hooks']],
  ['init.el', '.emacs.d/init.el', ['emacs']],
])('a folder in the place of %s', async (_what, path, words) => {
  const HOME = tempHome();
  mkdirSync(join(HOME, path), { recursive: true });
  const before = contents(HOME);
  const ran = await shell(join(HOME, 'hive.db'), { HOME }).hive('init', ...words, '--yes');
  expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(ONE_SENTENCE) });
  expect(ran.err).toContain(join(HOME, path));
  expect(contents(HOME)).toEqual(before);
});

test('a file in the place of a folder', async () => {
  const HOME = tempHome();
  writeFileSync(join(HOME, '.claude'), 'mine');
  const ran = await shell(join(HOME, 'hive.db'), { HOME }).hive('init', 'claude', '--hooks', '--yes');
  expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(ONE_SENTENCE) });
  expect(contents(HOME)).toEqual({ '.claude': 'mine' });
});

test('a disk with room for the first file only', { tags: ['root', 'mounts'] }, async () => {
  const HOME = tempHome();
  // Each file takes a page. The state directory is elsewhere.
  const script = `mount -t tmpfs -o size=16k,mode=700 none "$HOME" && mkdir "$HOME/.claude" && printf '{}' >"$HOME/.claude.json" &&
    dd if=/dev/zero of="$HOME/full" bs=4096 count=2 2>/dev/null; "$@"; echo $?; cat "$HOME/.claude.json"; ls -A "$HOME" "$HOME/.claude"`;
  const env = childEnvironment(join(tempFolder(), 'hive.db'), { HOME, XDG_STATE_HOME: tempFolder() });
  const command = [process.execPath, HIVE, 'init', 'claude', '--hooks', '--yes'];
  const child = spawnChild('unshare', ['-m', 'sh', '-c', script, 'sh', ...command], env);
  const out = readOutput(child);
  child.process.stdin.end();
  await child.exited;
  expect(child.stderr()).toMatch(
    /^hive: .* cannot be written \(no space left on device\)\. Nothing was written/,
  );
  expect(out()).toMatch(/(^|\n)2\n\{\}/);
  expect(out()).toMatch(/\.claude\n\.claude\.json\nfull\n/);
  // Nothing is in the folder: its name ends the list.
  expect(out()).toMatch(/\/\.claude:\n$/);
});

describe('hive install writes nothing and names what is in its way', () => {
  const REFUSED =
    /^hive: \/.* cannot be written \((not a directory|read-only file system)\)\. Nothing was installed; name another folder with --to or --bin\.\n$/;

  test.each(['.local/share/hive/versions', '.local/bin'])('where %s is a file', async (name) => {
    const HOME = tempHome();
    mkdirSync(dirname(join(HOME, name)), { recursive: true });
    writeFileSync(join(HOME, name), 'mine');
    const before = readdirSync(HOME, { recursive: true });
    const ran = await shell(join(HOME, 'hive.db'), { HOME }).hive('install', '--yes');
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(REFUSED) });
    expect(ran.err).toContain(`${join(HOME, name)} cannot`);
    expect(readdirSync(HOME, { recursive: true })).toEqual(before);
  });

  test('on a read-only file system', { tags: ['root', 'mounts'] }, async () => {
    const HOME = tempHome();
    mkdirSync(join(HOME, '.local/share'));
    const before = readdirSync(HOME, { recursive: true });
    const script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
    const command = [
      'sh',
      '-c',
      script,
      join(HOME, '.local/share'),
      process.execPath,
      HIVE,
      'install',
      '--yes',
    ];
    const child = spawnChild(
      'unshare',
      ['-m', ...command],
      childEnvironment(join(HOME, 'hive.db'), { HOME }),
    );
    child.process.stdout.resume();
    child.process.stdin.end();
    expect((await child.exited).code).toBe(1);
    expect(child.stderr()).toMatch(REFUSED);
    expect(readdirSync(HOME, { recursive: true })).toEqual(before);
  });
});
