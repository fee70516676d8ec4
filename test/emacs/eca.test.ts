/**
 * Chats of ECA: the glue in a real Emacs with a real sidecar, against a stand-in that has exactly what the contract names.
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag emacs
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HIVE_ON } from '../support/agent-shell.ts';
import { answerDialog } from '../support/dialogs.ts';
import { lisp } from '../support/emacs.ts';
import { type DrivenEmacs, driveEmacs } from '../support/emacs-driver.ts';
import { HUMAN, noticesOf, openTestHive, SEAT, untilPending, withoutQuotas } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { endsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

let hive: OpenedHive;
let emacs: DrivenEmacs;
beforeEach(async () => {
  const store = tempStore();
  hive = await withoutQuotas(await openTestHive(store));
  emacs = await driveEmacs(store, { env: trusting({ seats: [SEAT] }) });
  await emacs.eval("(require 'eca)");
  await emacs.eval(HIVE_ON);
  await emacs.eval('(progn (defvar session (stand-in-start "one" "two")) t)');
});

const serve = (form: string): Promise<unknown> => emacs.eval(`(progn ${form} t)`);
/** The messages to the server, newest first. */
const sent = (): Promise<unknown> => emacs.eval("(vconcat (mapcar #'vconcat stand-in-sent))");
const untilSent = (): Promise<unknown> => emacs.eval('(progn (driver-wait stand-in-sent) t)');

const pending = (count?: number): Promise<Prompt[]> => untilPending(hive, count);

test('an approval is shown at the desk under the name of its tool, and its answer goes to the chat that asked', async () => {
  await serve('(stand-in-run session "two" "t1" t)');
  const [prompt] = await pending();
  expect(prompt).toMatchObject({
    header: 'shell_command',
    question: 'Run make?',
    options: [{ label: 'Accept' }, { label: 'Accept and remember' }, { label: 'Reject', refuses: true }],
  });
  expect(prompt?.context).toContain('    Build the project');
  await answerDialog(hive, prompt?.ask_id ?? '', 'Accept');
  await untilSent();
  expect(await sent()).toEqual([['notify', 'chat/toolCallApprove', { chatId: 'two', toolCallId: 't1' }]]);
  await serve('(stand-in-settled session "two" "t1" "toolCallRunning")');
  await eventually(async () => (await hive.prompts.get(prompt?.ask_id ?? '')).collected_at !== null);
});

test('accepted and remembered, or refused with a note that the agent gets after its turn', async () => {
  await serve('(progn (kill-buffer (nth 2 session)) (setq session (butlast session)))');
  await serve('(stand-in-content session "one" "progress" :state "running" :text "…")');
  await serve('(stand-in-run session "one" "t1" t)');
  const [first] = await pending();
  await answerDialog(hive, first?.ask_id ?? '', 'Accept and remember');
  await untilSent();
  await serve('(stand-in-settled session "one" "t1" "toolCalled")');
  await serve('(setq stand-in-sent nil)');
  await serve('(stand-in-run session "one" "t2" t)');
  const [second] = await pending();
  await answerDialog(hive, second?.ask_id ?? '', 'Reject', 'Use ninja.');
  await untilSent();
  await serve('(stand-in-settled session "one" "t2" "toolCallRejected")');
  expect(await sent()).toEqual([['notify', 'chat/toolCallReject', { chatId: 'one', toolCallId: 't2' }]]);
  await serve('(stand-in-content session "one" "progress" :state "finished" :text "")');
  await emacs.eval('(progn (driver-wait (cdr stand-in-sent)) t)');
  expect(((await sent()) as unknown[])[0]).toEqual(['prompt', 'one', 'Use ninja.']);
});

test('only what ECA would remember can be accepted and remembered', async () => {
  const run = (id: string, details: string) =>
    serve(`(stand-in-content session "one" "toolCallRun" :id "${id}" :name "x" :server "eca" :arguments '(:command "make")
      :manualApproval t :summary "Build" :details '(${details}))`);
  await run(
    't1',
    ':type "shellCommand" :commands [(:command "make" :approvalKey "make" :remembered t) (:command "rm x")]',
  );
  expect((await pending())[0]?.options.map(({ label }) => label)).toEqual(['Accept', 'Reject']);
  await run(
    't2',
    ':type "shellCommand" :commands [(:command "make" :approvalKey "make") (:command "cat x" :approvalKey "cat")]',
  );
  const remember = (await pending(2))
    .flatMap(({ options }) => options)
    .find(({ label }) => /remember/.test(label));
  expect(remember?.description).toBe('Each make, cat for the rest of this session');
});

test('what a server asked that has ended is withdrawn, and so is its agent', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  const [prompt] = await pending();
  await serve('(eca-delete-session session)');
  await pending(0);
  await eventually(async () => (await hive.sessions.find(prompt?.session_id ?? ''))?.state === 'ended');
});

test('a call that needs no approval is not asked, and an approval that is answered in its buffer or by another client is withdrawn', async () => {
  await serve('(stand-in-run session "one" "t0")');
  for (const type of ['toolCallRunning', 'toolCalled', 'toolCallRejected']) {
    await serve(`(stand-in-run session "one" "${type}" t)`);
    const [prompt] = await pending();
    await serve(`(stand-in-settled session "one" "${type}" "${type}")`);
    await pending(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      cancel_reason: 'answered_elsewhere',
    });
  }
  expect(await sent()).toEqual([]);
});

test('a call that is received twice is asked once', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  await serve('(stand-in-run session "one" "t1" t)');
  await emacs.eval('(progn (driver-settled) t)');
  await pending();
});

test('an answer that comes too late reaches no chat, and the human reads what was answered there', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  const [prompt] = await pending();
  const answered = join(tempFolder(), 'answered');
  // While it evaluates, this Emacs learns of no answer.
  const inBuffer = serve(
    `(while (not (file-exists-p ${lisp(answered)}))) (stand-in-settled session "one" "t1" "toolCallRunning")`,
  );
  await answerDialog(hive, prompt?.ask_id ?? '', 'Reject');
  writeFileSync(answered, '');
  await inBuffer;
  await eventually(async () => (await noticesOf(hive)).length === 1);
  expect((await noticesOf(hive))[0]).toMatch(/came too late\. .* answered in its editor first: Accept\.$/);
  await emacs.eval('(progn (driver-settled) t)');
  expect(await sent()).toEqual([]);
});

test('each chat is an agent of its own: its session is stopped and visited in its own buffer', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  const [one] = await pending();
  await serve('(stand-in-run session "two" "t2" t)');
  const two = (await pending(2)).find(({ ask_id }) => ask_id !== one?.ask_id);
  expect(two?.session_id).not.toBe(one?.session_id);
  await serve(`(hive-terminal-visit ${lisp(two?.session_id ?? '')} "ECA")`);
  expect(await emacs.eval('(eq (nth 2 session) (window-buffer))')).toBe(true);
  const outcome = hive.interrupts.interrupt({ session: two?.session_id ?? '', actor: HUMAN });
  await untilSent();
  expect(await sent()).toEqual([['notify', 'chat/promptStop', { chatId: 'two' }]]);
  await serve('(stand-in-content session "two" "progress" :state "finished" :text "")');
  expect(await outcome).toMatchObject({ outcome: 'aborted' });
  expect(await pending()).toMatchObject([{ ask_id: one?.ask_id }]);
});

test('a prompt of Hive, also the first one, or an answer, leaves what a person is writing in the chat', async () => {
  await serve('(kill-buffer (caddr session))');
  await serve('(stand-in-content session "one" "progress" :state "finished" :text "")');
  await serve(
    `(with-current-buffer (cadr session) (goto-char (point-max)) (insert "half a") (backward-char) (hive-eca--say "Use ninja.")
       (hive-eca--say "Use make."))`,
  );
  expect(await sent()).toEqual([
    ['prompt', 'one', 'Use make.'],
    ['prompt', 'one', 'Use ninja.'],
  ]);
  const typed = () =>
    emacs.eval(
      '(with-current-buffer (cadr session) (concat (buffer-string) "|" (buffer-substring (point) (point-max))))',
    );
  expect(await typed()).toBe('> half a|a');
  await serve(
    '(eca-chat-handle-ask-question session \'(:id 7) \'(:chatId "one" :question "Which?" :options ["red"]))',
  );
  const [prompt] = await pending();
  await serve('(setq stand-in-sent nil)');
  await answerDialog(hive, prompt?.ask_id ?? '', 'red');
  await untilSent();
  expect(await typed()).toBe('> half a|a');
});

test('words for one of several chats reach none of them, because ECA would choose, and the human is told', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  const [prompt] = await pending();
  await serve("(defvar told nil) (advice-add 'hive-notify-say :before (lambda (_ line) (push line told)))");
  await answerDialog(hive, prompt?.ask_id ?? '', 'Reject', 'Use ninja.');
  await untilSent();
  await serve('(stand-in-settled session "one" "t1" "toolCallRejected")');
  await serve('(stand-in-content session "one" "progress" :state "finished" :text "")');
  await serve(
    '(driver-wait (seq-find (lambda (line) (string-search "none of them: Use ninja." line)) told))',
  );
  expect(await sent()).toEqual([['notify', 'chat/toolCallReject', { chatId: 'one', toolCallId: 't1' }]]);
});

test('what a subagent asks is shown in the chat that started it, whose turn goes on after the subagent', async () => {
  await serve('(stand-in-content session "two" "progress" :state "running" :text "…")');
  await serve('(let ((stand-in-parent "two")) (stand-in-run session "sub" "t1" t))');
  const [prompt] = await pending();
  await serve(
    '(let ((stand-in-parent "two")) (stand-in-content session "sub" "progress" :state "finished" :text ""))',
  );
  await emacs.eval('(progn (driver-settled) t)');
  expect(await endsOf(hive, prompt?.session_id)).toEqual(['in_progress']);
  await answerDialog(hive, prompt?.ask_id ?? '', 'Accept');
  await untilSent();
  expect(await sent()).toEqual([['notify', 'chat/toolCallApprove', { chatId: 'sub', toolCallId: 't1' }]]);
  await serve(`(hive-terminal-visit ${lisp(prompt?.session_id ?? '')} "ECA")`);
  expect(await emacs.eval('(eq (nth 2 session) (window-buffer))')).toBe(true);
});

const ASK = `(eca-chat-handle-ask-question session '(:id 9) '(:chatId "one" :question "Which?"
  :options [(:label "Blue" :description "Calm") "Red"] :allowFreeform t))`;

test('a question is a form, and its answer tidies the buffer', async () => {
  await serve(ASK);
  const [prompt] = await pending();
  expect(prompt).toMatchObject({ kind: 'question', header: 'ECA asks', allow_free_text: true });
  expect(prompt?.options.slice(0, 2)).toEqual([
    { label: 'Blue', description: 'Calm' },
    { label: 'Red', description: null },
  ]);
  await answerDialog(hive, prompt?.ask_id ?? '', 'Green');
  await untilSent();
  expect(await sent()).toEqual([['respond', 9, { answer: 'Green', cancelled: false }]]);
  expect(await emacs.eval('(eca-chat-status (cadr session))')).toBe('idle');
});

test('a question that is declined at a desk is declined in its buffer', async () => {
  await serve(ASK);
  const [prompt] = await pending();
  await answerDialog(hive, prompt?.ask_id ?? '', 'Decline');
  await untilSent();
  expect(await sent()).toEqual([['respond', 9, { answer: null, cancelled: true }]]);
  expect(await emacs.eval('(eca-chat-status (cadr session))')).toBe('idle');
});

test('of two questions at once each gets its own answer, although the buffer shows only the second', async () => {
  await serve(ASK);
  const [first] = await pending();
  await serve(ASK.replace(':id 9', ':id 10').replace('Which?', 'What else?'));
  await pending(2);
  await answerDialog(hive, first?.ask_id ?? '', 'Blue');
  await untilSent();
  expect(await sent()).toEqual([['respond', 9, { answer: 'Blue', cancelled: false }]]);
  const [second] = await pending();
  expect(second?.question).toContain('What else?');
  expect(await emacs.eval('(eca-chat-status (cadr session))')).toBe('waiting-answer');
  await answerDialog(hive, second?.ask_id ?? '', 'Red');
  await emacs.eval('(progn (driver-wait (cdr stand-in-sent)) t)');
  expect(await sent()).toMatchObject([['respond', 10, { answer: 'Red' }], {}]);
  expect(await emacs.eval('(eca-chat-status (cadr session))')).toBe('idle');
});

test('a question that is answered in its buffer is withdrawn', async () => {
  await serve(ASK);
  const [prompt] = await pending();
  await serve('(with-current-buffer (cadr session) (eca-chat--answer-question "Red"))');
  await pending(0);
  expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({ cancel_reason: 'answered_elsewhere' });
});

test('a turn is known, can be stopped from the desk, and its questions are withdrawn with it', async () => {
  await serve('(stand-in-content session "one" "progress" :state "running" :text "…")');
  await serve('(stand-in-run session "one" "t1" t)');
  const [prompt] = await pending();
  const outcome = hive.interrupts.interrupt({ session: prompt?.session_id ?? '', actor: HUMAN });
  await untilSent();
  expect(await sent()).toEqual([['notify', 'chat/promptStop', { chatId: 'one' }]]);
  await serve('(stand-in-content session "one" "progress" :state "finished" :text "")');
  expect(await outcome).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted' });
  await pending(0);
  // The next turn ends by itself.
  await serve('(stand-in-content session "one" "progress" :state "running" :text "…")');
  await serve('(stand-in-content session "one" "progress" :state "finished" :text "")');
  await emacs.eval('(progn (driver-settled) t)');
  expect(await endsOf(hive, prompt?.session_id)).toEqual([expect.stringMatching(/interrupted/), 'completed']);
});

test('an idle chat is told that it has an answer, if it is the only one of its session, and j goes there', async () => {
  await serve('(kill-buffer (caddr session))');
  await serve('(stand-in-run session "one" "t1" t)');
  const [{ session_id = '', ask_id = '' } = {}] = await pending();
  await answerDialog(hive, ask_id, 'Accept');
  await untilSent();
  await serve('(stand-in-settled session "one" "t1" "toolCallRunning")');
  const { prompt } = await hive.prompts.ask(
    { question: 'Deploy?', options: ['yes', 'no'] },
    await hive.sessions.resolve(session_id),
  );
  await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
  await serve('(stand-in-content session "one" "progress" :state "finished" :text "")');
  await serve("(driver-wait (eq 'prompt (caar stand-in-sent)))");
  expect(((await sent()) as unknown[][])[0]).toEqual([
    'prompt',
    'one',
    expect.stringContaining(`call hivemind_poll {"ask_id": "${prompt.ask_id}"}`),
  ]);
  await serve(`(switch-to-buffer "*scratch*") (hive-terminal-visit "${session_id}" "ECA")`);
  expect(await emacs.eval('(eq (cadr session) (window-buffer))')).toBe(true);
});

test('the questions of a chat that is killed are withdrawn, and without Hive no function is advised', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  const [prompt] = await pending();
  await serve('(kill-buffer (cadr session))');
  await pending(0);
  await emacs.eval('(progn (driver-settled) t)');
  expect((await hive.sessions.find(prompt?.session_id ?? ''))?.state).toBe('ended');
  await serve('(hive-mode -1)');
  expect(await emacs.eval("(advice-member-p 'hive-eca--received 'eca-chat-content-received)")).toBeNull();
});

test('Hive that is turned off and on again has the chats again', async () => {
  await serve('(stand-in-run session "one" "t1" t)');
  await pending();
  await serve('(hive-mode -1)');
  await pending(0);
  await emacs.eval(HIVE_ON);
  await serve('(stand-in-run session "one" "t2" t)');
  const [prompt] = await pending();
  await answerDialog(hive, prompt?.ask_id ?? '', 'Accept');
  await untilSent();
  expect(await sent()).toEqual([['notify', 'chat/toolCallApprove', { chatId: 'one', toolCallId: 't2' }]]);
});
