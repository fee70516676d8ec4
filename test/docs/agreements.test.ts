/** What is written twice, in code and in a document or in TypeScript and Lisp, says the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RPC_CODES } from '../../src/adapters/errors.ts';
import { AGENT_VARIABLES } from '../../src/application/identity.ts';
import { EXIT } from '../../src/cli/program.ts';
import { serverSetting } from '../../src/domain/installation.ts';
import { INTRODUCTION } from '../../src/domain/messages.ts';
import { readRules } from '../../src/domain/permission-rules.ts';
import { SETTINGS, showSetting } from '../../src/domain/settings.ts';
import { SOURCES, sourceLabel } from '../../src/domain/sources.ts';
import { revealed } from '../../src/domain/text.ts';
import { childEnvironment, outputOf, ROOT, spawnHive } from '../support/children.ts';
import { tempStore } from '../support/temp.ts';
import { codeIn, PAGES, readPage, tableUnder } from './support.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Of `hive hook`, which is no command of commander's and has no help, flags as src/cli reads them. */
const HOOK_FLAGS = ['--client', '--wake', '--url', '--token-file'];

async function help(...command: string[]): Promise<string> {
  return outputOf(spawnHive([...command, '--help'], childEnvironment(tempStore())));
}

const flagsOf = (text: string): string[] =>
  [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);

/** The long options that a help text defines, without those that every command has. */
function optionsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => /^ {2}(?:-\w, )?--/.test(line));
  return lines.flatMap((line) => flagsOf(line).slice(0, 1)).filter((flag) => flag !== '--help');
}

function commandsIn(text: string): string[] {
  const [, list = ''] = text.split(/^Commands:$/m);
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
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

test('every command and every option of hive --help stands in a synopsis, and nothing else does', async () => {
  const documented = documentedOptions();
  const commands = commandsIn(await help());
  const real = new Map<string, Set<string>>([['hook', new Set(HOOK_FLAGS)]]);
  const WITHOUT_JSON = ['serve', 'sidecar', 'mcp', 'hook'];
  for (const command of commands) {
    const text = await help(command);
    const below = await Promise.all(commandsIn(text).map((name) => help(command, name)));
    real.set(command, new Set([text, ...below].flatMap(optionsIn)));
  }
  // That every command takes --json stands once, with its exceptions; the rest is named one by one.
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
  // An answer that is corrected takes what an answer takes, and the page says so in words.
  documented.set('amend', documented.get('respond') ?? new Set());
  expect(lines(documented).sort()).toEqual(lines(real).sort());
}, 60_000);

describe('exit codes', () => {
  test('docs/cli.md has each, once', () => {
    const codes = tableUnder('docs/cli.md', '## Exit codes').map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });

  test('bin/hive, which can import nothing, gives those of the table', () => {
    const guard = read('bin/hive');
    const codes = [...guard.matchAll(/\bstop\(\s*(\d+),/g)].map(([, code]) => Number(code));
    expect(codes).toEqual([EXIT.nodeTooOld, EXIT.notBuilt]);
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${/minimum = '([\d.]+)'/.exec(read('bin/hive'))?.[1]}`);
    expect(guard.match(/process\.exit\(/g)).toHaveLength(1);
  });
});

describe('environment variables', () => {
  /** Names that Hive sets for its own children and reads nowhere else, or that only stand in a sentence. */
  const INTERNAL = new Set<string>([]);

  function variablesInCode(): string[] {
    const files = ['src', 'elisp', 'bin'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    const names = files.flatMap((file) => readFileSync(file, 'utf8').match(/\bHIVE_[A-Z_]*[A-Z]\b/g) ?? []);
    return [...new Set(names)].filter((name) => !INTERNAL.has(name)).sort();
  }

  test('docs/environment.md has each that the code reads, and no other', () => {
    const rows = tableUnder('docs/environment.md', '## Variables of Hive');
    expect(rows.flatMap(([name = '']) => codeIn(name)).sort()).toEqual(variablesInCode());
  });

  test('Codex is told to hand on each that hive mcp reads', () => {
    const rows = ['## Variables of Hive', '## Variables of others'].flatMap((heading) =>
      tableUnder('docs/environment.md', heading),
    );
    const handed = rows
      .filter(([, by = '']) => by.split(', ').some((one) => ['all', 'clients', '`hive mcp`'].includes(one)))
      .flatMap(([name = '']) => codeIn(name));
    expect(serverSetting('codex', ['hive']).env_vars?.toSorted()).toEqual(handed.sort());
  });

  test('no other page invents one', () => {
    const known = new Set(variablesInCode());
    // The set-up of a clone and its tests have switches of their own.
    const own = /^HIVE_(?:SETUP|UPDATE_GOLDEN|TEST_[A-Z]+)$/;
    const strangers = PAGES.flatMap((page) =>
      (readPage(page).match(/\bHIVE_[A-Z_]*[A-Z]\b/g) ?? [])
        .filter((name) => !known.has(name) && !own.test(name))
        .map((name) => `${page}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  test("Emacs keeps the same agents' variables from its sidecar as the sidecar knows, and the parent's", () => {
    const list = /defconst hive-rpc--agent-variables\s+'\(([^)]*)\)/.exec(read('elisp/hive-rpc.el'))?.[1];
    const names = [...(list ?? '').matchAll(/"([A-Z_]+)"/g)].map(([, name]) => name);
    expect(names).toEqual([...AGENT_VARIABLES, 'HIVE_PARENT']);
  });

  test('docs/environment.md lists the variables that show an agent at work', () => {
    const text = readPage('docs/environment.md');
    const section = text.slice(text.indexOf('## What shows an agent at work'));
    expect(AGENT_VARIABLES.filter((name) => !codeIn(section).includes(name))).toEqual([]);
  });
});

describe('what is written twice, in TypeScript and in Lisp', () => {
  test('Emacs offers every field of a permission rule, and no other', () => {
    const type = /\(repeat \(plist :options \(([\s\S]*?)\)\)\)\)\n/.exec(read('elisp/hive-notify.el'))?.[1];
    const fields = [...(type ?? '').matchAll(/\(:([a-z_]+) /g)].map(([, name]) => name);
    const { rules } = readRules([{ decision: 'allow', tool: 'Bash' }], 'a test');
    expect(fields.sort()).toEqual(Object.keys(rules[0] ?? {}).sort());
  });

  test('each setting that Emacs is said to set is an option or a command there, and takes the same values', () => {
    const lisp = read('elisp/hive-notify.el') + read('elisp/hive-notify.el');
    for (const { key, emacs, type, scope } of SETTINGS) {
      const command = emacs.replace(/^M-x /, '');
      expect(lisp, key).toMatch(
        new RegExp(`^\\((?:${command === emacs ? 'defcustom' : 'defun'}) ${command} `, 'm'),
      );
      if (scope === 'everywhere') expect(lisp).toContain(`(${emacs} . :${key})`);
      if (type.kind !== 'choice') continue;
      const [, definition = ''] = lisp.split(`(defcustom ${emacs} `);
      const options = definition.slice(0, definition.indexOf(':initialize'));
      const offered = [...options.matchAll(/\(const (?::tag "[^"]*" )?(\w+)\)/g)].map(([, value]) => value);
      expect(offered.filter((value) => value !== 'nil')).toEqual(type.of);
    }
  });

  test('docs/outreach.md and docs/notifications.md have each setting with its default', () => {
    for (const { key, scope, default: fallback } of SETTINGS) {
      const page = readPage(scope === 'seat' ? 'docs/notifications.md' : 'docs/outreach.md');
      expect(page, key).toContain(`| \`${key}\` | \`${showSetting(fallback)}\` |`);
    }
  });

  test('Emacs decides how a source is labelled in one place, as everything else does', () => {
    const asks = readdirSync(join(ROOT, 'elisp'))
      .filter((name) =>
        /\(plist-get \w+ :source\) "(?:bg|fork|main)"|"\[(?:bg|fork)\]/.test(read(`elisp/${name}`)),
      )
      .filter((name) => name.endsWith('.el'));
    expect(asks).toEqual([]);
    // What neither side labels is the main session.
    const unlabelled = /member source '\(nil ((?:"\w+" ?)+)\)/.exec(read('elisp/hive-text.el'))?.[1] ?? '';
    expect([...unlabelled.matchAll(/"(\w+)"/g)].map(([, source]) => source)).toEqual(
      SOURCES.filter((source) => sourceLabel(source) === null),
    );
  });

  test('Emacs wants the Node that package.json wants', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const wanted = /defconst hive-program-node-version "([\d.]+)"/.exec(read('elisp/hive-rpc.el'))?.[1];
    expect(engines.node).toBe(`>=${wanted}`);
  });

  test('Emacs knows the codes of errors by the same names, and by no number elsewhere', () => {
    const list = /defconst hive-rpc-codes\s+'\(([^"]+)\)\s+"/.exec(read('elisp/hive-rpc.el'))?.[1] ?? '';
    const known = [...list.matchAll(/\(([a-z-]+) \. (-\d+)\)/g)].map(([, name = '', code]) => [
      name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      Number(code),
    ]);
    expect(known.length).toBeGreaterThan(3);
    expect(Object.entries(RPC_CODES)).toEqual(expect.arrayContaining(known));
    const elsewhere = readdirSync(join(ROOT, 'elisp'))
      .filter((name) => name.endsWith('.el'))
      .filter((name) => /-32\d{3}\b/.test(read(`elisp/${name}`).replace(list, '')));
    expect(elsewhere).toEqual([]);
  });

  test('Emacs begins a shared buffer and its file with the same words as hive messages does', () => {
    const [, text] =
      /defconst hive-format-introduction\s+"([^"]*)"/.exec(read('elisp/hive-shared-text.el')) ?? [];
    expect(text).toBe(INTRODUCTION);
    expect(readPage('docs/emacs-shared.md')).toContain(INTRODUCTION);
  });

  test('Emacs shows the same hidden characters as everything else', () => {
    const [, strings = ''] =
      /defconst hive-text--hidden\s+\(concat "\["([\s\S]*?)"\]"\)/.exec(read('elisp/hive-text.el')) ?? [];
    const set = strings
      .split('\n')
      .map((row) => /"([^"]*)"/.exec(row)?.[1] ?? '')
      .join('');
    const hidden = new Set<number>();
    for (const [, from = '', to = from] of set.matchAll(/\\[uUx]([\dA-F]+)(?:-\\[uUx]([\dA-F]+))?/g))
      for (let code = Number.parseInt(from, 16); code <= Number.parseInt(to, 16); code += 1) hidden.add(code);
    const wrong: string[] = [];
    // Above Unicode lie the raw bytes of Emacs, which no JSON carries.
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (hidden.has(code) !== (revealed(character) !== character)) wrong.push(code.toString(16));
    }
    expect(hidden.size).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });
});

test('no link within the documents leads nowhere', () => {
  const files = new Set(
    readdirSync(ROOT, { recursive: false })
      .map(String)
      .concat(
        ['docs', 'examples', 'plugin', 'elisp'].flatMap((folder) =>
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
