/**
 * Only what a human saw and meant is an answer: real keys in a real terminal, typed too early, too short or for something else.
 *
 * @module-tag as-displayed
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AskRequest } from '../../src/index.ts';
import { childEnvironment } from '../support/children.ts';
import { type EmacsTerminal, type Home, leavesNothingPending, lisp, openHome } from '../support/emacs.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { openTerminal } from '../support/tmux.ts';

let home: Home;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  emacs = await home.emacs();
});
leavesNothingPending(() => emacs);

const YES_NO = { options: [{ label: 'yes' }, { label: 'no' }] };
const PERMISSION: AskRequest = {
  kind: 'permission',
  question: 'Run rm -rf build/ ?',
  context: 'rm -rf build/\n\nTool: Bash',
  options: [{ label: 'Allow' }, { label: 'Allow always', description: 'Bash(rm *)' }, { label: 'Deny' }],
};

describe('hive-next', () => {
  test('keys typed ahead answer no question that was not seen yet, and allow nothing', async () => {
    const ids = await home.asked(emacs, { question: 'First?', urgency: 'critical', ...YES_NO }, PERMISSION);
    await emacs.command('hive-next');
    // Press until the first is answered; what comes with the key that answers it is typed ahead.
    await emacs.until(/First\?/);
    await emacs.answer(/First\?/, '11y');
    await emacs.until(
      /PERMISSION Run rm -rf build\/ \?\n {2}rm -rf build\/\n {2}Tool: Bash\n[\s\S]*were ignored/,
    );
    expect(await home.answerTo(ids[0])).toMatchObject({ decision: 'yes' });
    expect(await home.stored(ids[1])).toMatchObject({ status: 'pending' });
    // Once seen, it is answered, and what allows something is confirmed.
    await emacs.keys('2');
    await emacs.until(/Allow always: Bash\(rm \*\)\nRET or y gives this answer/);
    expect(await home.stored(ids[1])).toMatchObject({ status: 'pending' });
    await emacs.answer(/RET or y gives/, 'y');
    expect(await home.answerTo(ids[1])).toMatchObject({ selected: ['Allow always'], via: 'emacs' });
  });

  test('a question that ends elsewhere leaves the screen without a key, and the next one follows', async () => {
    const ids = await home.asked(emacs, { question: 'First?', urgency: 'critical', ...YES_NO }, PERMISSION);
    await emacs.command('hive-next');
    await emacs.until(/First\?[\s\S]*TAB skip/);
    await home.agent.prompts.cancel(ids[0] ?? '');
    await emacs.until(/PERMISSION Run rm -rf build\/ \?[\s\S]*TAB skip/);
    await emacs.said(/question is already cancelled: First\?/);
    await home.agent.prompts.cancel(ids[1] ?? '');
    await emacs.until(/No other questions are pending/);
  });

  test('its human comes from another terminal: it leaves, and that terminal takes keys', async () => {
    const server = join(home.folder, 'other');
    await emacs.evaluate(
      `(progn (require 'server) (setq server-socket-dir ${lisp(home.folder)} server-name "other") (server-start))`,
    );
    await home.asked(emacs, { question: 'Left open?', ...YES_NO });
    await emacs.command('hive-next');
    await emacs.until(/Left open\?[\s\S]*TAB skip/);
    const env = childEnvironment(home.store, { TERM: 'xterm-256color' });
    const other = closedAtEnd(
      await openTerminal(mkdtempSync(join(home.folder, 'o')), env, ['emacsclient', '-s', server, '-t']),
    );
    await other.press(/\*scratch\*[\s\S]*hive 1/, 'M-x');
    await other.press(/^M-x/m, 'C-g');
    await emacs.gone(/TAB skip/);
    await other.keys('C-x', 'C-c');
    await emacs.evaluate('(server-force-delete)');
  });

  test('a prefix key leaves it, and its sequence does what it always does', async () => {
    const [id] = await home.asked(emacs, { question: 'Go on?', ...YES_NO });
    for (const [keys, effect] of [
      [['C-x', '2'], /\*scratch\*[\s\S]*\*scratch\*/],
      [['C-x', '1'], /^(?![\s\S]*\*scratch\*[\s\S]*\*scratch\*)/],
      [['M-x'], /^M-x$/m],
    ] as const) {
      await emacs.command('hive-next');
      await emacs.until(/Go on\?[\s\S]*TAB skip/);
      const [first, ...rest] = keys;
      await emacs.answer(/TAB skip/, first);
      if (rest.length > 0) await emacs.keys(...rest);
      await emacs.until(effect);
      expect(await home.stored(id)).toMatchObject({ status: 'pending' });
    }
  });

  test('a paste and a click leave it too, and go where they always go', async () => {
    const [id] = await home.asked(emacs, { question: 'Go on?', ...YES_NO });
    // Emacs 30 may say something else about it.
    await emacs.evaluate('(progn (xterm-mouse-mode 1) (list "mouse" xterm-mouse-mode))');
    await emacs.until(/^\("mouse" t\)/m);
    await emacs.command('hive-next');
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, '\x1b[200~hello world\x1b[201~');
    const row = (await emacs.until(/^hello world$/m)).indexOf('hello world');
    await emacs.command('hive-next');
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, `\x1b[<0;7;${row + 1}M\x1b[<0;7;${row + 1}m`);
    await emacs.type('W');
    await emacs.until(/^hello Wworld$/m);
    expect(await home.stored(id)).toMatchObject({ status: 'pending' });
  });

  test('a key that types something is typed into no buffer, whatever its command is called there', async () => {
    const [id] = await home.asked(emacs, { question: 'Go on?', ...YES_NO });
    await emacs.keys('C-x', 'h', 'C-w');
    await emacs.evaluate('(org-mode)');
    await emacs.until(/\(Org/);
    await emacs.command('hive-next');
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, 'Y');
    await emacs.said(/Y does nothing here; q quits/);
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, 'q');
    expect((await emacs.screen()).join('\n')).not.toMatch(/^Y/m);
    expect(await home.stored(id)).toMatchObject({ status: 'pending' });
  });
});

test('hive-respond: a typo among several options is not sent without a question', async () => {
  const checks = ['lint', 'types', 'unit'].map((label) => ({ label }));
  const [id] = await home.asked(emacs, { question: 'Which?', options: checks, multi_select: true });
  await emacs.command('hive-respond');
  await emacs.reply(/lint \/ types \/ unit \/ your own words; RET adds one, empty RET sends/, 'lint');
  await emacs.reply(/your own words; chosen: lint; empty RET sends/, 'unti');
  await emacs.press(/"unti" is not an option\. {2}Send it as a comment\?/, 'n');
  // It is there again, to be corrected.
  await emacs.press(/RET sends\) unti$/m, 'BSpace', 'BSpace');
  await emacs.enter('it');
  await emacs.press(/chosen: lint, unit; empty RET sends/, 'Enter');
  expect(await home.answerTo(id)).toMatchObject({ selected: ['lint', 'unit'], comment: null });
});
