/**
 * The states in which a person's ~/.claude/settings.json is found: each is either set up, and restored to the byte by uninit,
 * or refused with a sentence, and then nothing at all was written.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readJson } from '../../src/infrastructure/installation/json-edits.ts';
import { type Shell, shell } from '../support/cli.ts';
import { tempHome } from '../support/temp.ts';

const SETTINGS = '.claude/settings.json';

interface Home {
  folder: string;
  person: Shell;
}

function home(text: string | null): Home {
  const folder = tempHome();
  if (text !== null) write(folder, SETTINGS, text);
  return { folder, person: shell(join(folder, 'state/hive.db'), { HOME: folder }) };
}

function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Every file and link of a home but Hive's own, with what is in it. */
function everything(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/^(?:\.cache|\.local|state)\//.test(path.slice(folder.length + 1)));
  return Object.fromEntries(
    found
      .sort()
      .map((path) => [
        path.slice(folder.length + 1),
        lstatSync(path).isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8'),
      ]),
  );
}

const init = ({ person }: Home) => person.hive('init', 'claude', '--hooks', '--yes');

/** The events that have a hook of Hive, in what lies there now. */
function hooked({ folder }: Home): string[] {
  const { hooks } = readJson(readFileSync(join(folder, SETTINGS), 'utf8')) as {
    hooks: Record<string, unknown>;
  };
  return Object.keys(hooks).filter((event) => /hive/.test(JSON.stringify(hooks[event])));
}

test.each<[state: string, text: string | null]>([
  ['is not there', null],
  ['is empty', ''],
  [
    'has hooks of others, comments and commas that JSON does not have',
    '{\n  // Mine.\n  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "say done" },] },], },\n}\n',
  ],
  [
    'has a permission rule for another server',
    '{"permissions":{"allow":["mcp__github"],"deny":["Bash(rm *)"]}}\n',
  ],
  ['ends its lines with CR LF', '{\r\n\t"model": "opus"\r\n}\r\n'],
  ['has a byte order mark', '\uFEFF{"model":"opus"}\n'],
  ['has keys and text of other scripts', '{"语言":"日本語 \\u00e9 \\ud83d\\ude00"}\n'],
])('one that %s is set up, and restored to the byte', async (_state, text) => {
  const place = home(text);
  const before = everything(place.folder);
  expect(await init(place)).toMatchObject({ code: 0 });
  expect(hooked(place).length).toBeGreaterThan(10);
  expect(await init(place)).toMatchObject({ code: 0, out: 'Nothing to do.\n' });
  expect(await place.person.hive('uninit', 'claude', '--yes')).toMatchObject({ code: 0 });
  expect(everything(place.folder)).toEqual(before);
});

test('one that is a link stays a link, and what it leads to is restored to the byte', async () => {
  const place = home(null);
  write(place.folder, 'dotfiles/claude.json', '{"model":"opus"}\n');
  mkdirSync(join(place.folder, '.claude'));
  symlinkSync('../dotfiles/claude.json', join(place.folder, SETTINGS));
  const before = everything(place.folder);
  expect(await init(place)).toMatchObject({ code: 0 });
  expect(lstatSync(join(place.folder, SETTINGS)).isSymbolicLink()).toBe(true);
  expect(hooked(place).length).toBeGreaterThan(10);
  expect(await place.person.hive('uninit', 'claude', '--yes')).toMatchObject({ code: 0 });
  expect(everything(place.folder)).toEqual(before);
});

test.each<[state: string, text: string]>([
  ['is no JSON', '{"model": "opus"'],
  ['is a list', '[]'],
  ['has a text in the place of the hooks of an event', '{"hooks":{"Stop":"say done"}}'],
  ['has a text in the place of the permission rules', '{"permissions":{"allow":"Bash"}}'],
  ['is not UTF-8 text', '\u0000\u0001'],
])('one that %s is refused with a sentence that names it, and nothing is written', async (_state, text) => {
  const place = home(text);
  const before = everything(place.folder);
  const { code, out, err } = await init(place);
  expect(code).toBe(2);
  expect(`${out}${err}`).toContain(join(place.folder, SETTINGS));
  expect(err).not.toMatch(/\n\s+at |a fault of Hive/);
  expect(everything(place.folder)).toEqual(before);
});

test('one that only its owner may read stays so', async () => {
  const place = home('{"model":"opus"}\n');
  chmodSync(join(place.folder, SETTINGS), 0o600);
  await init(place);
  expect(lstatSync(join(place.folder, SETTINGS)).mode & 0o777).toBe(0o600);
});
