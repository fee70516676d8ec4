/**
 * `hive install` and `hive uninstall` as a person meets them: at a terminal, with real keys. npm is replaced as in
 * install.test.ts.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { HIVE } from '../support/children.ts';
import { whenFinished } from '../support/lifetime.ts';
import { NPM } from '../support/npm.ts';
import { tempFolder } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';

const MINE = ';; Mine.\n(setq inhibit-startup-screen t)\n';
const CLAUDE_JSON = '{"theme": "dark"}\n';
const PATIENT_MS = 90_000;

interface Person {
  home: string;
  /** Types a line at the shell. */
  types(line: string): Promise<void>;
  terminal: Terminal;
}

/** A home with an Emacs, a Claude Code and a Codex, and its shell in a terminal that somebody looks at. */
async function person(): Promise<Person> {
  const home = tempFolder();
  const write = (name: string, text: string, mode = 0o644): void => {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
  };
  write('.emacs.d/init.el', MINE);
  write('.claude.json', CLAUDE_JSON);
  write('machine/npm', NPM, 0o755);
  write('machine/node', `#!/bin/sh\nexec ${process.execPath} "$@"\n`, 0o755);
  for (const name of ['emacs', 'claude', 'codex']) write(`machine/${name}`, '#!/bin/sh\n', 0o755);
  const env = {
    HOME: home,
    PATH: `${join(home, '.local/bin')}:${join(home, 'machine')}:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    PACKAGE_CONTENT: 'first',
    PS1: '$ ',
  };
  const terminal = await openTerminal(home, env, ['/bin/sh', '-i'], { columns: 130, lines: 300 });
  whenFinished(() => terminal.close());
  await terminal.watch();
  await terminal.until(/^\$/m);
  return {
    home,
    terminal,
    async types(line) {
      await terminal.type(line);
      await terminal.keys('Enter');
    },
  };
}

const shown = async (terminal: Terminal): Promise<string> => (await terminal.screen()).join('\n');

/** A screen that ends with the question, with this above it. */
const asking = (above: RegExp): RegExp =>
  new RegExp(`${above.source}[\\s\\S]*Write this\\? \\[y/N, d shows every line\\]\\s*(?![\\s\\S])`, 'm');

async function answer(terminal: Terminal, text: string): Promise<void> {
  await terminal.type(text);
  await terminal.keys('Enter');
}

/** Answers each question whose text begins like this, in this order. */
async function answers(terminal: Terminal, pairs: readonly (readonly [RegExp, string])[]): Promise<void> {
  for (const [question, answer] of pairs) {
    await terminal.until(question, PATIENT_MS);
    await terminal.type(answer);
    await terminal.keys('Enter');
  }
}

test('it shows what it would write, asks for each program, writes what was allowed, and ends with the doctor; removing undoes all', async () => {
  const { home, terminal, types } = await person();
  const read = (name: string): string => readFileSync(join(home, name), 'utf8');
  const before = readdirSync(home).sort();
  await types(`${process.execPath} ${HIVE} install; echo "ended: $?"`);

  await terminal.until(asking(/load-path/), PATIENT_MS);
  // Nothing is written before the yes.
  expect(read('.emacs.d/init.el')).toBe(MINE);
  await answer(terminal, 'y');
  await terminal.until(asking(/MCP server "hive", which runs:[\s\S]*Adds 17 hooks\./), PATIENT_MS);
  expect(read('.emacs.d/init.el')).toContain("(require 'hive-mode)");
  // Every line only on request, and nothing written by that.
  expect(await shown(terminal)).not.toContain('hook_event_name');
  await answer(terminal, 'd');
  await terminal.until(asking(/^ {2}\+.*hook_event_name/), PATIENT_MS);
  expect(read('.claude.json')).toBe(CLAUDE_JSON);
  expect(existsSync(join(home, '.claude'))).toBe(false);
  await answer(terminal, 'y');
  await terminal.until(asking(/environment variables to it[\s\S]*Adds 10 hooks\./), PATIENT_MS);
  expect(read('.claude.json')).toContain('"hive"');
  await answer(terminal, 'n');
  await terminal.until(/hive doctor: [\s\S]*ended: 0/, PATIENT_MS);
  expect(existsSync(join(home, '.codex/config.toml'))).toBe(false);

  await types('clear; hive --version');
  await terminal.until(/^\d+\.\d+\.\d+$/m, PATIENT_MS);

  // A no changes nothing.
  await types('clear; hive uninstall; echo "ended: $?"');
  await answers(terminal, [[/Continue\? \[y\/N\]\s*$/, 'n']]);
  await terminal.until(/ended: 6/, PATIENT_MS);
  expect(read('.emacs.d/init.el')).toContain('hive-mode');

  await types('clear; hive uninstall; echo "ended: $?"');
  await answers(terminal, [
    [/Continue\? \[y\/N\]\s*$/, 'y'],
    [asking(/Removes Hive's 17 hooks/), 'y'],
    [asking(/Removes these lines, [\s\S]*require 'hive-mode/), 'y'],
  ]);
  await terminal.until(/Your questions and answers are kept in[\s\S]*ended: 0/, PATIENT_MS);
  expect(read('.emacs.d/init.el')).toBe(MINE);
  expect(read('.claude.json')).toBe(CLAUDE_JSON);
  expect(await shown(terminal)).not.toContain('Codex');
  expect(readdirSync(home).sort()).toEqual([...before, '.local'].sort());
  expect(readdirSync(join(home, '.local'))).toEqual(['state']);
});
