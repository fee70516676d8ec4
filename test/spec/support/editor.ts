/** One Emacs for a whole file, in the same project as its agents: typed at with real keys, asked as emacsclient asks. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../support/children.ts';
import { type EmacsTerminal, lisp, openEmptyHome } from '../../support/emacs.ts';

export interface Editor extends Omit<EmacsTerminal, 'evaluate'> {
  /** The store that it looks at; agents are to be started on the same. */
  readonly store: string;
  /** The name of the project that it and its agents are in. */
  readonly project: string;
  /** A Lisp form evaluated as another program does, while Emacs waits for keys; its value as it is printed. */
  evaluate(form: string): Promise<string>;
  /** The text of a buffer. */
  text(buffer: string): Promise<string>;
  /** Evaluates a form that shows a buffer in a new window; keys then go there. */
  show(form: string): Promise<void>;
  /** Resets Emacs: one window, nothing half-typed, no buffer that shows what is in the store. */
  calm(): Promise<void>;
}

/** Starts it and waits until it is connected. `setup` is Lisp that runs before hive-mode. */
export async function startEditor(setup = 'nil'): Promise<Editor> {
  const home = await openEmptyHome();
  const env = childEnvironment(home.store);
  const notes = join(env['HOME'] ?? '', 'notes.txt');
  writeFileSync(notes, 'notes\n');
  const server = `(require 'server) (setq server-socket-dir ${lisp(home.folder)} server-name "spec") (server-start)`;
  const terminal = await home.emacs(`(progn ${server} (find-file ${lisp(notes)}) ${setup})`);
  const client = ['-s', join(home.folder, 'spec'), '--eval'];
  const editor: Editor = {
    ...terminal,
    store: home.store,
    project: basename(env['HOME'] ?? ''),
    evaluate: async (form) =>
      (await promisify(execFile)('emacsclient', [...client, form], { env })).stdout.trim(),
    text: async (buffer) =>
      JSON.parse(
        await editor
          .evaluate(
            `(with-current-buffer ${lisp(buffer)} (json-encode-string (buffer-substring-no-properties (point-min) (point-max))))`,
          )
          .then(unquoted),
      ),
    async show(form) {
      await editor.calm();
      await editor.evaluate(`(progn ${form} (select-window (get-buffer-window (current-buffer) t)) nil)`);
    },
    async calm() {
      await terminal.keys('C-g');
      await editor.evaluate(
        `(let ((kill-buffer-query-functions nil))
           (dolist (buffer (buffer-list))
             (when (string-prefix-p "*hive-" (buffer-name buffer)) (kill-buffer buffer)))
           (delete-other-windows) (switch-to-buffer "notes.txt") nil)`,
      );
    },
  };
  return editor;
}

/** A string as Lisp prints it, read. */
const unquoted = (printed: string): string => printed.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
