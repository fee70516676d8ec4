/**
 * A key answers only what is on the screen: real keys in a real terminal, beside a minibuffer, in low windows, and after another
 * message.
 *
 * @module-tag as-displayed
 * @module-tag emacs
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type EmacsTerminal,
  type Home,
  leavesNothingPending,
  lisp,
  openHome,
  permission,
} from '../support/emacs.ts';
import { beforeFile } from '../support/lifetime.ts';
import { eventually } from '../support/wait.ts';

let home: Home;
let emacs: EmacsTerminal;
/** While there is such a file, Emacs shows a message again and again, as a compilation does. */
let compiling: string;

beforeFile(async () => {
  home = await openHome();
  compiling = join(home.folder, 'compiling');
  const compile = `(run-at-time 0.05 0.05 (lambda () (when (file-exists-p ${lisp(compiling)}) (message "Compiled %d, events: %d" (setq compiled (1+ compiled)) num-nonmacro-input-events))))`;
  emacs = await home.emacs(
    `(progn (defvar compiled 0) (defvar heights nil) (global-set-key [f5] 'hive-next) (global-set-key [f6] 'hive) ${compile})`,
    { columns: 80, lines: 24 },
  );
});
leavesNothingPending(() => emacs);

/** Gives Emacs so many windows of equal heights on so many lines, and answers so many seconds to be taken back. */
async function layOut({ windows = 1, lines = 24, undo = 0 } = {}): Promise<void> {
  await emacs.resize({ columns: 80, lines });
  const split = '(let ((window-min-height 1)) (split-window-below) (balance-windows))'.repeat(windows - 1);
  await emacs.evaluate(
    `(progn (setq compiled 0 hive-undo-seconds ${undo}) ${split} (redisplay t) (setq heights (mapcar 'window-height (window-list))))`,
  );
  await emacs.until(new RegExp(`^\\((?:\\d+ ?){${windows}}\\)$`, 'm'));
}

/** Waits until the compilation has shown so many more messages; returns the number of the last one. */
async function compiledMore(count: number, from = 0): Promise<number> {
  let last = 0;
  await eventually(async () => {
    last = Number(/^Compiled (\d+), /m.exec((await emacs.screen()).join('\n'))?.[1] ?? 0);
    return last >= from + count;
  });
  return last;
}

/** Types a key while the compilation shows its messages, and waits until Emacs has read it. */
async function typedWhileCompiling(key: string): Promise<void> {
  const read = async (): Promise<number> =>
    Number(/^Compiled \d+, events: (\d+)$/m.exec((await emacs.screen()).join('\n'))?.[1] ?? 0);
  let before = 0;
  await eventually(async () => {
    before = await read();
    return before > 0;
  });
  await emacs.keys(key);
  await eventually(async () => (await read()) > before, 10_000, `the reading of ${key}`);
}

/** The lines below the lowest mode line. */
const echoArea = (screen: readonly string[]): string =>
  screen
    .slice(screen.findLastIndex((line) => line.startsWith('-')) + 1)
    .join('\n')
    .trimEnd();

const NINE = [...Array.from({ length: 8 }, (_, n) => `echo step ${n + 1}`), 'rm -rf ~'].join('\n');

test.each([
  ['another window', ['C-x', 'o']],
  ['itself', []],
])('with a minibuffer open and %s selected, the whole permission is shown', async (_name, keys) => {
  await layOut();
  const [id] = await home.asked(emacs, permission('make clean\nmake all'));
  await emacs.keys('M-x');
  await emacs.press(/^M-x/m, ...keys, 'F5');
  const screen = await emacs.until(/PERMISSION Run make\?[\s\S]*TAB skip/);
  expect(echoArea(screen)).toMatch(/Run make\?\n {2}make clean\n {2}make all\n 1 {2}Allow\n 2 {2}Deny\n/);
  await emacs.answer(/TAB skip/, '1');
  await emacs.answer(/RET or y gives/, 'y');
  expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'] });
  // The minibuffer is there again.
  await emacs.until(/^M-x/m);
});

test('with a minibuffer selected, a permission that is too long is read in the only window', async () => {
  await layOut();
  await home.asked(emacs, permission(NINE.repeat(3)));
  await emacs.keys('M-x');
  await emacs.press(/^M-x/m, 'F5');
  await emacs.answer(/Too long to show here/, 'Space');
  await emacs.answer(/echo step 1\n[\s\S]*SPC, DEL scroll/, 'q');
  await emacs.press(/^(?![\s\S]*DEL scroll)/, 'C-g');
  await emacs.until(/^(?![\s\S]*^M-x)/m);
});

describe('in low windows', () => {
  test.each([
    [4, 19, 3],
    [2, 12, 0],
  ])(
    '%i of them in %i lines, a permission that does not fit is shown in its buffer',
    async (windows, lines, undo) => {
      await layOut({ windows, lines, undo });
      const [id] = await home.asked(emacs, permission(NINE));
      await emacs.keys('F5');
      const screen = await emacs.until(/\*hive: Deployer/);
      expect(echoArea(screen)).not.toMatch(/Run make\?|q quit/);
      await emacs.keys('1');
      await emacs.until(/Not sent: scroll/);
      expect(await home.stored(id)).toMatchObject({ status: 'pending' });
    },
  );

  test('a permission that fits is allowed where it is shown: they shrink for it, and grow back', async () => {
    await layOut({ windows: 4 });
    const [id] = await home.asked(emacs, permission('make clean\nmake\nmake check\nmake install\nmake all'));
    await emacs.keys('F5');
    await emacs.answer(/make clean[\s\S]*make all[\s\S]*TAB skip/, '1');
    await emacs.answer(/make clean[\s\S]*make all[\s\S]*RET or y gives/, 'y');
    expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'] });
    await emacs.evaluate("(equal heights (mapcar 'window-height (window-list)))");
    await emacs.until(/^t$/m);
  });
});

/** The lines of what Claude Code asks before it edits three lines of a file. */
const EDIT = `--- /home/ada/shop/delivery.ts
+++ /home/ada/shop/delivery.ts
@@ -2,9 +2,9 @@
 
 /** The first day. */
 export function firstDay(order: Order): Day {
-  const earliest = today();
-  const later = tomorrow();
-  const never = null;
+  const earliest = soon();
+  const later = late();
+  const never = undefined;
   return order.express ? earliest : workday(earliest, 2);
 }
 

Tool: Edit
Directory: /home/ada/shop`;

test.each([1, 2])(
  'an edit of three lines is allowed after two screens of 24 lines, beside %i windows, which grow back',
  async (windows) => {
    await layOut({ windows });
    const [id] = await home.asked(emacs, {
      kind: 'permission',
      question: 'Change delivery.ts?',
      context: EDIT,
      options: [
        { label: 'Allow', description: 'This once' },
        { label: 'Allow always', description: 'Claude Code writes a rule into .claude/settings.local.json' },
        { label: 'Deny', description: 'Anything you type is sent to the agent as the reason' },
      ],
    });
    await emacs.keys('F5');
    await emacs.answer(/Too long to show here/, 'Space');
    await emacs.answer(/today\(\)[\s\S]*to its end before you allow it/, 'Space');
    await emacs.answer(/sent to the agent as the reason[\s\S]*SPC, DEL scroll {2}RET/, '1');
    await emacs.answer(/RET or y gives/, 'y');
    expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'] });
    await emacs.evaluate("(equal heights (mapcar 'window-height (window-list)))");
    await emacs.until(/^t$/m);
  },
);

test('in 80 columns, the mode lines of a question and of an answer have room for the counts', async () => {
  await layOut();
  await home.asked(emacs, {
    question: 'Which database should the shop use?',
    options: ['SQLite', 'PostgreSQL'],
  });
  await emacs.keys('F5');
  await emacs.answer(/TAB skip/, 'o');
  await emacs.press(/\*hive: Deployer – Which.*\(Hive-Question\) +hive 1\b/, 'e');
  await emacs.press(/\*hive answer: Deployer – .*\(Hive-Answer\) +hive 1\b/, 'C-c', 'C-k');
  await emacs.until(/^(?![\s\S]*Hive-Answer)/);
});

test('a menu that is longer than its window says how to scroll it, and its keys are all there', async () => {
  await layOut();
  await home.asked(emacs, permission('make'));
  // Below another window, as where nothing was set.
  await emacs.keys('F6');
  await emacs.press(/\*scratch\*[\s\S]*Needs you[\s\S]*\*hive\*/, '?');
  await emacs.press(
    /w write to it[\s\S]*C-v scroll this menu\n[\s\S]*q quit this menu\n(?![\s\S]*remove filters)/,
    'C-v',
  );
  await emacs.press(/mark what is alike[\s\S]*remove filters/, 't');
  await emacs.until(/1 marked/);
});

describe('after another message', () => {
  test('no key answers a question until it was shown again', async () => {
    await layOut({ undo: 3 });
    const [id] = await home.asked(emacs, permission('make all'));
    await emacs.keys('F5');
    await emacs.until(/make all[\s\S]*TAB skip/);
    writeFileSync(compiling, '');
    let last = 0;
    for (let times = 0; times < 3; times += 1) {
      last = await compiledMore(5, last);
      await typedWhileCompiling('1');
    }
    rmSync(compiling);
    await emacs.until(/make all[\s\S]*TAB skip/);
    expect(await home.stored(id)).toMatchObject({ status: 'pending' });
    await emacs.answer(/TAB skip/, '1');
    await emacs.said(/Answered Deployer: Allow/);
    expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'] });
  });

  test('no key confirms an answer', async () => {
    await layOut();
    const [id] = await home.asked(emacs, permission('make all'));
    await emacs.keys('F5');
    await emacs.answer(/make all[\s\S]*TAB skip/, '1');
    await emacs.until(/RET or y gives/);
    writeFileSync(compiling, '');
    await compiledMore(5);
    await typedWhileCompiling('y');
    rmSync(compiling);
    await emacs.until(/make all[\s\S]*(keys typed before|TAB skip)/);
    expect(await home.stored(id)).toMatchObject({ status: 'pending' });
  });
});
