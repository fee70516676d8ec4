/**
 * Hive beside the packages that many people use: Evil, Vertico, Embark, Marginalia and which-key, with real keys in a
 * real terminal. One Emacs is typed at from the first test to the last.
 */
import { expect, test } from 'vitest';
import type { AskRequest } from '../../src/index.ts';
import { type EmacsTerminal, type Home, openHome } from '../support/emacs.ts';
import { beforeFile } from '../support/lifetime.ts';
import { PATIENCE_MS } from '../support/wait.ts';

const PACKAGES = `(progn
  (dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*")) (add-to-list 'load-path folder))
  (dolist (package '(evil vertico marginalia embark which-key hive-mode)) (require package))
  (dolist (mode '(evil-mode vertico-mode marginalia-mode which-key-mode)) (funcall mode 1))
  (setq which-key-idle-delay 0.2)
  (global-set-key (kbd "C-c .") 'embark-act)
  (global-set-key (kbd "C-c h") 'hive-prefix-map))`;

let home: Home;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  emacs = await home.emacs(PACKAGES);
});

const YES_NO = { options: ['yes', 'no'] };
let pending = 0;

async function ask(request: AskRequest): Promise<string> {
  const { prompt } = await home.agent.prompts.ask(request);
  pending += 1;
  await emacs.until(new RegExp(`hive ${pending}\\b`));
  return prompt.ask_id;
}

async function settled(ask_id: string) {
  pending -= 1;
  return home.answerTo(ask_id);
}

/** The cursor comes to a line that has `text`. Windows may still change their sizes, so both are read again. */
async function at(text: string): Promise<void> {
  await expect.poll(emacs.here, { timeout: PATIENCE_MS }).toContain(text);
}

test('Evil: the list is in motion state with the keys of Hive, and j and k move', async () => {
  const first = await ask({ question: 'Motion one?', ...YES_NO });
  const second = await ask({ question: 'Motion two?', ...YES_NO });
  await emacs.keys('C-c', 'h', 'l');
  await emacs.until(/Motion one\?\n.*Motion two\?[\s\S]*\*hive\*.*<M>/);
  await at('Motion one?');
  await emacs.keys('j');
  await at('Motion two?');
  await emacs.keys('k', 'm');
  await emacs.press(/>.*Motion one\?\n .*Motion two\?/, 'U', 'Tab');
  await emacs.press(/▸ \S+ {2}2 questions/, 'Tab', 'M-<', 'j', 'c');
  await emacs.press(/Cancel Deployer.s question\?/, 'y');
  expect(await settled(first)).toMatchObject({ status: 'cancelled' });
  await emacs.press(/▾ \S+ {2}1 question\n/, 'M-<', 'j', 'Enter');
  await emacs.press(/Motion two\?\n\nOptions[\s\S]*<M> .*Hive-Question/, '1');
  expect(await settled(second)).toMatchObject({ selected: ['yes'] });
  await emacs.keys('q', 'q');
});

test('Embark, Vertico and Marginalia: questions are in groups of projects, with annotations, and have actions', async () => {
  const first = await ask({ question: 'Group one?', urgency: 'critical', ...YES_NO });
  const second = await ask({ question: 'Group two?', kind: 'permission', ...YES_NO });
  await emacs.keys('C-c', 'h', 'r');
  await emacs.press(
    /1\/2 +Answer[\s\S]*\n +\S+ *\$?\n! Deployer: Group one\?[\s\S]*Deployer: Group two\? .*permission/,
    'C-n',
    'C-c',
    '.',
  );
  await emacs.press(/Act on hive-question .Deployer: Group two\?./, 'c');
  await emacs.press(/Cancel Deployer.s question\?/, 'y');
  expect(await settled(second)).toMatchObject({ status: 'cancelled' });
  await emacs.keys('C-c', 'h', 'l');
  await emacs.until(/▾ \S+ {2}1 question\n.*Group one\?/);
  // The list of before may come back where it was, on the heading.
  await emacs.keys('M-<', 'j');
  await at('Group one?');
  await emacs.keys('C-c', '.');
  await emacs.press(/Act on hive-question .Deployer: Group one\?./, 'a');
  await emacs.reply(/asks: Group one\?/, 'yes');
  expect(await settled(first)).toMatchObject({ selected: ['yes'] });
  await emacs.keys('q');
});

test('which-key names the commands behind the prefix in plain words', async () => {
  await emacs.keys('C-c', 'h');
  await emacs.press(/n (?:→|:) answer one by one/, 'C-g');
});
