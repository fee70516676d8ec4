/**
 * Emacs is never seized (invariant 7), and answers are given with real keys: a real Emacs in a real
 * terminal, its real sidecar, and an agent that asks through the library over the same store.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EmacsTerminal, type Home, lisp, openHome } from '../support/emacs.ts';
import { beforeFile } from '../support/lifetime.ts';
import { eventually, textOf } from '../support/wait.ts';

const TEXT = ['one', 'two needle', 'three', 'four', 'five needle', 'six', ''].join('\n');

let home: Home;
let emacs: EmacsTerminal;
/** It has a character for each time that Hive has looked whether the human is free for an announcement. */
let looks: string;

beforeFile(async () => {
  home = await openHome();
  const file = join(home.folder, 'notes.txt');
  // Whether Emacs echoes a prefix depends on what any process writes in that moment (measured): without.
  writeFileSync(file, TEXT);
  looks = join(home.folder, 'looks');
  const look = `(lambda () (write-region "." nil ${lisp(looks)} t 0))`;
  emacs = await home.emacs(
    `(progn (setq echo-keystrokes 0) (advice-add 'hive-notify--speak :after ${look}) (find-file ${lisp(file)}))`,
  );
});

/** The screen but for the count in the mode line, which is all that may change. */
async function rest(): Promise<string[]> {
  return (await emacs.screen()).map((line) => line.replace(/(hive \d+)?[ -]*$/, '').trimEnd());
}

let asked = 0;

/** Ten prompts arrive; the mode line says so. */
async function tenArrive(): Promise<void> {
  for (let i = 0; i < 10; i += 1) {
    asked += 1;
    await home.agent.prompts.ask({ question: `Question ${asked}?` });
  }
  await emacs.until(new RegExp(`hive ${asked}\\b`));
}

const looked = (): number => (existsSync(looks) ? readFileSync(looks, 'utf8').length : 0);

/** Does what `arrive` does, and sees that nothing but the count changed. */
async function expectUntouched(arrive: () => Promise<void>): Promise<void> {
  const before = { screen: await rest(), cursor: await emacs.cursor() };
  await arrive();
  const now = async () => ({ screen: await rest(), cursor: await emacs.cursor() });
  // The first look may be too soon after the last announcement; the second announces, unless the human is busy.
  const enough = looked() + 3;
  await eventually(async () => looked() >= enough || JSON.stringify(await now()) !== JSON.stringify(before));
  expect(await now()).toEqual(before);
}

/** The value of a Lisp form, typed at M-: by hand. */
async function lispValue(form: string): Promise<string> {
  const file = join(home.folder, 'value');
  await emacs.evaluate(`(write-region (format "%S" ${form}) nil ${lisp(file)} nil 0)`);
  const value = await textOf(file, form);
  rmSync(file);
  return value;
}

describe('while ten prompts arrive', () => {
  test('a half-typed M-x goes on', async () => {
    await emacs.keys('M-x', 'goto-li');
    await emacs.until(/M-x goto-li/);
    await expectUntouched(tenArrive);
    await emacs.keys('ne', 'Enter');
    await emacs.press(/Goto line/, '3', 'Enter');
    expect(await lispValue('(line-number-at-pos)')).toBe('3');
  });

  test('an incremental search goes on', async () => {
    await emacs.keys('C-s', 'need');
    await emacs.until(/L5 +\(Text Isearch\)[\s\S]*I-search: need/); // It has gone to the match.
    await expectUntouched(tenArrive);
    await emacs.keys('le');
    await emacs.press(/I-search: needle/, 'Enter');
    expect(await lispValue('(list (line-number-at-pos) (current-column))')).toBe('(5 11)');
  });

  test('y-or-n-p waits for its own answer', async () => {
    await emacs.evaluate('(message "said: %S" (y-or-n-p "Really? "))');
    await emacs.until(/Really\? \(y or n\)/);
    await expectUntouched(tenArrive);
    await emacs.keys('y');
    await emacs.until(/said: t/);
  });

  test('a prefix key and a command that reads keys of its own go on', async () => {
    await emacs.keys('C-x');
    await emacs.until(/^(?![\s\S]*said: t)/); // Emacs has read it.
    await expectUntouched(tenArrive);
    await emacs.keys('h');
    expect(await lispValue('mark-active')).toBe('t');
    await emacs.keys('M-<', 'M-%');
    await emacs.reply(/Query replace/, 'needle');
    await emacs.enter('thread');
    await emacs.until(/Query replacing needle with thread/);
    await expectUntouched(tenArrive);
    await emacs.keys('n', 'y');
    await emacs.press(/five thread/, 'C-/');
    await emacs.until(/five needle/);
  });

  test('point, window and region stay, and typed keys go where they went', async () => {
    await emacs.keys('C-x', '2', 'C-x', 'o', 'M-<', 'C-n', 'C-@', 'C-f', 'C-f', 'C-l');
    const where = '(list (window-edges) (point) (mark) mark-active (buffer-name))';
    const before = await lispValue(where);
    // It comes back from the minibuffer, the last line, when Emacs has drawn the screen.
    await eventually(async () => !(await emacs.cursor()).endsWith(',23'), 10_000, 'the cursor in its window');
    const cursor = await emacs.cursor();
    await tenArrive();
    await emacs.until(/Deployer \(\S+\) asks: Question \d+\? \(and \d+ more\) {2}M-x hive-next/);
    expect(await emacs.cursor()).toBe(cursor);
    expect(await lispValue(where)).toBe(before);
    await emacs.type('XYZ');
    await emacs.press(/twXYZo needle/, 'C-/', 'C-x', '1');
  });

  test('a half-typed answer goes on, and is the answer', async () => {
    await emacs.command('hive-respond');
    await emacs.press(/Answer \(\d+ pending, default /, 'Enter');
    await emacs.until(/asks: Question 1\?/);
    await emacs.type('half an ans');
    await emacs.until(/half an ans/);
    await expectUntouched(tenArrive);
    await emacs.enter('wer');
    await emacs.until(/Answered Deployer: half an answer \(stored\)/);
  });

  test('no error was logged on the way', async () => {
    const file = join(home.folder, 'messages');
    await lispValue(`(with-current-buffer "*Messages*" (write-region nil nil ${lisp(file)} nil 0))`);
    expect(readFileSync(file, 'utf8')).not.toMatch(/error|wrong type|void|debugger/i);
  });
});
