/** A statement that is written twice, in code and in a document or in TypeScript and Lisp, is the same in both. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { AGENT_VARIABLES } from '../../src/application/identity.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { commandLine } from '../../src/cli/main.ts';
import { revealed } from '../../src/domain/display.ts';
import { EVENT_TYPES } from '../../src/domain/events.ts';
import { serverSetting } from '../../src/domain/installation.ts';
import { INTRODUCTION } from '../../src/domain/messages.ts';
import { EMACS_OPTION, SETTINGS, showSetting } from '../../src/domain/settings.ts';
import { SOURCES, sourceLabel } from '../../src/domain/sources.ts';
import { preferencesParams } from '../../src/schemas/desks.ts';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { askEmacs, lispStrings } from '../support/emacs-batch.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { codeIn, PAGES, readPage, tableUnder } from './support.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The value of a form in a real Emacs, with what agreements.el adds to it. */
const ask = (form: string): Promise<unknown> => askEmacs(form, join(import.meta.dirname, 'agreements.el'));

/** The output of `hive COMMAND --help`, but for the last lines, which are the same everywhere. */
function help(all: Command, ...words: string[]): string {
  const command = words.reduce((above, word) => {
    const found = above.commands.find((one) => one.name() === word);
    if (found === undefined) throw new Error(`There is no command ${word}.`);
    return found;
  }, all);
  return command.helpInformation();
}

const flagsOf = (text: string): string[] =>
  [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);

/** The long options that a help text defines, without those that every command has. */
function optionsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => /^ {2}(?:-\w, )?--/.test(line));
  return lines.flatMap((line) => flagsOf(line).slice(0, 1)).filter((flag) => flag !== '--help');
}

/** The commands in a help text; the first help has several groups of them. */
function commandsIn(text: string): string[] {
  const groups = text.split(/^(?=[A-Z].*:$)/m).filter((part) => !/^(?:Usage|Arguments|Options):/.test(part));
  return groups
    .flatMap((group) => [...group.matchAll(/^ {2}([a-z][a-z-]*)/gm)])
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help');
}

/** The options in the synopses of the documents, by command: indented lines that begin with `hive`. */
function documentedOptions(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const page of PAGES) {
    let command: string | null = null;
    for (const line of readPage(page).split('\n')) {
      const begun = /^ {4}hive ([a-z][a-z-]*)/.exec(line)?.[1];
      if (begun !== undefined) command = begun;
      else if (!/^ {5,}\S/.test(line)) command = null;
      if (command === null) continue;
      const options = found.get(command) ?? new Set();
      for (const flag of flagsOf(line)) options.add(flag);
      found.set(command, options);
    }
  }
  return found;
}

test('every command and every option of hive --help is in a synopsis, and nothing else is', async () => {
  const documented = documentedOptions();
  const all = await commandLine('help', true);
  const commands = commandsIn(help(all));
  const real = new Map<string, Set<string>>();
  const WITHOUT_JSON = ['acp', 'attach', 'install', 'uninstall', 'serve', 'sidecar', 'mcp', 'hook'];
  for (const command of commands) {
    const text = help(all, command);
    const below = commandsIn(text).map((name) => help(all, command, name));
    real.set(command, new Set([text, ...below].flatMap(optionsIn)));
  }
  // The page says once that every command takes --json, with exceptions; other options are named one by one.
  const withoutJson = [...real].filter(([, set]) => !set.has('--json')).map(([name]) => name);
  expect(withoutJson.sort()).toEqual(WITHOUT_JSON.sort());
  const lines = (options: Map<string, Set<string>>): string[] =>
    [...options].map(
      ([name, set]) =>
        `hive ${name} ${[...set]
          .filter((flag) => flag !== '--json')
          .sort()
          .join(' ')}`,
    );
  expect(lines(documented).sort()).toEqual(lines(real).sort());
});

test('hive --help shows eight commands, each of which exists, and --all shows every one', async () => {
  const first = commandsIn(help(await commandLine('', false)));
  const all = commandsIn(help(await commandLine('', true)));
  expect(first).toHaveLength(8);
  expect(all.length).toBeGreaterThan(30);
  expect(first.filter((name) => !all.includes(name))).toEqual([]);
});

test('the README is one page, and the index of the documents names every page', () => {
  expect(readPage('README.md').trim().split(/\s+/).length).toBeLessThanOrEqual(700);
  const index = readPage('docs/README.md');
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(pages.filter((page) => !index.includes(`(${page.slice(5)}`))).toEqual([]);
});

describe('exit codes', () => {
  test('docs/cli.md has each, once', () => {
    const codes = tableUnder('docs/cli.md', '## Exit codes').map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });

  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  const wanted = engines.node.replace('>=', '');

  /** A `bin/hive` beside which nothing is built, run by a Node that calls itself by this version. */
  async function guard(version: string): Promise<{ code: number | null; said: string }> {
    const folder = tempFolder();
    mkdirSync(join(folder, 'bin'));
    copyFileSync(join(ROOT, 'bin/hive'), join(folder, 'bin/hive'));
    const preload = join(folder, 'version.cjs');
    writeFileSync(
      preload,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    const args = ['--require', preload, join(folder, 'bin/hive'), 'status'];
    const child = spawnChild(process.execPath, args, childEnvironment(tempStore()));
    const { code } = await child.exited;
    return { code, said: child.stderr() };
  }

  test('bin/hive, which can import nothing, gives those of the table', async () => {
    expect(await guard('22.99.0')).toMatchObject({ code: EXIT.nodeTooOld });
    expect(await guard(wanted)).toMatchObject({ code: EXIT.notBuilt });
  });

  test('bin/hive wants the Node that package.json wants', async () => {
    const [major = 0, minor = 0] = wanted.split('.').map(Number);
    const { code, said } = await guard(`${major}.${minor - 1}.99`);
    expect(code).toBe(EXIT.nodeTooOld);
    expect(said).toContain(`needs Node ${wanted} or newer`);
  });
});

describe('environment variables', () => {
  const NAME = /\bHIVE_[A-Z_]*[A-Z]\b/g;

  /** The names in the program as it is built. */
  function inProgram(): string[] {
    const built = readdirSync(join(ROOT, 'dist')).filter((name) => /\.c?js$/.test(name));
    return ['bin/hive', ...built.map((name) => join('dist', name))].flatMap(
      (file) => read(file).match(NAME) ?? [],
    );
  }

  let variables: string[] = [];
  beforeFile(async () => {
    const inEmacs = String(await ask('(agreements-program)')).match(NAME) ?? [];
    variables = [...new Set([...inProgram(), ...inEmacs])].sort();
  });

  test('docs/environment.md has each that the program reads, and no other', () => {
    const rows = tableUnder('docs/environment.md', '## Variables of Hive');
    expect(rows.flatMap(([name = '']) => codeIn(name)).sort()).toEqual(variables);
  });

  test('Codex is told to pass on each that hive mcp reads', () => {
    const rows = ['## Variables of Hive', '## Variables of others'].flatMap((heading) =>
      tableUnder('docs/environment.md', heading),
    );
    const handed = rows
      .filter(([, by = '']) => by.split(', ').some((one) => ['all', 'clients', '`hive mcp`'].includes(one)))
      .flatMap(([name = '']) => codeIn(name));
    const said = serverSetting('codex', ['hive']).env_vars ?? [];
    expect([...said].sort()).toEqual(handed.sort());
  });

  test('no other page invents one', () => {
    const known = new Set(variables);
    // The set-up of a clone and its tests have switches of their own.
    const own = /^HIVE_(?:SETUP|UPDATE_GOLDEN|TEST_[A-Z]+)$/;
    const strangers = PAGES.flatMap((page) =>
      (readPage(page).match(/\bHIVE_[A-Z_]*[A-Z]\b/g) ?? [])
        .filter((name) => !known.has(name) && !own.test(name))
        .map((name) => `${page}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  test('docs/environment.md lists the variables that show an agent at work', () => {
    const text = readPage('docs/environment.md');
    const section = text.slice(text.indexOf('## What shows an agent at work'));
    expect(AGENT_VARIABLES.filter((name) => !codeIn(section).includes(name))).toEqual([]);
  });
});

describe('what TypeScript and Lisp must agree about', () => {
  test.each([
    ['scripts/lisp-names.mjs', 'elisp/hive-names.el'],
    ['scripts/characters.mjs', 'src/domain/characters.ts'],
  ])('what %s generates is up to date (npm run format writes it again)', async (script, file) => {
    expect(read(file)).toBe(
      await outputOf(
        spawnChild(process.execPath, [join(ROOT, script), '--print'], childEnvironment(tempStore())),
      ),
    );
  });

  test('each setting that Emacs is said to set has a command there, or is in hive-settings with values that the sidecar takes', async () => {
    const commands = SETTINGS.flatMap(({ emacs }) => (emacs?.startsWith('M-x ') ? [emacs.slice(4)] : []));
    expect(
      await ask(
        `(vconcat (mapcar (lambda (name) (if (commandp (intern name)) t :json-false)) ${lispStrings(commands)}))`,
      ),
    ).toEqual(commands.map(() => true));
    const settings = SETTINGS.filter(({ emacs }) => emacs === EMACS_OPTION);
    const names = settings.map(({ key }) => key);
    const found = (await ask(`(vconcat (mapcar #'agreements-setting ${lispStrings(names)}))`)) as {
      outreach?: Record<string, unknown>;
    }[][];
    for (const [index, { key, scope, type }] of settings.entries()) {
      const taken = (found[index] ?? []).map((preferences) => {
        const ours = preferencesParams.parse(preferences);
        return ((scope === 'seat' ? ours : ours.outreach) as Record<string, unknown>)[key];
      });
      expect(taken.length, key).toBeGreaterThan(0);
      expect(taken, key).not.toContain(undefined);
      if (type.kind === 'choice') expect(taken).toEqual(type.of);
    }
  });

  test('one page has each setting with its default', () => {
    for (const { key, default: fallback } of SETTINGS) {
      const row = `| \`${key}\` | \`${showSetting(fallback)}\` |`;
      expect(
        PAGES.filter((page) => readPage(page).includes(row)),
        key,
      ).toHaveLength(1);
    }
  });

  test('Emacs labels the sources that everything else labels, by the same words', async () => {
    const labels = await ask(
      `(mapcar (lambda (source) (hive-text-source-label (list :source source))) ${lispStrings(SOURCES)})`,
    );
    expect(labels).toEqual(SOURCES.map(sourceLabel));
  });

  test('Emacs has words for each event of a question', async () => {
    const types = EVENT_TYPES.filter((type) => type.startsWith('prompt/'));
    const words = (await ask(
      `(vconcat (mapcar (lambda (type) (hive-prompt--words type nil)) ${lispStrings(types)}))`,
    )) as string[];
    expect(words).toHaveLength(types.length);
    expect(types.filter((type, index) => words[index] === type)).toEqual([]);
  });

  test('the manual shows the words with which a shared buffer and its file begin', () => {
    expect(readPage('docs/emacs-shared.md')).toContain(INTRODUCTION);
  });

  test('Emacs spells out the same strangers in words as everything else', async () => {
    const scripts = [
      'a',
      'Z',
      '\u00e9',
      '\u03b1',
      '\u1f00',
      '\u0430',
      '\ua640',
      '\u0531',
      '\u13a0',
      '\uab70',
      '\u2c80',
    ];
    const others = ['1', '_', '\u0301', '-', ' ', '\u6771', '\u00b5', '\u200b'];
    const texts = [...scripts, ...others].flatMap((one) =>
      scripts.flatMap((other) => [`${one}${other}`, `x${one}_1${other}${other} ${one}`]),
    );
    const shown = await ask(`(vconcat (mapcar #'hive-text-inert ${lispStrings(texts)}))`);
    expect(shown).toEqual(texts.map(revealed));
    expect(texts.filter((text) => revealed(text) !== text).length).toBeGreaterThan(100);
  });

  test('Emacs shows the same hidden characters as everything else', async () => {
    const hidden = (await ask('(agreements-hidden)')) as number[];
    const ours: number[] = [];
    let before = false;
    for (let code = 0; code <= 0x110000; code += 1) {
      const isHidden =
        code <= 0x10ffff && revealed(String.fromCodePoint(code)) !== String.fromCodePoint(code);
      if (isHidden !== before) ours.push(isHidden ? code : code - 1);
      before = isHidden;
    }
    expect(hidden.length).toBeGreaterThan(100);
    expect(hidden).toEqual(ours);
  });
});

test('every link within the documents leads somewhere', () => {
  const files = new Set(
    readdirSync(ROOT, { recursive: false })
      .map(String)
      .concat(
        ['docs', 'examples', 'plugin', 'elisp', 'test'].flatMap((folder) =>
          readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, String(name))),
        ),
      ),
  );
  const broken = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => join(page, '..', target).replace(/\/$/, ''))
      .filter((target) => !files.has(target))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});
