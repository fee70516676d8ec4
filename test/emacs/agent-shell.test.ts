/**
 * Agents in agent-shell: the glue in a real Emacs with a real sidecar, against a stand-in that has exactly what the contract
 * names. What agent-shell itself does with it is tested beside a copy of it (test/editors).
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { beginShell, HIVE_ON, OFFERED, type Shell, SOME_PROCESS, shellOf } from '../support/agent-shell.ts';
import { answerDialog } from '../support/dialogs.ts';
import { type DrivenEmacs, driveEmacs } from '../support/emacs-driver.ts';
import { HUMAN, introduction, openTestHive, SEAT, withoutQuotas } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempStore } from '../support/temp.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

let store: string;
let hive: OpenedHive;
let emacs: DrivenEmacs;
let inShell: Shell['inShell'];
let ask: Shell['ask'];
let sent: Shell['sent'];
let answers: Shell['answers'];
let untilSent: Shell['untilSent'];
let settle: Shell['settle'];
let pending: Shell['pending'];
beforeEach(async () => {
  store = tempStore();
  hive = await withoutQuotas(await openTestHive(store));
  emacs = await driveEmacs(store, { env: trusting({ seats: [SEAT] }) });
  ({ inShell, ask, sent, answers, untilSent, settle, pending } = shellOf(emacs, hive));
});

const begin = (client_id?: string, process?: string): Promise<void> =>
  beginShell(emacs, {
    ...(client_id === undefined ? {} : { client_id }),
    ...(process === undefined ? {} : { process }),
  });

describe('a permission', () => {
  test('is at the desk as the agent asks it, and in its buffer', async () => {
    await begin();
    await ask(
      7,
      '\'(:diffs ((:old . "one") (:new . "two") (:file . "/demo/a.txt")))',
      '\'(:locations . [((path . "/demo/b"))])',
    );
    const [prompt] = await pending();
    expect(prompt).toMatchObject({
      kind: 'permission',
      dialog: true,
      header: 'execute',
      question: 'Run make?',
      options: [
        { label: 'Always Allow', description: 'From now on; the agent decides what this covers' },
        { label: 'Allow', description: 'This once' },
        { label: 'Reject', description: 'Refuse this once', refuses: true },
      ],
    });
    for (const text of ['    make', '- one', '+ two', '/demo/a.txt', '/demo/b', '    Build the project'])
      expect(prompt?.context).toContain(text);
    expect(await inShell('(stand-in-dialogs)')).toBe(1);
  });

  test('answered at a desk, goes to the agent once, and its dialog is removed', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    const ask_id = prompt?.ask_id ?? '';
    await answerDialog(hive, ask_id, 'Allow');
    expect(await untilSent(1)).toEqual([['answer', '0', 'once']]);
    expect(await inShell('(stand-in-dialogs)')).toBe(0);
    await eventually(async () => (await hive.prompts.get(ask_id)).collected_at !== null);
    await settle();
    expect(await answers()).toHaveLength(1);
  });

  test('answered in its buffer, it is withdrawn at the desk', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    await inShell('(progn (stand-in-press 0 "once") t)');
    await pending(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
    });
    expect(await answers()).toEqual([['answer', '0', 'once']]);
  });

  test('whose call is described anew is asked again: no answer to what was shown before reaches the agent', async () => {
    await begin();
    await ask(0);
    const [before] = await pending();
    await inShell(`(progn (stand-in-describe 0 '(:status . "in_progress")) t)`);
    await settle();
    expect((await pending())[0]?.ask_id).toBe(before?.ask_id);
    await inShell(`(progn (stand-in-describe 0 '(:raw-input . ((command . "rm -rf /")))) ${OFFERED} t)`);
    await eventually(async () => (await pending())[0]?.question === 'Run rm -rf /?');
    expect(await hive.prompts.get(before?.ask_id ?? '')).toMatchObject({ status: 'cancelled' });
    expect(await answers()).toEqual([]);
    await answerDialog(hive, (await pending())[0]?.ask_id ?? '', 'Reject');
    expect(await untilSent(1)).toEqual([['answer', '0', 'no']]);
    expect(await inShell('(stand-in-dialogs)')).toBe(0);
  });

  test('whose call is described in full a moment later is asked once', async () => {
    await begin();
    const inFull = `'(:raw-input . ((command . "make") (description . "Build it")))`;
    await inShell(
      `(progn (stand-in-ask 0 '((command . "make"))) (stand-in-describe 0 ${inFull}) ${OFFERED} t)`,
    );
    const [prompt] = await pending();
    expect(prompt?.context).toContain('Build it');
    expect((await hive.prompts.list({ limit: 10 })).items).toHaveLength(1);
  });

  test('two at once are answered separately', async () => {
    await begin();
    await ask(0);
    await ask(1);
    const prompts = await pending(2);
    await answerDialog(hive, prompts.at(-1)?.ask_id ?? '', 'Reject');
    await untilSent(1);
    await inShell(`(progn (stand-in-press ${(await answers())[0]?.[1] === '0' ? 1 : 0} "once") t)`);
    await pending(0);
    const ids = (await answers()).map(([, id]) => id);
    expect(ids.sort()).toEqual(['0', '1']);
  });

  test('a prompt of Hive for an idle agent waits for the one that its person is writing', async () => {
    await begin();
    await inShell(
      '(progn (stand-in-complete "end_turn") (make-process :name "shell" :buffer shell :command (list "cat")) t)',
    );
    await inShell(
      '(progn (set-marker (process-mark (get-buffer-process shell)) (goto-char (point-max))) (insert "half a") t)',
    );
    await inShell('(progn (hive-agent-shell--say "An answer is there.") t)');
    expect((await sent()).slice(1)).toEqual([]);
    await inShell(
      '(progn (delete-region (process-mark (get-buffer-process shell)) (point-max)) (stand-in-submit "half a thought") t)',
    );
    await inShell('(progn (driver-wait stand-in--queue) (stand-in-complete "end_turn") t)');
    expect((await sent()).slice(1)).toEqual([
      ['prompt', 'half a thought'],
      ['prompt', 'An answer is there.'],
    ]);
    await inShell('(progn (delete-process (get-buffer-process shell)) t)');
  });

  test('refused with a note, the note is queued as the next prompt', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    await answerDialog(hive, prompt?.ask_id ?? '', 'Reject', 'Use ninja.');
    await untilSent(1);
    await emacs.eval("(progn (driver-wait (buffer-local-value 'stand-in--queue shell)) t)");
    await inShell('(progn (stand-in-complete "end_turn") t)');
    expect((await sent()).slice(-2)).toEqual([
      ['answer', '0', 'no'],
      ['prompt', 'Use ninja.'],
    ]);
  });

  test('what was pending before Hive was on can be answered at the desk', async () => {
    await emacs.eval("(require 'agent-shell)");
    await emacs.eval('(progn (defvar shell (stand-in-start "Gemini")) t)');
    await inShell('(progn (stand-in-submit "Go on") t)');
    await ask(3);
    await emacs.eval(HIVE_ON);
    await inShell(OFFERED);
    const [prompt] = await pending();
    await answerDialog(hive, prompt?.ask_id ?? '', 'Reject');
    expect(await untilSent(1)).toEqual([['answer', '3', 'no']]);
    expect(await inShell('(stand-in-dialogs)')).toBe(0);
  });

  test('the responder of the user is kept: what it answers is not offered, and it works as before without Hive', async () => {
    await emacs.eval("(require 'agent-shell)");
    await emacs.eval(`(setq agent-shell-permission-responder-function
      (lambda (permission) (when (eql 1 (map-nested-elt permission '(:tool-call :permission-request-id)))
        (funcall (map-elt permission :respond) "once") t)))`);
    await begin();
    await ask(1);
    expect(await untilSent(1)).toEqual([['answer', '1', 'once']]);
    await ask(2);
    expect(await pending()).toHaveLength(1);
    await emacs.eval('(progn (hive-mode -1) t)');
    await ask(1);
    expect(await untilSent(2)).toHaveLength(2);
    expect(await emacs.eval('(functionp agent-shell-permission-responder-function)')).toBe(true);
  });

  test('an answer for an agent that has ended is told to the human, and nothing else happens', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    await inShell('(progn (setf (alist-get :dead agent-shell--state) t) t)');
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await emacs.eval(`(progn (driver-wait (with-current-buffer "*hive log*" (save-excursion (goto-char (point-min))
      (search-forward "could not be given" nil t)))) t)`);
    expect(await answers()).toEqual([]);
    expect((await hive.prompts.get(prompt?.ask_id ?? '')).collected_at).toBeNull();
  });

  test('an answer that could not be given is asked for again when the agent asks something else', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    await inShell('(progn (setf (alist-get :dead agent-shell--state) t) t)');
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await emacs.eval(`(progn (driver-wait (zerop (hash-table-count hive-editors--dialogs))) t)`);
    await inShell('(progn (setf (alist-get :dead agent-shell--state) nil) t)');
    await ask(1, '\'(:title . "Test the project")');
    expect(await pending(2)).toMatchObject([{}, {}]);
    expect(await answers()).toEqual([]);
  });

  test('moves no point and no window of the human', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    const place = `(list (buffer-name (window-buffer)) (point) (length (window-list))
      (with-current-buffer shell (point)))`;
    await inShell('(progn (goto-char (point-min)) (insert "one two") (goto-char 3) t)');
    await emacs.eval('(progn (switch-to-buffer "*scratch*") (insert "one two") (goto-char 5) t)');
    const before = await emacs.eval(place);
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await untilSent(1);
    expect(await emacs.eval(place)).toEqual(before);
  });
});

describe('everything of a buffer is withdrawn', () => {
  test.each([
    ['when its turn ends', '(stand-in-complete "end_turn")'],
    ['when its agent fails', '(stand-in-fail)'],
    ['when it is killed', '(kill-buffer)'],
  ])('%s', async (_, form) => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    await inShell(`(progn ${form} t)`);
    await pending(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      decision: null,
    });
    await eventually(async () => (await hive.turns.running()).length === 0);
    expect(await answers()).toEqual([]);
  });

  test('when its Emacs is killed: nothing is allowed', async () => {
    await begin();
    await ask(0);
    const [prompt] = await pending();
    await emacs.kill('SIGKILL');
    await pending(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      decision: null,
    });
  });
});

test('a sidecar that is killed is started again, and what is pending is asked again', async () => {
  await begin();
  await ask(0);
  const [before] = await pending();
  process.kill(await emacs.sidecar(), 'SIGKILL');
  await emacs.eval(
    '(progn (driver-wait (not (hive-sidecar-connected-p))) (driver-wait (hive-sidecar-connected-p)) t)',
  );
  let now: Prompt | undefined;
  await eventually(async () => {
    [now] = await pending();
    return now !== undefined && now.ask_id !== before?.ask_id;
  });
  await answerDialog(hive, now?.ask_id ?? '', 'Reject');
  expect(await untilSent(1)).toEqual([['answer', '0', 'no']]);
  expect((await hive.turns.running()).map(({ session }) => session.handle)).toEqual([now?.agent]);
});

describe('an agent', () => {
  const SESSION = "(hive-editor-id (buffer-local-value 'hive-agent-shell--agent shell))";

  test('is a session with a turn, busy, blocked and ready', async () => {
    await begin();
    const id = (await emacs.eval(SESSION)) as string;
    await eventually(async () => (await hive.sessions.find(id))?.client === 'Gemini');
    const doing = `(progn (hive-model-refresh-sessions) (driver-settled)
      (driver-wait (and (hive-model-sessions) (hive-model-complete-p)))
      (hive-sessions--doing (car (hive-sessions-rows nil))))`;
    await eventually(async () => /^running/.test(String(await emacs.eval(doing))));
    await ask(0);
    await pending();
    await eventually(async () => /blocked for/.test(String(await emacs.eval(doing))));
    await inShell('(progn (stand-in-complete "end_turn") t)');
    await eventually(async () => /completed/.test(String(await emacs.eval(doing))));
  });

  test('inherits its session and that an editor shows it; Hive’s own sidecar does not', async () => {
    await begin();
    expect(await inShell(`(list (getenv "HIVE_EDITOR") (equal (getenv "HIVE_SESSION") ${SESSION}))`)).toEqual(
      ['agent-shell', true],
    );
    expect(
      await inShell(
        '(seq-some (lambda (one) (string-match-p "HIVE_SESSION" one)) (hive-program-environment))',
      ),
    ).toBeNull();
  });

  test('is interrupted from the desk: what it asks is cancelled, and its turn is recorded as stopped', async () => {
    await begin();
    await ask(0);
    await pending();
    const id = (await emacs.eval(SESSION)) as string;
    const outcome = hive.interrupts.interrupt({ session: id, actor: HUMAN });
    await emacs.eval("(progn (driver-wait (equal '(cancel) (cdar stand-in-sent))) t)");
    await inShell('(progn (stand-in-complete "cancelled") t)');
    expect(await outcome).toMatchObject({ outcome: 'aborted' });
    expect((await turnsOf(hive, id))[0]).toMatchObject({ abort_reason: 'interrupted' });
    await pending(0);
    expect((await sent()).slice(-2)).toEqual([['answer', '0', 'cancelled'], ['cancel']]);
  });

  test('is woken when it is idle and has an answer', async () => {
    await begin();
    const id = (await emacs.eval(SESSION)) as string;
    await settle();
    const { prompt } = await hive.prompts.ask(
      { question: 'Deploy?', options: ['yes', 'no'] },
      await hive.sessions.resolve(id),
    );
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    await settle();
    expect((await sent()).filter(([what]) => what === 'prompt')).toHaveLength(1);
    await inShell('(progn (stand-in-complete "end_turn") t)');
    await emacs.eval("(progn (driver-wait (< 1 (cl-count 'prompt stand-in-sent :key #'cadr))) t)");
    expect((await sent()).at(-1)?.[1]).toContain(`call hivemind_poll {"ask_id": "${prompt.ask_id}"}`);
  });

  test('leaves the list with its buffer', async () => {
    await begin();
    const id = (await emacs.eval(SESSION)) as string;
    await settle();
    await inShell('(kill-buffer)');
    await settle();
    expect((await hive.sessions.find(id))?.state).toBe('ended');
    expect(await emacs.eval('(hive-editors-known)')).toBeNull();
  });

  test('is where j goes, at its dialog', async () => {
    await begin();
    await ask(0);
    await inShell('(progn (goto-char (point-max)) (insert "more") t)');
    await emacs.eval(`(progn (switch-to-buffer "*scratch*") (hive-terminal-visit ${SESSION} "Gemini") t)`);
    expect(await emacs.eval('(list (eq shell (window-buffer)) (looking-at "\\\\[dialog 0"))')).toEqual([
      true,
      true,
    ]);
  });

  test('whose own hooks ask for it is left to them, also when they begin later: nothing is asked twice', async () => {
    await hive.sessions.introduce(introduction({ session_id: 'claude-1' }));
    await begin('"claude-1"', SOME_PROCESS);
    await hive.store.write((tx) => tx.sessions.touchByHook('claude-1', tx.now));
    await ask(0);
    await settle();
    await settle();
    expect((await hive.prompts.list({ limit: 5 })).items).toEqual([]);
    expect(await inShell('(stand-in-dialogs)')).toBe(1);
    await emacs.eval('(progn (switch-to-buffer "*scratch*") (hive-terminal-visit "claude-1" "Claude") t)');
    expect(await emacs.eval('(eq shell (window-buffer))')).toBe(true);
  });
});
