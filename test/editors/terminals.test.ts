/**
 * `j` goes from a question in the list to the terminal in which its agent runs: term, ansi-term, and the packages vterm and eat,
 * with real keys. One Emacs has all of them, each with a shell in which an agent was started by hand. And to a pane of tmux.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, ROOT } from '../support/children.ts';
import { type EmacsTerminal, type EmptyHome, openEmptyHome } from '../support/emacs.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { openTerminal } from '../support/tmux.ts';

const PACKAGES = '/usr/share/emacs/site-lisp/elpa';
const AGENT = join(ROOT, 'test/editors/children/terminal-agent.ts');

/** A way to start a terminal, the buffer that it makes, and the prefix that the terminal leaves to Emacs in the place of C-x. */
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
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openEmptyHome();
  emacs = await home.emacs(`(progn (setenv "TMUX_TMPDIR" "${home.folder}/servers") ${SET_UP})`, {
    columns: 120,
    lines: 40,
  });
});

/** A line of the screen that has `text`. */
const lineWith = (text: string): RegExp => new RegExp(`^.*${text.replaceAll('*', String.raw`\*`)}.*$`, 'm');

/** Starts an agent in a new terminal, and goes back to *scratch*. */
async function start({ name, buffer, prefix, asks }: Kind): Promise<void> {
  await emacs.command(name);
  if (asks) {
    await emacs.press(/^Run program: /m, 'Enter');
  }
  await emacs.until(lineWith(buffer));
  // eat has a margin.
  await emacs.until(/^ ?[#$]/m);
  const script = join(home.folder, name);
  writeFileSync(script, `"${process.execPath}" "${AGENT}" ${name}\n`);
  await emacs.enter(`sh ~/${name}`);
  await emacs.until(new RegExp(`^ ?${name} has asked`, 'm'), 20_000);
  await leave(prefix);
}

/** From a terminal to *scratch*, in the only window. */
async function leave(prefix: Kind['prefix']): Promise<void> {
  await emacs.keys(prefix, '1', prefix, 'b');
  await emacs.reply(/^Switch to buffer/m, '*scratch*');
  await emacs.until(/^(?![\s\S]*Switch to buffer)[\s\S]*\*scratch\*/);
}

test('an agent is started in each terminal', async () => {
  for (const kind of KINDS) await start(kind);
  await emacs.until(new RegExp(`hive ${KINDS.length}\\b`));
});

test('the sessions of all of them are known', async () => {
  await emacs.command('hive-sessions');
  for (const { name } of KINDS) await emacs.until(new RegExp(`^ +${name} .*1 question`, 'm'));
  await emacs.keys('q');
});

test.for(KINDS)(
  '$name: j goes to the terminal, where keys reach the agent',
  async ({ name, buffer, prefix }) => {
    await emacs.command('hive-list');
    await emacs.press(lineWith(`Which port for ${name}?`), 'M-<', 'C-s');
    await emacs.type(`for ${name}?`);
    await emacs.keys('Enter', 'j');
    await emacs.reply(lineWith(buffer), `Hello, ${name}`);
    await emacs.until(new RegExp(`^ ?${name} has read <Hello, ${name}>`, 'm'));
    await leave(prefix);
  },
);

test('tmux: j selects the pane, and says where it is', async () => {
  const folder = join(home.folder, 'servers', `tmux-${process.getuid?.()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const env = childEnvironment(home.store, { HOME: home.folder, TERM: 'xterm-256color' });
  const pane = closedAtEnd(await openTerminal(folder, env, [process.execPath, AGENT, 'tmux']));
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(folder, 'tmux'), ...args], { encoding: 'utf8' }).trim();
  const window = (): string => tmux('display-message', '-p', '#{window_index}');
  const first = window();
  await pane.until(/^tmux has asked/m, 20_000);
  await emacs.command('hive-list');
  await emacs.press(lineWith('Which port for tmux?'), 'M-<', 'C-s');
  await emacs.enter('for tmux?');
  const jump = async (where: string): Promise<void> => {
    tmux('new-window', 'sleep 600');
    expect(window()).not.toBe(first);
    await emacs.keys('j');
    await emacs.until(new RegExp(`tmux is in the tmux session 0${where}$`, 'm'));
    expect(window()).toBe(first);
  };
  await jump(', which no terminal shows');
  await pane.watch();
  await jump('');
});
