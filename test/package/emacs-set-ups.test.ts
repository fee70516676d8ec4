/**
 * The ways in which people load the package into Emacs: each with a real Emacs, an empty home, and init files as they are
 * written. Hive starts, with the program that belongs to what was loaded; a question is seen and answered; Emacs shows no error
 * and no warning; and when Emacs has ended, nothing is left.
 *
 * @module-tag emacs
 */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { childEnvironment, type Environment, ROOT, remainingProcesses } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ALMOST_Q, lisp, sidecarOf } from '../support/emacs.ts';
import { NO_TRAMPOLINES } from '../support/emacs-batch.ts';
import { SERVER, type ServedEmacs, servedEmacs, startDaemon } from '../support/emacs-daemon.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { lispFolder } from '../support/lisp.ts';
import { tempFolder, tempHome } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';
import { releasedFile } from './install-release.ts';

const run = promisify(execFile);

/** A copy of the package with its program, which no test changes. */
interface Checkout {
  folder: string;
  elisp: string;
  /** The program that an Emacs with this package starts. */
  hive: string;
}

/** From source, as in a clone. */
let clone: Checkout;
/** The same with its Lisp byte-compiled. */
let compiled: Checkout;
/** Others of this file that run all the time. */
let before: string[];

beforeFile(async () => {
  clone = checkout(join(tempFolder(), 'hive'), join(ROOT, 'elisp'));
  compiled = checkout(join(tempFolder(), 'hive'), lispFolder());
  const store = join(tempFolder(), 'hive.db');
  await shell(store).hive('status');
  before = remainingProcesses();
});

function checkout(folder: string, lispOf: string): Checkout {
  const elisp = join(folder, 'elisp');
  mkdirSync(elisp, { recursive: true });
  const parts = readdirSync(lispOf).filter((name) => /^[^.].*\.elc?$|^hive\.info$|^dir$/.test(name));
  for (const name of parts) cpSync(join(lispOf, name), join(elisp, name), { preserveTimestamps: true });
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  for (const name of ['dist', 'node_modules', 'package.json', 'plugin', 'sql'])
    symlinkSync(join(ROOT, name), join(folder, name));
  return { folder, elisp, hive: join(folder, 'bin/hive') };
}

/** A person with an empty home. */
interface Person {
  home: string;
  /** The files that the person has written there. */
  files: string[];
  store: string;
  env: Environment;
}

/** With these files in the home, by their paths. */
function personWith(files: Record<string, string>, more: Environment = {}): Person {
  const home = tempHome();
  const store = join(home, 'store', 'hive.db');
  mkdirSync(dirname(store), { mode: 0o700 });
  const folder = Object.keys(files).some((name) => name.startsWith('.config/'))
    ? '.config/emacs'
    : '.emacs.d';
  const all = { [`${folder}/early-init.el`]: NOT_NATIVE, ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const env = childEnvironment(store, { HOME: home, TMPDIR: home, ...more });
  return { home, files: Object.keys(all), store, env };
}

/** As docs/emacs.md has it. */
function recipe(elisp: string): string {
  return `(add-to-list 'load-path ${lisp(elisp)})
(require 'hive-mode)
(global-set-key (kbd "C-c h") 'hive-prefix-map)
(hive-mode 1)
`;
}

/** Otherwise Emacs 28 compiles what it loads to native code, in many processes beside it, until it is ended. */
const NOT_NATIVE = `(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)\n${NO_TRAMPOLINES}\n`;

const LEXICAL = ';;; -*- lexical-binding: t; -*-\n';

/** Starts the person's Emacs without a terminal, and checks it. */
async function worksInDaemon(person: Person, hive: string, { first = 'nil', args = [] as string[] } = {}) {
  const emacs = await startDaemon(person.env, args);
  await emacs.value(first);
  await works(person, emacs, hive);
}

/** Checks everything that the head of this file says. */
async function works(
  person: Person,
  emacs: ServedEmacs,
  hive: string,
  { answer = () => answerFrom(emacs), close = async () => {} } = {},
): Promise<void> {
  expect(await emacs.value('init-file-had-error'), await shown(emacs)).toBe('nil');
  await eventually(async () =>
    /^(?:connected|failed|waiting)$/.test(await emacs.value('(bound-and-true-p hive-sidecar-state)')),
  );
  expect(await emacs.value('(list hive-mode hive-sidecar-state hive-sidecar-problem)')).toBe(
    '(t connected nil)',
  );
  const sidecar = sidecarOf(emacs.pid);
  const words = readFileSync(`/proc/${sidecar}/cmdline`, 'utf8').split('\0');
  expect(words.slice(1, 3)).toEqual([hive, 'sidecar']);

  const agent = shell(person.store, { HOME: person.home, HIVE_AGENT: 'Deployer' });
  const id = (await agent.hive('ask', 'Shall we go on?', '--option', 'yes', '--option', 'no')).out.trim();
  await eventually(
    async () => /asks: Shall we go on\?/.test(await shown(emacs)),
    undefined,
    'the announcement',
  );
  await answer();
  const reply = async () => (await agent.hive('poll', id, '--json')).json();
  await eventually(async () => (await reply()).status === 'responded', undefined, 'the answer');
  expect(await reply()).toMatchObject({ decision: 'yes', via: 'emacs' });
  expect(await shown(emacs)).not.toMatch(/error|warning|fail|void|obsolete|cannot|not found|debug/i);
  // An answer is in the outbox until Emacs has read that it is stored.
  const isKept = (name: string) => name.includes('/outbox/') && statSync(join(person.home, name)).size > 0;
  await eventually(() => !filesOf(person).some(isKept), undefined, 'an empty outbox');

  await emacs.end();
  await close();
  await eventually(() => !processes.alive(sidecar), undefined, 'the end of the sidecar');
  await eventually(() => remainingProcesses().length <= before.length, undefined, 'the end of all processes');
  expect(remainingProcesses()).toEqual(before);
  expect(filesOf(person).filter((name) => !KEPT.test(name))).toEqual([]);
}

/** Files that Hive keeps, and then those that Emacs keeps: no socket, no lock, no file of the outbox. */
const KEPT = new RegExp(
  [
    String.raw`^(?:store/hive\.db(?:-bell)?|\.local/state/hive/.*|\.config/hive/(?:seat\.key|trust\.json)|.*/hive-outbox\.key|.*/hive/read\.eld)$`,
    String.raw`/transient/history\.el$|^\.emacs\.d/(?:elpa/|package-quickstart\.elc?$)|^value$`,
  ].join('|'),
);

/** The files of the home that its person did not write. */
function filesOf({ home, files }: Person): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .filter((name) => !files.includes(name));
}

/** The text that Emacs has shown, and the buffers in which it and Hive report what is wrong. Nobody shows popups here. */
async function shown(emacs: ServedEmacs): Promise<string> {
  const names = ['*Messages*', '*Warnings*', '*Backtrace*', '*Compile-Log*', '*hive log*'];
  const text = await emacs.value(`(mapconcat (lambda (name)
    (if (get-buffer name) (with-current-buffer name (concat (buffer-name) "\n" (buffer-string))) ""))
    '(${names.map(lisp).join(' ')}) "\n")`);
  return text.replace(/.*A notification could not be shown.*/, '');
}

/** Answers the only question as in the minibuffer. */
async function answerFrom(emacs: ServedEmacs): Promise<void> {
  await emacs.value(
    '(let ((completing-read-function (lambda (&rest _) "yes"))) (hive-answer-prompt (car (hive-prompts))))',
  );
}

describe('a folder in the load-path', () => {
  test('from source, in ~/.emacs, which does not say lexical-binding', async () => {
    const person = personWith({ '.emacs': recipe(clone.elisp) });
    await worksInDaemon(person, clone.hive);
  });

  test('byte-compiled, below a link that an update replaces, with custom-file elsewhere', async () => {
    const current = join(tempFolder(), 'current');
    symlinkSync(compiled.folder, current);
    const person = personWith({
      '.emacs.d/init.el': `${LEXICAL}(setq custom-file (expand-file-name "~/etc/custom.el"))
(load custom-file 'noerror)
${recipe(join(current, 'elisp'))}`,
      'etc/custom.el': "(custom-set-variables '(hive-snooze-minutes 7))\n",
    });
    // By that link, the next start of the program is the new one.
    await worksInDaemon(person, join(current, 'bin/hive'), {
      first: "(customize-save-variable 'hive-fold-lines 50)",
    });
    const saved = readFileSync(join(person.home, 'etc/custom.el'), 'utf8');
    expect(saved).toContain("'(hive-snooze-minutes 7)");
    expect(saved).toContain("'(hive-fold-lines 50)");
  });

  test('nobody may write there, and its name has blanks and umlauts; in ~/.config/emacs/init.el', async () => {
    const odd = checkout(join(tempFolder(), 'Größe und Maß'), join(ROOT, 'elisp'));
    chmodSync(odd.elisp, 0o555);
    const names = readdirSync(odd.elisp);
    const person = personWith({ '.config/emacs/init.el': LEXICAL + recipe(odd.elisp) });
    await worksInDaemon(person, odd.hive);
    expect(readdirSync(odd.elisp)).toEqual(names);
    // Hive keeps its files beside that one.
    expect(readdirSync(join(person.home, '.config/emacs'))).toEqual(
      expect.arrayContaining(['hive', 'hive-outbox.key']),
    );
    expect(existsSync(join(person.home, '.emacs.d'))).toBe(false);
  });

  test('a link to it; with -Q and -l', async () => {
    const link = join(tempFolder(), 'lisp');
    symlinkSync(clone.elisp, link);
    const person = personWith({ 'hive.el': NOT_NATIVE + recipe(link) });
    const args = ['-Q', '-l', join(person.home, 'hive.el')];
    await worksInDaemon(person, clone.hive, { args });
  });

  test('in a terminal with LANG=C, where keys answer', async () => {
    const odd = checkout(join(tempFolder(), 'Größe'), join(ROOT, 'elisp'));
    const server = `(setq server-name ${lisp(SERVER)})\n(server-start)\n`;
    const person = personWith(
      { '.emacs': recipe(odd.elisp) + server },
      { LANG: 'C', TERM: 'xterm-256color' },
    );
    const terminal = closedAtEnd(await openTerminal(tempFolder(), person.env, ['emacs', '-nw', ...ALMOST_Q]));
    await works(person, await servedEmacs(person.env), odd.hive, {
      async answer() {
        await terminal.keys('C-c', 'h', 'n');
        await terminal.answer(/Shall we go on\?[\s\S]*TAB skip/, '1');
      },
      close: () => terminal.close(),
    });
  });

  test('taken out again by unload-feature, and loaded once more', async () => {
    const person = personWith({ '.emacs': recipe(clone.elisp) });
    const emacs = await startDaemon(person.env);
    await eventually(async () => (await emacs.value('hive-sidecar-state')) === 'connected');
    const first = sidecarOf(emacs.pid);
    await emacs.value("(unload-feature 'hive-mode t)");
    await eventually(() => !processes.alive(first), undefined, 'the end of the sidecar');
    // Nothing that Emacs runs still calls what is gone.
    await emacs.value('(funcall after-focus-change-function)');
    await emacs.value(`(progn (require 'hive-mode) (hive-mode 1))`);
    await works(person, emacs, clone.hive);
  });
});

describe('autoloads', () => {
  /** Has the autoloads of the package in its folder, as package-vc and others leave it. */
  async function withAutoloads(elisp: string, env: Environment): Promise<void> {
    const form = `(progn (require 'package) (package-generate-autoloads 'hive-mode ${lisp(elisp)}))`;
    await run('emacs', ['-Q', '--batch', '--eval', form], { env });
  }

  test('nothing else is loaded until a hook after the init file starts Hive', async () => {
    const own = checkout(join(tempFolder(), 'hive'), join(ROOT, 'elisp'));
    const init = `(add-to-list 'load-path ${lisp(own.elisp)})
(load "hive-mode-autoloads" nil t)
(add-hook 'after-init-hook #'hive-mode)
(defvar early (featurep 'hive-rpc))
`;
    const person = personWith({ '.emacs.d/init.el': LEXICAL + init });
    await withAutoloads(own.elisp, person.env);
    await worksInDaemon(person, own.hive, { first: '(when early (error "It was loaded early"))' });
  });

  test('a folder in which each file is a link, compiled there, with package.el turned off in early-init.el', async () => {
    const build = join(tempFolder(), 'build/hive-mode');
    mkdirSync(build, { recursive: true });
    for (const name of readdirSync(compiled.elisp)) {
      if (name.endsWith('.elc'))
        cpSync(join(compiled.elisp, name), join(build, name), { preserveTimestamps: true });
      else symlinkSync(join(clone.elisp, name), join(build, name));
    }
    const person = personWith({
      '.emacs.d/early-init.el': `${LEXICAL}${NOT_NATIVE}(setq package-enable-at-startup nil)\n`,
      '.emacs.d/init.el': `${LEXICAL}(add-to-list 'load-path ${lisp(build)})
(load ${lisp(join(build, 'hive-mode-autoloads'))} nil t)
(hive-mode)
`,
    });
    await withAutoloads(build, person.env);
    await worksInDaemon(person, clone.hive, {
      first:
        '(unless (string-suffix-p "build/hive-mode/hive-rpc.elc" (locate-library "hive-rpc")) (error "Other files"))',
    });
  });

  test('use-package with :load-path, :hook and :commands', async () => {
    const init = `(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*-package-[0-9]*"))
  (add-to-list 'load-path folder))
(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/bind-key-[0-9]*"))
  (add-to-list 'load-path folder))
(require 'use-package)
(use-package hive-mode
  :ensure nil
  :load-path ${lisp(clone.elisp)}
  :hook (after-init . hive-mode)
  :commands (hive-next hive-list)
  :bind-keymap ("C-c h" . hive-prefix-map)
  :custom (hive-snooze-minutes 7))
`;
    const person = personWith({ '.emacs.d/init.el': LEXICAL + init });
    await worksInDaemon(person, clone.hive);
  });

  test('package-install-file of the release, with byte-compile-error-on-warn; then by Customize and package-quickstart', async () => {
    const person = personWith({
      '.emacs.d/early-init.el': `${LEXICAL}${NOT_NATIVE}(setq package-quickstart t)\n`,
      '.emacs.d/init.el': `${LEXICAL}(setq byte-compile-error-on-warn t)
(add-to-list 'exec-path ${lisp(dirname(clone.hive))})
(require 'package)
(unless (package-installed-p 'hive-mode) (package-install-file ${lisp(releasedFile('.tar'))}))
(hive-mode 1)
`,
    });
    await worksInDaemon(person, clone.hive);
    expect(readdirSync(join(person.home, '.emacs.d')).sort()).toContain('package-quickstart.el');
    writeFileSync(
      join(person.home, '.emacs.d/init.el'),
      `(add-to-list 'exec-path ${lisp(dirname(clone.hive))})\n(custom-set-variables '(hive-mode t))\n`,
    );
    await worksInDaemon(person, clone.hive);
  });
});
