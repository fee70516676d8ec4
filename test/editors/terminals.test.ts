/**
 * `j` goes from a question in the list to the terminal in which its agent runs: term, ansi-term, and the packages vterm and eat,
 * with real keys. One Emacs has all of them, each with a shell in which an agent was started by hand.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { type EmptyHome, openEmptyHome } from '../support/emacs.ts';
import type { Terminal } from '../support/tmux.ts';

const PACKAGES = '/usr/share/emacs/site-lisp/elpa';
const AGENT = join(ROOT, 'test/editors/children/terminal-agent.ts');

/** What starts a terminal, the buffer that it makes, and the prefix that the terminal leaves to Emacs in the place of C-x. */
interface Kind {
  name: string;
  buffer: string;
  prefix: 'C-x' | 'C-c';
  /** Whether the command asks for the program. */
  asks?: boolean;
}

const KINDS: Kind[] = [
  { name: 'term', buffer: '*terminal*', prefix: 'C-c', asks: true },
  { name: 'ansi-term', buffer: '*ansi-term*', prefix: 'C-x', asks: true },
  { name: 'vterm', buffer: '*vterm*', prefix: 'C-x' },
];
// Debian has it for Emacs 30, and not for Emacs 28.
if (readdirSync(PACKAGES).some((folder) => folder.startsWith('eat-')))
  KINDS.push({ name: 'eat', buffer: '*eat*', prefix: 'C-x' });

const SET_UP = `(progn
  (dolist (folder (append (file-expand-wildcards "${PACKAGES}/*") (file-expand-wildcards "/usr/lib/*/emacs-libvterm")))
    (add-to-list 'load-path folder))
  (require 'vterm)
  (require 'eat nil t)
  (setq explicit-shell-file-name "/bin/sh" vterm-shell "/bin/sh")
  (global-set-key (kbd "C-c h") 'hive-prefix-map))`;

let home: EmptyHome;
let emacs: Terminal;

beforeAll(async () => {
  home = await openEmptyHome();
  emacs = await home.emacs(SET_UP, { columns: 120, lines: 40 });
});
afterAll(() => home.close());

/** A line of the screen that has `text`. */
const lineWith = (text: string): RegExp => new RegExp(`^.*${text.replaceAll('*', String.raw`\*`)}.*$`, 'm');

async function command(name: string): Promise<void> {
  await emacs.keys('M-x');
  await emacs.until(/^M-x/m);
  await emacs.type(name);
  await emacs.keys('Enter');
}

/** Starts an agent in a new terminal, and goes back to *scratch*. */
async function start({ name, buffer, prefix, asks }: Kind): Promise<void> {
  await command(name);
  if (asks) {
    await emacs.until(/^Run program: /m);
    await emacs.keys('Enter');
  }
  await emacs.until(lineWith(buffer));
  // eat has a margin.
  await emacs.until(/^ ?[#$]/m);
  const script = join(home.folder, name);
  writeFileSync(script, `"${process.execPath}" "${AGENT}" ${name}\n`);
  await emacs.type(`sh ~/${name}`);
  await emacs.keys('Enter');
  await emacs.until(new RegExp(`^ ?${name} has asked`, 'm'), 20_000);
  await leave(prefix);
}

/** From a terminal to *scratch*, in the only window. */
async function leave(prefix: Kind['prefix']): Promise<void> {
  await emacs.keys(prefix, '1', prefix, 'b');
  await emacs.until(/^Switch to buffer/m);
  await emacs.type('*scratch*');
  await emacs.keys('Enter');
  await emacs.until(/^(?![\s\S]*Switch to buffer)[\s\S]*\*scratch\*/);
}

test('an agent is started in each terminal', async () => {
  for (const kind of KINDS) await start(kind);
  await emacs.until(new RegExp(`hive ${KINDS.length}\\b`));
});

test('the sessions of all of them are known', async () => {
  await command('hive-sessions');
  for (const { name } of KINDS) await emacs.until(new RegExp(`^ +${name} .*1 question`, 'm'));
  await emacs.keys('q');
});

test.for(KINDS)(
  '$name: j goes to the terminal, where keys reach the agent',
  async ({ name, buffer, prefix }) => {
    await command('hive-list');
    await emacs.until(lineWith(`Which port for ${name}?`));
    await emacs.keys('M-<', 'C-s');
    await emacs.type(`for ${name}?`);
    await emacs.keys('Enter', 'j');
    await emacs.until(lineWith(buffer));
    await emacs.type(`Hello, ${name}`);
    await emacs.keys('Enter');
    await emacs.until(new RegExp(`^ ?${name} has read <Hello, ${name}>`, 'm'));
    await leave(prefix);
  },
);
