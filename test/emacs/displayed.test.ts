/**
 * Only what was displayed is approved: real keys in a real terminal, against permissions that hide what they permit.
 *
 * @module-tag as-displayed
 * @module-tag emacs
 */
import { describe, expect, test } from 'vitest';
import {
  type EmacsTerminal,
  type Home,
  leavesNothingPending,
  openHome,
  permission,
} from '../support/emacs.ts';
import { beforeFile } from '../support/lifetime.ts';
import { eventually, within } from '../support/wait.ts';

let home: Home;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  emacs = await home.emacs();
});
leavesNothingPending(() => emacs);

/** Where the window of the question is, as its mode line says. */
const placeOf = (screen: readonly string[]): string =>
  /\*hive: Deployer.* (\S+ +L\d+)/.exec(screen.join('\n'))?.[1] ?? '';

const LONG = [...Array.from({ length: 80 }, (_, n) => `line ${n + 1}`), 'rm -rf ~'].join('\n');

describe('a permission that is longer than the screen', () => {
  test('is opened by the key that would allow it, and is allowed only when its end was displayed without a gap', async () => {
    const [id] = await home.asked(emacs, permission(LONG));
    await emacs.command('hive-next');
    await emacs.until(/Too long to show here/);
    await emacs.answer(/Too long to show here/, '1');
    await emacs.press(/Read it to the end/, 'C-x', '1');
    await emacs.press(/Run make\?[\s\S]*line 15$/m, '1');
    await emacs.until(/Not sent: scroll/);
    // A jump to the end leaves a gap.
    await emacs.keys('M->');
    await emacs.press(/^(?![\s\S]*Not sent: scroll)[\s\S]*rm -rf ~/, '1');
    await emacs.press(/Not sent: scroll/, 'M-<');
    await emacs.until(/line 15$/m);
    for (const line of [30, 50, 70]) {
      await emacs.keys('Space');
      await emacs.until(new RegExp(`line ${line}$`, 'm'));
      expect(await home.stored(id)).toMatchObject({ status: 'pending' });
    }
    await emacs.keys('Space');
    await emacs.press(/rm -rf ~/, '1');
    await emacs.press(/This is a PERMISSION\. {2}Answer "Allow"\?/, 'y');
    expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'], via: 'emacs' });
  });

  test('is allowed where hive-next has scrolled it to its end in a side window', async () => {
    const [id] = await home.asked(emacs, permission(LONG));
    await emacs.command('hive-next');
    await emacs.until(/Too long to show here/);
    // A screen may be read while Emacs draws it, so this does not see each of them: the mode line says where the window is. A key
    // that comes too soon after a screen is dropped. What happened is the end of the buffer, below the whole question.
    const isAtEnd = async (): Promise<boolean> => {
      const screen = await emacs.screen();
      if (/What happened/.test(screen.join('\n'))) return true;
      await emacs.keys('Space');
      await within(async () => placeOf(await emacs.screen()) !== placeOf(screen), 1_000);
      return false;
    };
    await eventually(isAtEnd, 150_000, 'the end of the question');
    await emacs.keys('1');
    await emacs.answer(/RET or y gives/, 'y');
    expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'] });
    await emacs.until(/^(?![\s\S]*Run make)/);
  });

  test('is scrolled in a side window without a gap where the question takes much of the screen', async () => {
    await emacs.resize({ columns: 120, lines: 40 });
    await home.asked(emacs, permission(LONG));
    await emacs.command('hive-next');
    await emacs.answer(/^(?![\s\S]*\*hive: Deployer)[\s\S]*Too long to show here/, 'Space');
    let last = 0;
    while (last < 50) {
      // The absence of something is looked for when nothing is drawn any more.
      const screen = await emacs.until(/^(?![\s\S]*in the middle)[\s\S]*\*hive: Deployer[\s\S]*TAB skip/);
      // In the echo area, lines are indented.
      last = Math.max(...screen.flatMap((line) => /^line (\d+)$/.exec(line)?.slice(1) ?? []).map(Number));
      // The window of the scratch buffer gives it room.
      expect(last).toBeGreaterThan(15);
      const next = `-UUU.*\nline ${last}\nline ${last + 1}\n`;
      await emacs.answer(new RegExp(`^(?![\\s\\S]*${next})[\\s\\S]*TAB skip`), 'Space');
    }
    await emacs.keys('BSpace');
    await emacs.until(new RegExp(`^-UUU.*\nline \\d+\n[\\s\\S]*^line ${last}\n-UUU`, 'm'));
    await emacs.resize({ columns: 100, lines: 24 });
  });

  test('is not allowed by hive-respond before it was read', async () => {
    const [id] = await home.asked(emacs, permission(LONG));
    await emacs.command('hive-respond');
    await emacs.reply(/PERMISSION Deployer asks: Run make\?/, 'Allow');
    await emacs.until(/Not sent: scroll/);
    expect(await home.stored(id)).toMatchObject({ status: 'pending', decision: null });
  });
});

test('a line that is cut at the edge of the window is not displayed', async () => {
  const [id] = await home.asked(emacs, permission(`echo ${'a'.repeat(3_000)}; rm -rf ~`));
  await emacs.evaluate('(add-hook (quote hive-prompt-mode-hook) (lambda () (setq truncate-lines t)) 90)');
  await emacs.command('hive-next');
  await emacs.answer(/Too long to show here/, '1');
  await emacs.press(/Options[\s\S]*Read it to the end/, '1');
  await emacs.press(/Not sent: scroll/, 'C-n');
  await emacs.press(/^(?![\s\S]*Not sent: scroll)/, '1');
  await emacs.until(/Not sent: scroll/);
  expect(await home.stored(id)).toMatchObject({ status: 'pending' });
});

test('a permission that fits is allowed where it is shown by hive-respond, whose prompt takes two lines', async () => {
  await emacs.resize({ columns: 80, lines: 24 });
  const targets = Array.from({ length: 9 }, (_, n) => `make target-${n}`).join('\n');
  const question = 'Run make with all of its targets, on all of the machines?';
  const [id] = await home.asked(emacs, { ...permission(targets), question });
  await emacs.command('hive-respond');
  await emacs.reply(/PERMISSION Deployer asks:[\s\S]*Deny\)/, 'Allow');
  await emacs.said(/Answered Deployer: Allow|Not sent/);
  expect(await home.answerTo(id)).toMatchObject({ selected: ['Allow'] });
});
