/**
 * `hive install` and `hive uninstall` as a person meets them: at a terminal, with real keys. npm is replaced as in
 * install.test.ts.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { HIVE } from '../support/children.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { NPM } from '../support/npm.ts';
import { tempHome } from '../support/temp.ts';
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
async function person(more: { PATH?: string; SHELL?: string } = {}): Promise<Person> {
  const home = tempHome();
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
    ...more,
    PATH: `${more.PATH ?? `${join(home, '.local/bin')}:`}${join(home, 'machine')}:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    PACKAGE_CONTENT: 'first',
    PS1: '$ ',
  };
  const terminal = closedAtEnd(
    await openTerminal(home, env, ['/bin/sh', '-i'], { columns: 200, lines: 300 }),
  );
  await terminal.watch();
  await terminal.until(/^\$/m);
  return {
    home,
    terminal,
    async types(line) {
      await terminal.enter(line);
    },
  };
}

const shown = async (terminal: Terminal): Promise<string> => (await terminal.screen()).join('\n');

/** A screen that ends with the question, with this above it. */
const asking = (above: RegExp, question = /Set this up[^[]*\[Y\/n[^\]]*\]/): RegExp =>
  new RegExp(`${above.source}[\\s\\S]*${question.source}\\s*(?![\\s\\S])`, 'm');

const REMOVE = /Remove this\? \[y\/N, d shows every line\]/;

async function answer(terminal: Terminal, text: string): Promise<void> {
  await terminal.enter(text);
}

/** Answers each question whose text begins like this, in this order. */
async function answers(terminal: Terminal, pairs: readonly (readonly [RegExp, string])[]): Promise<void> {
  for (const [question, answer] of pairs) {
    await terminal.reply(question, answer, PATIENT_MS);
  }
}

test('it shows what it would write, asks for each program, writes what was allowed, and ends with what to try; removing undoes all', async () => {
  const { home, terminal, types } = await person();
  const read = (name: string): string => readFileSync(join(home, name), 'utf8');
  const before = readdirSync(home).sort();
  await types(`${process.execPath} ${HIVE} install; echo "ended: $?"`);

  // The benefit comes before the lines.
  await terminal.until(asking(/C-c h n\s+answers it\.[\s\S]*load-path/), PATIENT_MS);
  // Nothing is written before the yes, and a word is no key.
  expect(read('.emacs.d/init.el')).toBe(MINE);
  await answer(terminal, 'x');
  await terminal.until(asking(/"x" is none of these\./), PATIENT_MS);
  expect(read('.emacs.d/init.el')).toBe(MINE);
  await answer(terminal, '<f9> h');
  await terminal.until(asking(/MCP server "hive", which runs:[\s\S]*Adds 17 hooks\./), PATIENT_MS);
  expect(read('.emacs.d/init.el')).toContain(
    '(require \'hive-mode)\n(global-set-key (kbd "<f9> h") \'hive-prefix-map)\n',
  );
  // Every line only on request, and nothing written by that.
  expect(await shown(terminal)).not.toContain('hivemind_report_updates');
  await answer(terminal, 'd');
  await terminal.until(asking(/^ {2}\+.*hivemind_report_updates/), PATIENT_MS);
  expect(read('.claude.json')).toBe(CLAUDE_JSON);
  expect(existsSync(join(home, '.claude'))).toBe(false);
  await answer(terminal, 'y');
  await terminal.until(asking(/environment variables to it[\s\S]*Adds 10 hooks\./), PATIENT_MS);
  expect(read('.claude.json')).toContain('"hive"');
  await answer(terminal, 'n');
  await terminal.until(
    /hive doctor: [\s\S]*start claude in a project,\s+type\s+"[^"]+",\s+and\s+press\s+<f9> h n[\s\S]+ended: 0/,
    PATIENT_MS,
  );
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
    [asking(/Removes Hive's 17 hooks/, REMOVE), 'y'],
    [asking(/Removes these lines, [\s\S]*require 'hive-mode/, REMOVE), 'y'],
  ]);
  await terminal.until(/Your questions and answers are kept in[\s\S]*ended: 0/, PATIENT_MS);
  expect(read('.emacs.d/init.el')).toBe(MINE);
  expect(read('.claude.json')).toBe(CLAUDE_JSON);
  expect(await shown(terminal)).not.toContain('Codex');
  expect(readdirSync(home).sort()).toEqual(before);
  expect(readdirSync(join(home, '.local'))).toEqual(['state']);
});

test('y is a yes at every question, of which there are four; where the command is not on PATH it offers the line for that', async () => {
  const { home, terminal, types } = await person({ PATH: '', SHELL: '/bin/bash' });
  const read = (name: string): string => readFileSync(join(home, name), 'utf8');
  await types(`${process.execPath} ${HIVE} install; echo "ended: $?"`);
  const questions = [
    asking(/load-path/),
    asking(/MCP server "hive"[\s\S]*Adds 17 hooks/),
    asking(/Lets Codex run 10 hooks[\s\S]*Adds 10 hooks/),
  ];
  for (const question of questions) {
    await terminal.until(question, PATIENT_MS);
    await answer(terminal, 'y');
  }
  const line = `export PATH=${join(home, '.local/bin')}:"$PATH"`;
  await terminal.until(/Write it there\? \[Y\/n\]\s*$/, PATIENT_MS);
  // It stands alone, so that it can be copied. This terminal breaks it.
  const screen = (await shown(terminal)).split('\n\n').map((part) => part.replaceAll('\n', ''));
  expect(screen).toContain(line);
  await answer(terminal, 'y');
  await terminal.until(/ended: 0/, PATIENT_MS);
  expect(await shown(terminal)).toMatch(/and\s+press\s+C-c h n\s+in Emacs\s+to\s+answer\s+it\s*\nended: 0/);
  expect(read('.codex/config.toml').match(/trusted_hash/g)).toHaveLength(10);
  expect(read('.bashrc')).toContain(`\n${line}\n`);

  await types('clear; PATH=~/.local/bin:$PATH hive uninstall --yes >~/said; echo "removed: $?"');
  await terminal.until(/removed: 0/, PATIENT_MS);
  expect(read('said')).toContain(`and the PATH line in ${join(home, '.bashrc')}.`);
  expect(existsSync(join(home, '.bashrc'))).toBe(false);
});

test('Ctrl-D at a question is a no, and Ctrl-C ends the installation there', async () => {
  const { home, terminal, types } = await person();
  const read = (name: string): string => readFileSync(join(home, name), 'utf8');
  await types(`${process.execPath} ${HIVE} install`);
  await terminal.until(asking(/load-path/), PATIENT_MS);
  await terminal.keys('C-d');
  await terminal.until(asking(/Nothing was written\.[\s\S]*Adds 17 hooks\./), PATIENT_MS);
  await terminal.keys('C-c');
  // The shell takes it as a Ctrl-C, too, and runs nothing else of the line.
  await terminal.until(/d shows every line\]\s*\$\s*$/, PATIENT_MS);
  expect(await shown(terminal)).not.toMatch(/a fault of Hive|Adds 10 hooks/);
  expect(read('.emacs.d/init.el')).toBe(MINE);
  expect(read('.claude.json')).toBe(CLAUDE_JSON);

  await types('clear; hive uninstall; echo "ended: $?"');
  await terminal.until(/Continue\? \[y\/N\]\s*$/, PATIENT_MS);
  await terminal.keys('C-d');
  await terminal.until(/ended: 6/, PATIENT_MS);
});

test('in a terminal that draws no line again, such as a buffer of Emacs, each step has a line', async () => {
  const { terminal, types } = await person();
  await types(`TERM=dumb ${process.execPath} ${HIVE} install </dev/null; echo "ended: $?"`);
  await terminal.until(/^Packing the program …\n[\s\S]*^Checking the setup …\n[\s\S]*ended: 0/m, PATIENT_MS);
});
