/**
 * Focus and a mouse, which only a graphical Emacs has.
 *
 * @module-tag undisturbed
 * @module-tag emacs
 * @module-tag popup
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Urgency } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { lisp, openEmptyHome } from '../support/emacs.ts';
import { type Graphical, graphicalEmacs, openGraphical } from '../support/emacs-gtk.ts';
import { ask as askHive, HUMAN, openTestHive } from '../support/hive.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { recorded } from '../support/popup-trail.ts';
import { eventually, within } from '../support/wait.ts';

let desktop: Desktop;
let emacs: Graphical;
let hive: OpenedHive;

beforeFile(async () => {
  desktop = closedAtEnd(await startDesktop());
  // Its Emacs runs below this process, which therefore must be no agent.
  const home = await openEmptyHome();
  hive = await openTestHive(home.store);
  const notes = join(home.folder, 'notes.txt');
  writeFileSync(notes, 'Continue with your work.  The mode line counts the open questions.\n');
  emacs = closedAtEnd(
    await openGraphical(
      graphicalEmacs(),
      home,
      desktop,
      `(progn (tool-bar-mode -1) (find-file ${lisp(notes)}))`,
    ),
  );
});

async function ask(question: string, urgency: Urgency = 'normal'): Promise<string> {
  const options = [{ label: 'yes' }, { label: 'no' }];
  const prompt = await askHive(hive, { question, options, urgency });
  const known = `(and (hive-model-prompt ${lisp(prompt.ask_id)}) t)`;
  await eventually(async () => (await emacs.value(known)) === 't', undefined, 'the question in Emacs');
  return prompt.ask_id;
}

/** Gives Emacs the focus, or takes it away; then its desk is recorded as such, by which popups are decided. */
async function focus(has: boolean): Promise<void> {
  await emacs.focus(has);
  const desks = () => hive.store.read((tx) => tx.desks.online(tx.now));
  await eventually(async () => (await desks()).map(({ focused }) => focused).join() === String(has));
}

async function answerTo(ask_id: string) {
  await eventually(async () => (await hive.prompts.get(ask_id)).status === 'responded', 10_000);
  return hive.prompts.get(ask_id);
}

/** Within the last glyph of `text` in the window of the buffer. */
const placeOf = async (buffer: string, text: string): Promise<{ x: number; y: number }> =>
  pixel(`(with-selected-window (get-buffer-window ${lisp(buffer)} t)
    (save-excursion (goto-char (point-min)) (search-forward ${lisp(text)}) (redisplay t)
      (let ((at (posn-x-y (posn-at-point (1- (point))))) (edges (window-inside-pixel-edges)))
        (list (+ (car at) (car edges) 4) (+ (cdr at) (cadr edges) 6)))))`);

async function pixel(form: string): Promise<{ x: number; y: number }> {
  let found: number[] = [];
  // It may not be drawn yet.
  await eventually(async () => {
    found = (await emacs.value(form)).match(/\d+/g)?.map(Number) ?? [];
    return found.length === 2;
  });
  const [x = 0, y = 0] = found;
  return { x, y };
}

test('popups come only while it does not have the focus, because otherwise the echo area announces them', async () => {
  await focus(true);
  const here = await ask('Do you see me?');
  expect(await recorded(hive, here)).toMatchObject({ reason: 'focused' });
  await focus(false);
  const away = await ask('And now?');
  expect(await recorded(hive, away)).toMatchObject({ outcome: 'sent' });
  await eventually(() => desktop.sent.length > 0, undefined, 'the popup on the desktop');
  expect(desktop.sent.map(({ body }) => body)).toEqual(['And now?']);
  await focus(true);
});

test('a click on the count in the mode line offers the question, a key answers it', async () => {
  const { x, y } = await pixel(`(progn (redisplay t)
    (let* ((edges (window-pixel-edges)) (y (- (nth 3 edges) 6)))
      (cl-loop for x from (car edges) below (nth 2 edges) by 2
        for string = (car (posn-string (posn-at-x-y x y nil t)))
        when (and string (string-match-p "hive [0-9]" string)) return (list (+ x 8) y))))`);
  await emacs.click({ x, y });
  await eventually(async () => (await emacs.value('(current-message)')).includes('Do you see me?'));
  // A key counts once the question has been on the screen for a moment; before that it is dropped.
  const asksNext = async (): Promise<boolean> =>
    (await emacs.value('(current-message)')).includes('And now?');
  const pressUntil = (key: string, done: () => Promise<boolean>): Promise<void> =>
    eventually(async () => {
      await emacs.key(key);
      return within(done, 1_000);
    });
  await pressUntil('2', asksNext);
  await pressUntil('q', async () => !(await asksNext()));
  expect(await emacs.value('(length (hive-prompts))')).toBe('1');
});

test('a click on a button of a question answers with it', async () => {
  const ask_id = await ask('Which one?');
  const shown = await emacs.value(
    `(progn (hive-prompt-show (hive-model-prompt ${lisp(ask_id)})) (buffer-name))`,
  );
  const buffer = JSON.parse(shown) as string;
  expect(buffer).toMatch(/^\*hive: .* – Which one\?\*$/);
  await emacs.click(await placeOf(buffer, ' 2  no'));
  expect(await answerTo(ask_id)).toMatchObject({ decision: 'no', selected: ['no'], via: 'emacs' });
});

test('what a child frame covers of the echo area does not count as displayed', async () => {
  const isDrawn = (value: 't' | 'nil') =>
    eventually(async () => (await emacs.value('(and (hive-display-draw "Deploy?") t)')) === value);
  await isDrawn('t');
  // As a completion shows it, at the top of its parent first.
  await emacs.value(`(setq child (make-frame (list (cons 'parent-frame (selected-frame)) '(minibuffer . nil)
    '(no-accept-focus . t) '(no-focus-on-map . t) '(left . 0) '(top . 0) '(width . 20) '(height . 3))))`);
  await isDrawn('t');
  await emacs.value('(set-frame-position child 0 (- (frame-pixel-height) 20))');
  await isDrawn('nil');
  await emacs.value('(make-frame-invisible child)');
  await isDrawn('t');
  await emacs.value('(delete-frame child)');
});

test('what a child frame covers of a window does not count as displayed', async () => {
  const options = [{ label: 'Allow' }, { label: 'Deny' }];
  const { ask_id } = await askHive(hive, {
    kind: 'permission',
    question: 'Run make?',
    context: 'make clean\nmake',
    options,
  });
  const prompt = `(hive-model-prompt ${lisp(ask_id)})`;
  await eventually(async () => (await emacs.value(`(and ${prompt} t)`)) === 't');
  const isDisplayed = async (): Promise<boolean> => {
    await emacs.value('(hive-display-record)');
    return (await emacs.value(`(and (hive-display-digest ${prompt}) t)`)) === 't';
  };
  // At the right edge of its window, over the first lines.
  await emacs.value(`(progn (delete-other-windows) (setq child (make-frame (list (cons 'parent-frame (selected-frame))
    '(minibuffer . nil) '(no-accept-focus . t) '(no-focus-on-map . t) '(left . -1) '(top . 40) '(width . 20) '(height . 3)))))`);
  await eventually(async () => (await emacs.value('(frame-visible-p child)')) === 't');
  await emacs.value('(set-frame-position child (- (frame-pixel-width) 220) 40)');
  await eventually(async () => (await emacs.value('(< 0 (car (frame-position child)))')) === 't');
  await emacs.value(`(switch-to-buffer (hive-prompt-buffer ${prompt}))`);
  const text = '(with-current-buffer (window-buffer) (and (string-search "make clean" (buffer-string)) t))';
  await eventually(async () => (await emacs.value(text)) === 't');
  expect(await isDisplayed()).toBe(false);
  // Beside it, over another window.
  await emacs.value('(set-window-buffer (split-window-right) (get-buffer "*scratch*"))');
  await eventually(isDisplayed);
  await emacs.value('(progn (delete-frame child) (delete-other-windows) (kill-buffer))');
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
});

test('a key in another frame answers nothing until the question was shown there', async () => {
  const ask_id = await ask('In which frame?', 'critical');
  await emacs.value("(global-set-key [f5] 'hive-next)");
  await emacs.key('F5');
  const isShown = async (): Promise<boolean> =>
    (await emacs.value('(current-message)')).includes('In which frame?');
  await eventually(isShown);
  await emacs.value('(x-focus-frame (setq other (make-frame)))');
  await eventually(async () => (await emacs.value('(frame-focus-state other)')) === 't');
  // The key selects the frame in which it is pressed, and the question is shown there.
  await eventually(async () => {
    await emacs.key('2');
    return within(async () => (await emacs.value('(eq (selected-frame) other)')) === 't', 1_000);
  });
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
  await eventually(async () => {
    await emacs.key('2');
    return within(async () => (await hive.prompts.get(ask_id)).status === 'responded', 1_000);
  });
});
