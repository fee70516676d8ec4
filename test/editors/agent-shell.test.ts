/**
 * The real agent-shell, where HIVE_TEST_AGENTSHELL names the folders of a copy and of what it needs (CONTRIBUTING.md): it keeps
 * the contract that the stand-in is made from, and Hive works with it. HIVE_TEST_EMACS is an Emacs that can run it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HIVE, ROOT } from '../support/children.ts';
import { answerDialog } from '../support/dialogs.ts';
import { lisp } from '../support/emacs.ts';
import { type DrivenEmacs, driveEmacs, STAND_INS } from '../support/emacs-driver.ts';
import { HUMAN, newHive, SEAT, untilPending } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempFolder, tempStore } from '../support/temp.ts';

interface Contract {
  functions: Record<string, { arguments: string; since: string }>;
  variables: Record<string, string>;
  private: Record<string, string>;
}

const CONTRACT = JSON.parse(readFileSync(join(STAND_INS, 'contracts/agent-shell.json'), 'utf8')) as Contract;
const copy = process.env['HIVE_TEST_AGENTSHELL']?.split(delimiter) ?? null;
const program = process.env['HIVE_TEST_EMACS'] ?? 'emacs';

/** The missing ones of those in the contract that this version should have. */
const missing = (version: string): string => {
  const functions = Object.entries(CONTRACT.functions).map(
    ([name, { since }]) => `(${lisp(since)} fboundp ${name})`,
  );
  const variables = Object.keys(CONTRACT.variables).map((name) => `("0" boundp ${name})`);
  return `(vconcat (cl-loop for (since test name) in '(${[...functions, ...variables].join(' ')})
    unless (or (version< ${version} since) (funcall test name)) collect (symbol-name name)))`;
};

test('the stand-in has every name of the contract', async () => {
  const emacs = await driveEmacs(tempStore());
  await emacs.eval("(require 'agent-shell)");
  expect(await emacs.eval(missing('"999"'))).toEqual([]);
  const names = Object.keys(CONTRACT.private).join(' ');
  expect(await emacs.eval(`(cl-every (lambda (one) (or (boundp one) (fboundp one))) '(${names}))`)).toBe(
    true,
  );
});

const AGENT = join(ROOT, 'test/process/children/acp-agent.ts');

interface Shell {
  hive: OpenedHive;
  emacs: DrivenEmacs;
  file: string;
  say(text: string): Promise<unknown>;
  pending(count?: number): Promise<Prompt[]>;
}

/** A shell of the real agent-shell, whose scripted agent asks whether it may write a file. `before`: a command before the agent's. */
async function openShell(before: readonly string[] = []): Promise<Shell> {
  const { store, hive } = await newHive();
  const emacs = await driveEmacs(store, { env: trusting({ seats: [SEAT] }), path: copy ?? [], program });
  const folder = tempFolder();
  const file = join(folder, 'made');
  await emacs.eval("(require 'agent-shell)");
  await emacs.eval(
    '(progn (hive-mode 1) (driver-wait (and (hive-sidecar-connected-p) (hive-model-complete-p))) t)',
  );
  await emacs.eval(`(progn (setq default-directory ${lisp(`${folder}/`)})
    (defvar shell (agent-shell-start :config (agent-shell-make-agent-config
      :identifier 'scripted :mode-line-name "Scripted" :buffer-name "Scripted" :shell-prompt "Scripted> "
      :shell-prompt-regexp "Scripted> "
      :client-maker (lambda (buffer) (acp-make-client :context-buffer buffer
        :command ${lisp(process.execPath)}
        :command-params (list ${[...before, AGENT].map(lisp).join(' ')})))))) t)`);
  await emacs.eval(`(progn (setq shell (car (agent-shell-buffers))) t)`);
  const say = (text: string): Promise<unknown> =>
    emacs.eval(`(progn (with-current-buffer shell (hive-agent-shell--say ${lisp(text)})) t)`);
  await say(`${before.length === 0 ? 'write' : 'form'} ${file}`);
  return {
    say,
    hive,
    emacs,
    file,
    async pending(count = 1) {
      await emacs.eval(`(progn (driver-wait (= ${count} (length (hive-prompts)))) t)`);
      return untilPending(hive, count);
    },
  };
}

if (copy !== null) {
  test('agent-shell has every name of the contract that its version should have', async () => {
    const emacs = await driveEmacs(tempStore(), { path: copy, program });
    await emacs.eval("(require 'agent-shell)");
    const version = '(lm-version (locate-library "agent-shell.el"))';
    expect(await emacs.eval(`(progn (require 'lisp-mnt) ${missing(version)})`)).toEqual([]);
  });

  test('a permission is answered at the desk, once, and the agent acts', async () => {
    const { hive, emacs, file, pending } = await openShell();
    const [prompt] = await pending();
    expect(prompt).toMatchObject({ options: [{ label: 'Allow' }, { label: 'Reject', refuses: true }] });
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    await emacs.eval(`(progn (driver-wait (file-exists-p ${lisp(file)})) t)`);
    expect(readFileSync(file, 'utf8')).toBe('written\n');
    await emacs.eval('(progn (driver-wait (null (hive-turns-running))) t)');
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({ status: 'responded' });
  });

  test('a permission is answered in its buffer, and the desk’s question falls', async () => {
    const { hive, emacs, file, pending } = await openShell();
    const [prompt] = await pending();
    await emacs.eval(`(with-current-buffer shell (agent-shell-jump-to-latest-permission-button-row)
      (call-interactively (key-binding (kbd "RET") nil nil (point))) t)`);
    await pending(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'answered_elsewhere',
      decision: null,
    });
    await emacs.eval(`(progn (driver-wait (file-exists-p ${lisp(file)})) t)`);
    expect(readFileSync(file, 'utf8')).toBe('written\n');
  });

  test('words with a refusal are the next prompt', async () => {
    const { hive, emacs, file, pending } = await openShell();
    const [prompt] = await pending();
    await answerDialog(hive, prompt?.ask_id ?? '', 'Reject', `write ${file}-2`);
    // Emacs acts on the answer while it waits for this.
    await emacs.eval(`(progn (driver-wait (with-current-buffer shell
      (save-excursion (goto-char (point-min)) (search-forward "made-2" nil t)))) t)`);
    const [next] = await pending();
    expect(next?.ask_id).not.toBe(prompt?.ask_id);
    await answerDialog(hive, next?.ask_id ?? '', 'Allow');
    await emacs.eval(`(progn (driver-wait (file-exists-p ${lisp(`${file}-2`)})) t)`);
    expect(existsSync(file)).toBe(false);
  });

  test('an interrupt from the desk stops the turn, and nothing is allowed', async () => {
    const { hive, emacs, file, pending } = await openShell();
    const [prompt] = await pending();
    const outcome = hive.interrupts.interrupt({ session: prompt?.session_id ?? '', actor: HUMAN });
    await emacs.eval('(progn (driver-wait (null (hive-turns-running))) t)');
    expect(await outcome).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted' });
    await pending(0);
    expect(existsSync(file)).toBe(false);
  });

  test('an idle agent with an answer is given a prompt that says so, and j goes to its buffer', async () => {
    const { hive, emacs, pending } = await openShell();
    const [asked] = await pending();
    const session_id = asked?.session_id ?? '';
    await answerDialog(hive, asked?.ask_id ?? '', 'Reject');
    await emacs.eval('(progn (driver-wait (null (hive-turns-running))) t)');
    const { prompt } = await hive.prompts.ask(
      { question: 'Deploy?', options: ['yes', 'no'] },
      await hive.sessions.resolve(session_id),
    );
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    await emacs.eval(`(progn (driver-wait (with-current-buffer shell
      (save-excursion (goto-char (point-min)) (search-forward "hivemind_poll" nil t)))) t)`);
    await emacs.eval(
      `(progn (switch-to-buffer "*scratch*") (hive-terminal-visit ${lisp(session_id)} "Scripted") t)`,
    );
    expect(await emacs.eval('(eq shell (window-buffer))')).toBe(true);
  });

  test('a buffer that is killed takes its question with it, and nothing is allowed', async () => {
    const { emacs, file, pending } = await openShell();
    await pending();
    await emacs.eval('(let ((kill-buffer-query-functions nil)) (kill-buffer shell) t)');
    await pending(0);
    expect(existsSync(file)).toBe(false);
  });

  test('a form is at the desk, with hive acp before the agent, although agent-shell shows none', async () => {
    const { hive, emacs, file, pending } = await openShell([HIVE, 'acp', '--no-mcp', '--', process.execPath]);
    const [prompt] = await pending();
    expect(prompt).toMatchObject({ kind: 'question', question: 'How? · how' });
    await answerDialog(hive, prompt?.ask_id ?? '', 'Safe');
    await emacs.eval(`(progn (driver-wait (file-exists-p ${lisp(file)})) t)`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ action: 'accept', content: { how: 'x' } });
  });
}
