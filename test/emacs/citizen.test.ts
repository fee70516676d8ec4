/**
 * Hive among the rest of Emacs, with real keys in a real terminal of 80 columns: repeat-mode, context-menu-mode, narrow windows,
 * and an end that asks nothing. One Emacs is typed at from the first test to the last.
 *
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/domain/sessions.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { demoProject, type EmacsTerminal, type Home, lisp, openHome } from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { join, post } from '../support/messages.ts';
import { eventually } from '../support/wait.ts';

const COLUMNS = 80;
const LONG = 'May I drop the table of old sessions before the release of next week is built?';

let home: Home;
let hive: OpenedHive;
let claude: Session;
let other: Session;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  hive = await openTestHive(home.store);
  const { where, notes } = demoProject(home);
  claude = await join(hive, 'abc12-session', where);
  other = await join(hive, 'def34-session', where);
  emacs = await home.emacs(
    `(progn (repeat-mode 1) (context-menu-mode 1) (xterm-mouse-mode 1)
       (find-file ${lisp(notes)}) (setq hive-undo-seconds 60))`,
    { columns: COLUMNS, lines: 30 },
  );
});

const at = (pattern: RegExp): Promise<void> =>
  eventually(async () => pattern.test(await emacs.here()), 20_000, `the cursor at ${pattern}`);

/** A click of the right button where the screen has `text`, as a terminal reports it. */
async function rightClick(text: string): Promise<void> {
  const screen = await emacs.screen();
  const row = screen.findIndex((line) => line.includes(text));
  const column = (screen[row] ?? '').indexOf(text);
  // Only pressed: released over an item, it would choose that.
  await emacs.type(`\x1b[<2;${column + 2};${row + 1}M`);
}

describe('in 80 columns', () => {
  test('the list has the agent, what kind of question it is, how long it blocks, and the question', async () => {
    const { prompt: permission } = await hive.prompts.ask(
      { question: 'Run npm install?', kind: 'permission', options: ['Allow', 'Deny'] },
      claude,
    );
    const cut = new AbortController();
    const waiting = hive.prompts.wait([permission.ask_id], {
      wait_ms: 60_000,
      signal: cut.signal,
      waiter: 'abc12-session',
    });
    await hive.prompts.ask(
      { question: LONG, context: 'They are 40 days old.', options: ['yes', 'keep them', 'no'] },
      other,
    );
    await emacs.until(/hive 1‖1/);
    await emacs.command('hive-list');
    const screen = await emacs.until(
      /demo\S* +perm +\d+s +blocked for \d+s +Run npm in[\s\S]*demo\S*(?: \d)? +\d+s +May I drop the/,
    );
    expect(screen.join('\n')).toMatch(/ Agent +Kind +Age +Question/);
    cut.abort();
    await waiting;
    await emacs.keys('q');
  });

  test('hive-next never splits a key between two lines, and shows the whole question', async () => {
    await emacs.command('hive-next');
    await emacs.until(/Run npm install\?/);
    await emacs.until(/TAB skip {2}s snooze/);
    await emacs.answer(/Run npm install\?/, 'Tab');
    const screen = await emacs.until(/ 3 {2}no[\s\S]*q quit/);
    const text = screen.join('\n');
    expect(text.replaceAll(/\\\n/g, '')).toContain(LONG);
    for (const key of [
      'RET type an answer',
      '\\+ add words',
      'TAB skip',
      's snooze',
      'o open',
      '\\? keys',
      'q quit',
    ])
      expect(text).toMatch(new RegExp(`(^| {2})${key}( {2}|$)`, 'm'));
    await emacs.answer(/q quit/, 'q');
  });

  test('the buffer of a question wraps between words', async () => {
    await emacs.command('hive-list');
    await emacs.press(/May I drop/, 'M->', 'C-p', 'Enter');
    await emacs.press(/They are 40 days old/, 'C-x', '1');
    await emacs.until(/^(?![\s\S]*Age Question)/);
    const screen = await emacs.until(/May I drop[\s\S]*They are 40 days old[\s\S]*\*hive: /);
    expect(screen.filter((line) => /[$\\]$/.test(line))).toEqual([]);
    expect(screen.join(' ').replaceAll(/\s+/g, ' ')).toContain(LONG);
    await emacs.keys('q');
  });
});

test('in context-menu-mode the right button offers what can be done with the question there', async () => {
  await emacs.command('hive-list');
  await emacs.keys('C-x', '1');
  await emacs.until(/^File[^\n]*\n +Agent[^\n]*Question\n[^*]*May I drop[^*]*\*hive\* /);
  await rightClick('May I drop');
  await emacs.until(/Show In Full[\s\S]*Snooze[\s\S]*Interrupt The Agent/);
  // Emacs 28 begins with the line above the first item, Emacs 30 with the item. The chosen one has a red background.
  const menu = async (): Promise<string> => (await emacs.painted()).join('\n');
  for (let before = await menu(); !before.includes('\x1b[41m Snooze'); before = await menu()) {
    const moved = async (): Promise<boolean> => (await menu()) !== before;
    await emacs.keys('Down');
    await eventually(moved, 20_000, 'the next item of the menu');
  }
  await emacs.keys('Enter');
  await emacs.said(/Snoozed demo(?: \d)? for 30 minutes/);
  await emacs.until(/z demo/);
});

test('in repeat-mode one letter goes on to the next mention', async () => {
  for (const which of ['first', 'second', 'third']) await post(hive, claude, `@Human the ${which}`);
  await emacs.press(/3@/, 'C-x', '1', 'C-x', 'b');
  await emacs.enter('notes.txt');
  await emacs.command('hive-shared');
  await emacs.press(/the third/, 'M-<', 'C-c', 'C-n');
  await at(/@Human the first/);
  await emacs.keys('n');
  await at(/@Human the second/);
  await emacs.keys('n');
  await at(/@Human the third/);
  await emacs.keys('p');
  await at(/@Human the second/);
});

test('with a list, a question and drafts, Emacs ends and asks nothing', async () => {
  await emacs.keys('M->');
  await emacs.type('half a message');
  await emacs.keys('C-x', '1');
  await emacs.command('hive-list');
  await emacs.press(/May I drop/, 'M-<', 'C-n', 'Enter');
  await emacs.press(/Run npm install\?[\s\S]*Options/, 'e');
  await emacs.until(/C-c C-c se/);
  await emacs.type('half an answer');
  await emacs.until(/half an answer/);
  const sidecar = await home.sidecarPid();
  await emacs.keys('C-x', 'C-c');
  await eventually(() => !processes.alive(sidecar), 60_000, 'the end of Emacs and its sidecar');
});
