/**
 * The first minutes with Hive, typed with real keys in a real terminal as a person types them: the settings are the defaults.
 *
 * @module-tag as-displayed
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { AskRequest } from '../../src/index.ts';
import { type EmacsTerminal, type Home, lisp, openHome } from '../support/emacs.ts';
import { eventsOf, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { eventually } from '../support/wait.ts';

const TEXT = 'The date on which it began.';

let home: Home;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  const file = join(home.folder, 'notes.txt');
  writeFileSync(file, `${TEXT}\n`);
  // Long enough for a slow machine; a person has three seconds.
  const settings = `(progn (setq hive-undo-seconds 30) (global-set-key (kbd "C-c h") 'hive-prefix-map) (find-file ${lisp(file)}))`;
  emacs = await home.emacs(settings, { columns: 100, lines: 40 });
});
beforeEach(() => emacs.gone(/hive \d/));

const PERMISSION: AskRequest = {
  kind: 'permission',
  question: 'Run make?',
  context: 'make',
  options: [{ label: 'Allow' }, { label: 'Deny', refuses: true }],
};

test('what is announced names the key that is really bound, before it was used once', async () => {
  const [id] = await home.asked(emacs, { question: 'Which colour?', options: [{ label: 'red' }] });
  await emacs.said(/Deployer \(\S+\) asks: Which colour\? {2}C-c h n$/m);
  await emacs.keys('C-c', 'h', 'n');
  await emacs.answer(/Which colour\?[\s\S]*TAB skip/, '1');
  expect(await home.answerTo(id)).toMatchObject({ decision: 'red' });
});

test('a permission takes one key; what is typed after it is not typed into the file, and q ends the waiting', async () => {
  const [id] = await home.asked(emacs, PERMISSION);
  await emacs.command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  await emacs.until(
    /1 answered; no other questions\nAllow will be sent to Deployer in \d+ s; u takes it back, q/,
  );
  await emacs.type('xyz');
  await emacs.keys('Enter', 'BSpace', 'Tab', 'Escape');
  await emacs.until(/^(?![\s\S]*takes it back)/);
  await emacs.command('hive-undo');
  await emacs.said(/Taken back: Allow for Deployer/);
  await emacs.command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  await emacs.answer(/u takes it back/, 'q');
  await emacs.until(/^The date on which it began\.$/m);
  // Another key than one that types does what it usually does.
  await emacs.command('hive-undo');
  await emacs.command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  await emacs.answer(/u takes it back/, 'C-e');
  await emacs.type('Z');
  await emacs.press(/began\.Z$/m, 'C-/');
  await emacs.evaluate('(hive-outbox-send-delayed)');
  expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'], via: 'emacs' });
});

test('q in a menu quits the menu, and nothing else', async () => {
  await emacs.command('hive');
  await emacs.press(/\*hive\*/, 'h');
  await emacs.press(/do not disturb/, 'q');
  await emacs.until(/^(?![\s\S]*do not disturb)/);
  await emacs.command('hive-list');
  await emacs.press(/No questions are pending/, '?');
  await emacs.press(/quit this menu/, 'q');
  await emacs.press(/^(?![\s\S]*quit this menu)[\s\S]*No questions are pending/, 'q');
  await emacs.until(/^The date on which it began\.$/m);
});

test('without a desktop, the history of a question does not tell that no popup was shown', async () => {
  const [id] = await home.asked(emacs, { question: 'Which colour?' });
  const hive = await openTestHive(home.store);
  await eventually(async () =>
    (await eventsOf(hive, 'prompt/popup')).some(
      ({ subject, data }) => subject === id && data['outcome'] === 'failed',
    ),
  );
  await emacs.command('hive-list');
  await emacs.press(/Which colour\?/, 'M-<', 'C-n', 'Enter');
  const screen = (await emacs.until(/What happened[\s\S]*shown at a desk/)).join('\n');
  expect(screen).not.toContain('popup');
  await emacs.keys('c');
  await emacs.answer(/Cancel Deployer.s question\?/, 'y');
  expect(await home.answerTo(id)).toMatchObject({ status: 'cancelled' });
});
