/**
 * The real agent-shell, where HIVE_TEST_AGENTSHELL names the folders of a copy and of what it needs (CONTRIBUTING.md): it keeps
 * the contract that the stand-in is made from, and Hive works with it. HIVE_TEST_EMACS is an Emacs that can run it.
 */
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { answerDialog } from '../support/dialogs.ts';
import { lisp } from '../support/emacs.ts';
import { type DrivenEmacs, driveEmacs, STAND_INS } from '../support/emacs-driver.ts';
import { openTestHive, SEAT } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

interface Contract {
  functions: Record<string, { arguments: string; since: string }>;
  variables: Record<string, string>;
  private: Record<string, string>;
}

const CONTRACT = JSON.parse(readFileSync(join(STAND_INS, 'contracts/agent-shell.json'), 'utf8')) as Contract;
const copy = process.env['HIVE_TEST_AGENTSHELL']?.split(delimiter) ?? null;
const program = process.env['HIVE_TEST_EMACS'] ?? 'emacs';

/** What is not there, of those in the contract that this version should have. */
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
  pending(count?: number): Promise<Prompt[]>;
}

/** A shell of the real agent-shell, whose scripted agent asks whether it may write a file. */
async function openShell(): Promise<Shell> {
  const store = tempStore();
  const hive = await openTestHive(store);
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
        :command ${lisp(process.execPath)} :command-params (list ${lisp(AGENT)})))))) t)`);
  await emacs.eval(`(progn (setq shell (car (agent-shell-buffers))) t)`);
  await emacs.eval(`(progn (with-current-buffer shell (hive-agent-shell--say ${lisp(`write ${file}`)})) t)`);
  return {
    hive,
    emacs,
    file,
    async pending(count = 1) {
      let prompts: Prompt[] = [];
      await emacs.eval(`(progn (driver-wait (= ${count} (length (hive-prompts)))) t)`);
      await eventually(async () => {
        prompts = (await hive.prompts.list({ status: 'pending', limit: 5 })).items;
        return prompts.length === count;
      });
      return prompts;
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
}
