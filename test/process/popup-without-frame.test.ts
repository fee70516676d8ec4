/**
 * A real daemon without a frame, and a real notification server: a click on a popup shows the question in the next frame.
 *
 * @module-tag undisturbed
 * @module-tag emacs
 * @module-tag popup
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type Desktop, useDesktop } from '../support/desktop.ts';
import { type EmptyHome, lisp, openEmptyHome } from '../support/emacs.ts';
import { SERVER, type ServedEmacs, startDaemon } from '../support/emacs-daemon.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { beforeFile, closedAtEnd, whenFinished } from '../support/lifetime.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

let desktop: Desktop;
useDesktop((started) => {
  desktop = started;
});

let home: EmptyHome;
let hive: OpenedHive;
let emacs: ServedEmacs;
let env: Record<string, string>;

beforeFile(async () => {
  home = await openEmptyHome();
  hive = await openTestHive(home.store);
  const start = home.arguments();
  env = { ...start.env, ...desktop.env };
  emacs = await startDaemon(env, start.args);
  whenFinished(() => emacs.end());
  await eventually(async () => (await emacs.value('hive-sidecar-state')) === 'connected');
});

/** Asks, and clicks on the popup, which Emacs hears of. */
async function askAndClick(question: string): Promise<void> {
  const { ask_id } = await ask(hive, { question, options: ['yes', 'no'] });
  const shown = (): boolean => desktop.sent.at(-1)?.body === question;
  await eventually(async () => shown() && (await desktop.displayed()) === 1, undefined, 'the popup');
  await desktop.clickBody();
  await eventually(
    async () => (await emacs.value('hive-prompt--clicked')) === lisp(ask_id),
    undefined,
    'the click in Emacs',
  );
}

/** Opens a frame in a terminal, as a person does. */
async function frame(...args: string[]): Promise<Terminal> {
  return closedAtEnd(
    await openTerminal(mkdtempSync(join(home.folder, 'f')), env, [
      ...['emacsclient', '-s', SERVER, '-t', ...args],
    ]),
  );
}

const frames = (): Promise<string> =>
  emacs.value('(mapcar (lambda (frame) (terminal-name (frame-terminal frame))) (frame-list))');

test('in the daemon that never had one, with a file to edit', async () => {
  const notes = join(home.folder, 'notes.txt');
  writeFileSync(notes, 'What I came to write.\n');
  await askAndClick('Shall we go on?');
  // Nothing opens by itself.
  expect(await frames()).toBe('("initial_terminal")');
  const terminal = await frame(notes);
  const screen = (await terminal.until(/What I came to write\.[\s\S]*Shall we go on\?/)).join('\n');
  expect(screen).toMatch(/1 {2}yes/);
  // The keys in flight go into the file.
  await terminal.type('x');
  await terminal.press(/^xWhat I came to write\./m, 'C-/', 'C-x', '#');
  await eventually(
    async () => (await frames()) === '("initial_terminal")',
    undefined,
    'the end of the frame',
  );
});

test('in the daemon whose frame was closed, and only once', async () => {
  await askAndClick('And now?');
  const first = await frame();
  await first.press(/And now\?[\s\S]*1 {2}yes/, 'C-x', '5', '0');
  await eventually(
    async () => (await frames()) === '("initial_terminal")',
    undefined,
    'the end of the frame',
  );
  const second = await frame('-e', '(switch-to-buffer "*scratch*")');
  await second.until(/\*scratch\* .*hive 2/);
  expect(await emacs.value('(mapcar (lambda (frame) (length (window-list frame))) (frame-list))')).toBe(
    '(1 1)',
  );
});
