/** The stand-in for agent-shell in a real Emacs with a real sidecar: one shell, whose agent does what a test says. */
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import type { DrivenEmacs } from './emacs-driver.ts';
import { untilPending } from './hive.ts';

/** Turns Hive on, and waits until its desk is open. */
export const HIVE_ON =
  '(progn (hive-mode 1) (driver-wait (and (hive-sidecar-connected-p) (hive-model-complete-p))) t)';

/** A process in the place of the agent's, which reads what it is sent. */
export const SOME_PROCESS =
  '(make-process :name "agent" :command (list "cat") :connection-type (quote pipe))';

/** Waits, in the buffer of the shell, until the desks get what it asks: Emacs in batch mode runs timers only while it waits. */
export const OFFERED =
  '(driver-wait (cl-every (lambda (open) (gethash (cadr open) hive-editors--dialogs)) (bound-and-true-p hive-agent-shell--keys)))';

export interface ShellOptions {
  /** The agent's own id of the conversation, as Lisp. */
  client_id?: string;
  /** The process of the agent, as Lisp. */
  process?: string;
}

/** Turns Hive on, with one shell of Gemini that works. */
export async function beginShell(
  emacs: DrivenEmacs,
  { client_id = 'nil', process = 'nil' }: ShellOptions = {},
): Promise<void> {
  await emacs.eval("(require 'agent-shell)");
  await emacs.eval(HIVE_ON);
  await emacs.eval(`(progn (defvar shell (stand-in-start "Gemini" ${client_id} ${process})) t)`);
  await emacs.eval('(with-current-buffer shell (stand-in-submit "Go on") t)');
}

export interface Shell {
  /** Evaluates this in the buffer of the shell. */
  inShell(form: string): Promise<unknown>;
  /** The agent asks for a permission under this id. */
  ask(id: number | string, ...fields: string[]): Promise<unknown>;
  /** Everything that the agent was sent, oldest first. */
  sent(): Promise<unknown[][]>;
  /** The answers among them. */
  answers(): Promise<unknown[][]>;
  /** Waits for so many answers. */
  untilSent(count: number): Promise<unknown[][]>;
  /** Waits until the sidecar has handled everything that Emacs has sent. */
  settle(): Promise<unknown>;
  /** The pending prompts, once there are so many. */
  pending(count?: number): Promise<Prompt[]>;
}

export function shellOf(emacs: DrivenEmacs, hive: OpenedHive): Shell {
  const inShell: Shell['inShell'] = (form) => emacs.eval(`(with-current-buffer shell ${form})`);
  const sent = async (): Promise<unknown[][]> =>
    (await emacs.eval(
      '(vconcat (reverse (mapcar (lambda (one) (vconcat (mapcar (lambda (part) (format "%s" part)) (cdr one)))) stand-in-sent)))',
    )) as unknown[][];
  const answers = async (): Promise<unknown[][]> => (await sent()).filter(([what]) => what === 'answer');
  return {
    inShell,
    sent,
    answers,
    ask: (id, ...fields) =>
      inShell(`(progn (stand-in-ask ${id} '((command . "make")) ${fields.join(' ')}) ${OFFERED} t)`),
    async untilSent(count) {
      await emacs.eval(`(progn (driver-wait (<= ${count} (cl-count 'answer stand-in-sent :key #'cadr))) t)`);
      return answers();
    },
    settle: () => emacs.eval('(progn (driver-settled) t)'),
    pending: (count) => untilPending(hive, count),
  };
}
