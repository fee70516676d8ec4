/**
 * Every command of the human's day, typed with real keys in a real terminal, over a real store. One Emacs is typed
 * at from the first test to the last, as on a day: to start one for each file of commands would cost seconds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { giveNotice } from '../../src/application/notices.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type EmacsTerminal, type Home, lisp, openHome, startsOverAfterFailure } from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { textOf } from '../support/wait.ts';

let home: Home;
let emacs: EmacsTerminal;
let hive: OpenedHive;

beforeFile(async () => {
  home = await openHome();
  emacs = await home.emacs(`(setq hive-drafts-directory ${lisp(`${join(home.folder, 'drafts')}/`)}
    hive-reply-templates '((nil nil "Yes, and keep it small")))`);
  hive = await openTestHive(home.store);
});
startsOverAfterFailure(() => ({ home, emacs }));

const YES_NO = { options: [{ label: 'yes' }, { label: 'no' }] };

test('hive-next: one key answers, a template, free text, snooze and un-snooze', async () => {
  const ids = await home.asked(
    emacs,
    { question: 'First?', urgency: 'critical', ...YES_NO },
    { question: 'Second?', ...YES_NO },
    { question: 'Third?', urgency: 'low' },
  );
  await emacs.command('hive-next');
  await emacs.until(/First\?[\s\S]*1 {2}yes[\s\S]*2 {2}no[\s\S]*3 {2}Yes, and keep it small/);
  await emacs.answer(/First\?/, '2');
  expect(await home.answerTo(ids[0])).toMatchObject({ decision: 'no', selected: ['no'] });
  await emacs.answer(/Second\?/, '3');
  expect(await home.answerTo(ids[1])).toMatchObject({ decision: 'yes', comment: 'and keep it small' });
  await emacs.answer(/Third\?/, 's');
  await emacs.said(/No other questions are pending|answered; no other questions/);
  // A snoozed question is not counted; an un-snoozed one is.
  await emacs.gone(/hive \d+\b/);
  await hive.prompts.snooze(ids[2] ?? '', null);
  await emacs.until(/hive 1\b/);
  await emacs.command('hive-next');
  await emacs.answer(/Third\?[\s\S]*RET type an answer/, 'Enter');
  await emacs.reply(/asks: Third\?/, 'in my own words; yes');
  expect(await home.answerTo(ids[2])).toMatchObject({ decision: 'in my own words; yes' });
});

test('hive-list marks several and answers them with one decision', async () => {
  const ids = await home.asked(
    emacs,
    { question: 'Merge one?', ...YES_NO },
    { question: 'Merge two?', ...YES_NO },
    { question: 'Other?' },
  );
  await emacs.command('hive-list');
  await emacs.press(/Merge one\?[\s\S]*Merge two\?[\s\S]*Other\?/, 'M-<', 'C-n', 'm', 'm');
  await emacs.press(/>.*Merge one\?\n>.*Merge two\?/, 'a');
  await emacs.reply(/Answer 2 questions: /, 'yes');
  expect(await home.answerTo(ids[0])).toMatchObject({ decision: 'yes', selected: ['yes'] });
  expect(await home.answerTo(ids[1])).toMatchObject({ decision: 'yes', selected: ['yes'] });
  await emacs.gone(/Merge one\?/);
  // RET shows all of it; c cancels there.
  await emacs.keys('M-<', 'C-n', 'Enter');
  await emacs.press(/Hive-Question/, 'c');
  await emacs.press(/Cancel Deployer.s question\?/, 'y');
  expect(await home.answerTo(ids[2])).toMatchObject({ status: 'cancelled' });
  await emacs.keys('q');
});

test('a card is shown with its buttons, and RET on one answers', async () => {
  const session = await hive.sessions.resolve(home.agent.session.session_id);
  await hive.outreach.card(
    {
      title: 'Nightly build',
      color: 'red',
      fields: [{ name: 'Failed', value: '3', inline: true }],
      actions: [{ label: 'Retry', ask: 'Run it again' }, { label: 'Leave it' }],
    },
    session,
  );
  await emacs.said(/sends a card: Nightly build/);
  await emacs.command('hive-outreach');
  await emacs.until(/Nightly build\n +Failed: 3\n +\[Retry\] +Run it again\n +\[Leave it\]/);
  await emacs.keys('M-<', 'Tab', 'Enter');
  await emacs.press(/ {2}Retry ✓/, 'q');
});

test('the status buffer follows an agent that works, rests and is looked at, and moves nothing', async () => {
  await emacs.command('hive');
  const turn = await home.agent.turns.start();
  await emacs.until(/▾ Working {2}1 agent\n.*Deployer.*running/);
  await home.agent.turns.end(turn.turn_id);
  await emacs.until(/▾ Idle and done {2}1 agent \(1 unread\)\n • Deployer.*task completed/);
  await emacs.keys('M-<', 'C-n');
  const [ask_id] = await home.asked(emacs, { question: 'Above it?', ...YES_NO });
  // The question came above the line of the agent, and point is still on that.
  await emacs.until(/Above it\?[\s\S]*• Deployer/);
  expect(await emacs.here()).toMatch(/^ • Deployer/);
  // A change during a search is shown when the search has ended: a search goes on from where it was.
  await emacs.keys('M->', 'C-r');
  await emacs.type('task');
  await home.agent.prompts.ask({ question: 'Meanwhile?', ...YES_NO });
  await emacs.until(/hive 2\b/);
  await emacs.type(' com');
  await emacs.press(/^(?![\s\S]*Meanwhile\?)[\s\S]*I-search backward: task com$/m, 'Enter');
  await emacs.until(/Meanwhile\?[\s\S]*• Deployer/);
  expect(await emacs.here()).toMatch(/^ • Deployer/);
  // On the line of an agent, a key is about its questions.
  await emacs.keys('c');
  await emacs.press(/Cancel 2 questions/, 'y');
  expect(await home.answerTo(ask_id)).toMatchObject({ status: 'cancelled' });
  await emacs.gone(/hive \d+\b/);
});

test('hive-interrupt stops what runs, and says so', async () => {
  const turn = await home.agent.turns.start();
  home.agent.turns.onInterrupt(turn.turn_id, async () => {
    await home.agent.turns.end(turn.turn_id, { aborted: 'interrupted' });
  });
  const { handle } = home.agent.session;
  // The keys that follow wait until Emacs knows of the turn.
  await emacs.keys('M-:');
  await emacs.type('(while (not (hive-turns-running)) (accept-process-output nil 0.05))');
  await emacs.keys('Enter', 'C-x', 'b');
  await emacs.enter('*scratch*');
  await emacs.command('hive-interrupt');
  // No other agent works.
  await emacs.press(/Interrupt \(default Deployer\):/, 'Enter');
  await emacs.reply(/Reason for Deployer \(RET for none\)/, 'wrong branch');
  await emacs.said(new RegExp(`${handle}: task interrupted by Ada`));
});

test('hive-history finds past questions, and opens them', async () => {
  await emacs.command('hive-history');
  await emacs.reply(/Search the history for:/, 'merge');
  await emacs.press(/Merge two\? +→ yes \(Ada\)[\s\S]*Merge one\?/, 'M-<', 'Enter');
  await emacs.until(/Hive-Question/);
  await emacs.press(/Merge two\?[\s\S]*1 {2}yes {2}✓[\s\S]*Answer\nyes/, 'q', 'e', 'C-a', 'C-k');
  const file = join(home.folder, 'history.org');
  await emacs.enter(file);
  await emacs.said(/Wrote \d+ entries/);
  expect(readFileSync(file, 'utf8')).toMatch(/^: Merge two\?$/m);
  await emacs.keys('q');
});

test('notices that were sent before Emacs started can be read again', async () => {
  await hive.store.write((tx) =>
    giveNotice(tx, { severity: 'warning', text: 'The Stop guard gave up.', session_id: null }),
  );
  await emacs.said(/Hive: The Stop guard gave up\./);
  const later = await home.emacs();
  await later.command('hive-notices');
  await later.until(/\d+s ago {2}The Stop guard gave up\./);
  await later.close();
});

describe('bad input', () => {
  test('two Emacsen answer the same question: one wins, the other is told', async () => {
    const other = await home.emacs('(setq hive-user-name "Bob")');
    const [id] = await home.asked(emacs, { question: 'Who?', ...YES_NO });
    await other.until(/hive 1\b/);
    await emacs.command('hive-respond');
    await emacs.until(/asks: Who\?/);
    await other.command('hive-next');
    await other.answer(/Who\?[\s\S]*TAB skip/, '2');
    expect(await home.answerTo(id)).toMatchObject({ decision: 'no' });
    await other.said(/Answered|no other questions/);
    await emacs.enter('yes');
    await emacs.said(/was not accepted|is already answered by/);
    expect(await home.answerTo(id)).toMatchObject({ status: 'responded', decision: 'no' });
    await other.close();
  });

  test('nothing failed on the way', async () => {
    const file = join(home.folder, 'messages');
    await emacs.evaluate(`(with-current-buffer "*Messages*" (write-region nil nil ${lisp(file)} nil 0))`);
    expect(await textOf(file)).not.toMatch(/wrong type|void|debugger|invalid/i);
    const log = join(home.folder, 'log');
    await emacs.evaluate(
      `(with-current-buffer (get-buffer-create "*hive log*") (write-region (concat (buffer-string) "end") nil ${lisp(log)} nil 0))`,
    );
    expect(await textOf(log)).not.toMatch(/parameters that this sidecar does not know/);
  });
});
