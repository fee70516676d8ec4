/**
 * The first minutes with Hive, typed with real keys in a real terminal as a person types them: the settings are the defaults.
 *
 * @module-tag as-displayed
 * @module-tag undisturbed
 * @module-tag sqlite
 * @module-tag emacs
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AskRequest, openHive, type Prompt } from '../../src/index.ts';
import { command as commandIn, type EmacsTerminal, type Home, lisp, openHome } from '../support/emacs.ts';
import { eventsOf, openTestHive } from '../support/hive.ts';
import { eventually, PATIENCE_MS } from '../support/wait.ts';

const TEXT = 'The date on which it began.';

let home: Home;
let emacs: EmacsTerminal;

beforeAll(async () => {
  home = await openHome();
  const file = join(home.folder, 'notes.txt');
  writeFileSync(file, `${TEXT}\n`);
  // Long enough for a slow machine; a person has three seconds.
  const settings = `(progn (setq hive-undo-seconds 30) (global-set-key (kbd "C-c h") 'hive-prefix-map) (find-file ${lisp(file)}))`;
  emacs = await home.emacs(settings, { columns: 100, lines: 40 });
});
afterAll(() => home.close());
beforeEach(() => emacs.until(/^(?![\s\S]*hive \d)/));

const command = (name: string): Promise<void> => commandIn(emacs, name);

async function ask(request: AskRequest): Promise<string> {
  return (await home.agent.prompts.ask(request)).prompt.ask_id;
}

async function answered(ask_id: string): Promise<Prompt | undefined> {
  const [answer] = await home.agent.prompts.poll([ask_id], { wait_ms: PATIENCE_MS });
  return answer?.prompt;
}

const PERMISSION: AskRequest = {
  kind: 'permission',
  question: 'Run make?',
  context: 'make',
  options: [{ label: 'Allow' }, { label: 'Deny', refuses: true }],
};

test('what is announced names the key that is really bound, before it was used once', async () => {
  const id = await ask({ question: 'Which colour?', options: [{ label: 'red' }] });
  await emacs.said(/Deployer \(\S+\) asks: Which colour\? {2}C-c h n$/m);
  await emacs.keys('C-c', 'h', 'n');
  await emacs.answer(/Which colour\?[\s\S]*TAB skip/, '1');
  expect(await answered(id)).toMatchObject({ decision: 'red' });
});

test('a permission takes one key; what is typed after it is not typed into the file, and q ends the waiting', async () => {
  const id = await ask(PERMISSION);
  await emacs.until(/hive 1/);
  await command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  await emacs.until(
    /1 answered; no other questions\nAllow will be sent to Deployer in \d+ s; u takes it back, q/,
  );
  await emacs.type('xyz');
  await emacs.keys('Enter', 'BSpace', 'Tab', 'Escape');
  await emacs.until(/^(?![\s\S]*takes it back)/);
  await command('hive-undo');
  await emacs.said(/Taken back: Allow for Deployer/);
  await command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  await emacs.answer(/u takes it back/, 'q');
  await emacs.until(/^The date on which it began\.$/m);
  // Another key than one that types does what it usually does.
  await command('hive-undo');
  await command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  await emacs.answer(/u takes it back/, 'C-e');
  await emacs.type('Z');
  await emacs.until(/began\.Z$/m);
  await emacs.keys('C-/', 'M-:');
  await emacs.type('(hive-outbox-send-delayed)');
  await emacs.keys('Enter');
  expect(await answered(id)).toMatchObject({ selected: ['Allow'], via: 'emacs' });
});

test('the countdown below the next question goes when the answer was sent', async () => {
  await emacs.keys('M-:');
  await emacs.type('(setq hive-undo-seconds 4)');
  await emacs.keys('Enter');
  const id = await ask({ ...PERMISSION, urgency: 'critical' });
  const next = await ask({ question: 'Else?', options: [{ label: 'yes' }] });
  await emacs.until(/hive 2/);
  await command('hive-next');
  await emacs.answer(/Run make\?[\s\S]*TAB skip/, '1');
  // A slow machine may draw the next question only when the answer was sent.
  await emacs.until(/Else\?(?![\s\S]*takes it back)/);
  expect(await answered(id)).toMatchObject({ selected: ['Allow'] });
  await emacs.answer(/Else\?[\s\S]*TAB skip/, '1');
  expect(await answered(next)).toMatchObject({ decision: 'yes' });
});

test('q in a menu quits the menu, and nothing else', async () => {
  await command('hive');
  await emacs.until(/\*hive\*/);
  await emacs.keys('h');
  await emacs.until(/do not disturb/);
  await emacs.keys('q');
  await emacs.until(/^(?![\s\S]*do not disturb)/);
  await command('hive-list');
  await emacs.until(/No questions are pending/);
  await emacs.keys('?');
  await emacs.until(/quit this menu/);
  await emacs.keys('q');
  await emacs.until(/^(?![\s\S]*quit this menu)[\s\S]*No questions are pending/);
  await emacs.keys('q');
  await emacs.until(/^The date on which it began\.$/m);
});

test('hive-next shows the context, also of a group; a permission without options offers Allow and Deny', async () => {
  const both = {
    question: 'Drop the table?',
    context: 'Both copies are empty.',
    options: [{ label: 'drop', description: 'it stays in the backup' }, { label: 'keep' }],
  };
  const other = await openHive({ agent: 'Reviewer', store: home.store, env: {} });
  try {
    await ask(both);
    await other.prompts.ask(both);
    await emacs.until(/hive 2/);
    await command('hive-next');
    await emacs.until(
      /2 agents ask the same thing[\s\S]*Drop the table\?\n {2}Both copies are empty\.\n {2}Deployer, Reviewer\n {1}1 {2}drop: it stays in the backup\n {1}2 {2}keep\n/,
    );
    await emacs.answer(/TAB skip/, '1');
    await emacs.until(/^(?![\s\S]*hive \d)/);
  } finally {
    await other.close();
  }
  const id = await ask({ kind: 'permission', question: 'May I deploy?', context: 'to production' });
  await emacs.until(/hive 1/);
  await command('hive-next');
  await emacs.until(
    /PERMISSION May I deploy\?\n {2}to production\n 1 {2}Allow\n 2 {2}Deny\nRET type an answer/,
  );
  await emacs.answer(/TAB skip/, '2');
  expect(await answered(id)).toMatchObject({ selected: ['Deny'] });
});

test('what a session asked that has ended is marked and counted apart, and one key cancels it', async () => {
  const other = await openHive({ agent: 'Reviewer', store: home.store, env: {} });
  const options = [{ label: 'yes' }];
  const { prompt: dead } = await other.prompts.ask({ question: 'Merge it?', options, urgency: 'critical' });
  const live = await ask({ question: 'Merge it?', options });
  await emacs.until(/hive 2!/);
  const hive = await openTestHive(home.store);
  await hive.sessions.end(dead.session_id);
  await other.close();
  await emacs.until(/hive 1, 1 ended/);
  await command('hive-list');
  await emacs.until(/\[session ended\] Merge it\?/);
  await emacs.keys('q');
  await command('hive-next');
  // The living one comes first, and alone.
  await emacs.answer(/^(?![\s\S]*(?:ask the same|ended\]))[\s\S]*Merge it\?[\s\S]*TAB skip/, '1');
  await emacs.answer(/\[session ended\] Merge it\?[\s\S]*C cancel all that have ended/, 'C');
  await emacs.said(/Cancelled 1 question of sessions that have ended/);
  expect(await answered(live)).toMatchObject({ decision: 'yes' });
  expect(await answered(dead.ask_id)).toMatchObject({ status: 'cancelled', cancel_reason: 'human' });
});

test('without a desktop, the history of a question does not tell that no popup was shown', async () => {
  const id = await ask({ question: 'Which colour?' });
  const hive = await openTestHive(home.store);
  await eventually(async () =>
    (await eventsOf(hive, 'prompt/popup')).some(
      ({ subject, data }) => subject === id && data['outcome'] === 'failed',
    ),
  );
  await command('hive-list');
  await emacs.until(/Which colour\?/);
  await emacs.keys('M-<', 'C-n', 'Enter');
  const screen = (await emacs.until(/What happened[\s\S]*shown at a desk/)).join('\n');
  expect(screen).not.toContain('popup');
  await emacs.keys('c');
  await emacs.answer(/Cancel this question\?/, 'y');
  expect(await answered(id)).toMatchObject({ status: 'cancelled' });
});
