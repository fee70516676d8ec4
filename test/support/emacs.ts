/** A real Emacs with hive-mode in a real terminal, its sidecar, and a program that asks over the same store. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { SessionIntroduction } from '../../src/domain/sessions.ts';
import { type AskRequest, type HiveLibrary, openHive, type Prompt } from '../../src/index.ts';
import { childEnvironment, HIVE, remainingProcesses } from './children.ts';
import { NO_TRAMPOLINES } from './emacs-batch.ts';
import { closedAtEnd } from './lifetime.ts';
import { lispFolder } from './lisp.ts';
import { lendCode, paddedPid } from './run-folder.ts';
import { openTerminal, type Terminal } from './tmux.ts';
import { eventually, PATIENCE_MS, within } from './wait.ts';

/** A terminal with an Emacs. */
export interface EmacsTerminal extends Terminal {
  /** Waits until Emacs has shown a message like this, even if another one has replaced it since. */
  said(message: RegExp): Promise<void>;
  /** `M-x NAME`. */
  command(name: string): Promise<void>;
  /** Evaluates a form at `M-:`. */
  evaluate(form: string): Promise<void>;
  /** The line of the screen with the cursor. */
  here(): Promise<string>;
  /** Waits until nothing on the screen is like this. */
  gone(pattern: RegExp): Promise<void>;
}

/** `M-x NAME`. A quit or an error throws away what was typed ahead, so it waits for its prompt. */
export async function command(emacs: Terminal, name: string): Promise<void> {
  await emacs.keys('M-x');
  await emacs.until(/^(?:C-u )?M-x(?! \w)/m);
  await emacs.enter(name);
}

/**
 * For files whose tests share one Emacs: what a test that failed has left open there is quit, and what it asked or runs is
 * ended, so that the tests after it fail only for what is wrong with them. Called where `beforeAll` is.
 */
export function startsOverAfterFailure(of: () => { home: Home; emacs: Terminal }): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    const { home, emacs } = of();
    const { items } = await home.agent.prompts.list({ status: 'pending' });
    for (const { ask_id } of items) await home.agent.prompts.cancel(ask_id);
    const turn = await home.agent.turns.current();
    if (turn !== undefined) await home.agent.turns.end(turn.turn_id, { aborted: 'unknown' });
    // A menu, a key that is read and a minibuffer within another are each quit by one.
    await emacs.keys('C-g', 'C-g', 'C-g', 'C-x', '1');
  });
}

/**
 * F12 in each Emacs of a home: it leaves everything that reads keys, cancels what is pending as its human, and one window
 * is left. It says when.
 */
const LEAVE = `(global-set-key [f12] (lambda () (interactive)
  (run-at-time 0 nil (lambda ()
    (dolist (prompt (hive-prompts))
      (hive-rpc-request 'prompt/cancel (list :ask_id (plist-get prompt :ask_id) :by "Ada")))
    (delete-other-windows) (switch-to-buffer "*scratch*") (message "left at %s" (float-time))))
  (top-level)))`;

/**
 * For files whose tests share one Emacs, and end with questions that nobody has answered: these are cancelled after each test, and
 * Emacs is left as it began. Called where `beforeAll` is.
 */
export function leavesNothingPending(of: () => Terminal): void {
  afterEach(async () => {
    const emacs = of();
    const left = async () => /left at [\d.]+/.exec((await emacs.screen()).join('\n'))?.[0];
    const before = await left();
    // A quit throws away what is typed ahead.
    await eventually(async () => {
      await emacs.keys('C-g');
      await emacs.keys('F12');
      return within(async () => ![before, undefined].includes(await left()), 1_000);
    });
    await emacs.until(/^(?![\s\S]*hive \d)/);
  });
}

/** A person's home with one store; several Emacsen may live in it, one after the other. */
export interface EmptyHome {
  readonly folder: string;
  /** The file of the store. */
  readonly store: string;
  readonly outbox: string;
  /** Starts an Emacs and waits until it is connected. `setup` is Lisp that runs before hive-mode. */
  emacs(setup?: string, size?: { columns: number; lines: number }): Promise<EmacsTerminal>;
  /**
   * The arguments for an Emacs that something else starts, the file that appears when it is connected, and the one with each
   * message that it has shown.
   */
  arguments(setup?: string): {
    args: string[];
    env: Record<string, string>;
    connected: string;
    messages: string;
  };
  /** The current files of the outbox that hold something. */
  outboxFiles(): string[];
  /** The sidecar of the newest Emacs that was not closed. */
  sidecarPid(): Promise<number>;
  /** Ends everything: before the test, or the file, does. */
  close(): Promise<void>;
}

/**
 * The options that -Q means, but for the early init file that each home has. Emacs looks for the terminal's own library before it
 * evaluates an argument, and would compile it to native code each time that it starts: two seconds of a processor, for a home
 * that is new.
 */
export const ALMOST_Q: readonly string[] = [
  '--no-site-file',
  '--no-site-lisp',
  '--no-x-resources',
  '--no-splash',
];
const EARLY_INIT = '(setq native-comp-deferred-compilation nil package-enable-at-startup nil)\n';

/** Gives a new home the early init file that ALMOST_Q speaks of. */
export function writeEarlyInit(home: string): void {
  mkdirSync(join(home, '.emacs.d'));
  writeFileSync(join(home, '.emacs.d/early-init.el'), EARLY_INIT);
}

/** The same with a program that asks. The test's own process then is an agent, so a shell below it is not a person's. */
export interface Home extends EmptyHome {
  readonly agent: HiveLibrary;
  /** The agent asks these in this order; this Emacs then shows that they are pending, and nothing else. */
  asked(emacs: EmacsTerminal, ...requests: AskRequest[]): Promise<string[]>;
  stored(ask_id: string | undefined): Promise<Prompt>;
  /** The prompt that the agent gets when it polls until it is settled. */
  answerTo(ask_id: string | undefined): Promise<Prompt | undefined>;
}

/** Closed after the test, or the file. */
export async function openHome(): Promise<Home> {
  const home = await openEmptyHome();
  const agent = await openHive({ agent: 'Deployer', store: home.store, env: {} });
  const { prompts } = agent;
  let closed: Promise<void> | undefined;
  return closedAtEnd({
    ...home,
    agent,
    close: () => (closed ??= agent.close().then(home.close)),
    async asked(emacs, ...requests) {
      // A question answered before is gone from the mode line: the count that comes is of these.
      await emacs.gone(/hive \d+\b/);
      const ids: string[] = [];
      for (const request of requests) ids.push((await prompts.ask(request)).prompt.ask_id);
      await emacs.until(new RegExp(`hive ${requests.length}\\b`));
      return ids;
    },
    stored: (ask_id = '') => prompts.get(ask_id),
    async answerTo(ask_id = '') {
      const [answer] = await prompts.poll([ask_id], { wait_ms: PATIENCE_MS });
      return answer?.prompt;
    },
  });
}

/** A permission that only its options answer. */
export const permission = (context: string): AskRequest => ({
  kind: 'permission',
  question: 'Run make?',
  context,
  options: ['Allow', 'Deny'],
  allow_free_text: false,
});

/** Makes a repository in a home: as a session of another machine is in it, and a file that is not there yet. */
export function demoProject({ folder }: EmptyHome): { where: Partial<SessionIntroduction>; notes: string } {
  const project_dir = join(folder, 'demo/.git');
  mkdirSync(project_dir, { recursive: true });
  writeFileSync(join(project_dir, 'HEAD'), 'ref: refs/heads/main\n');
  const where = { machine: 'elsewhere', project: 'demo', project_dir };
  return { where, notes: join(folder, 'demo/notes.txt') };
}

/** Closed after the test, or the file. */
export async function openEmptyHome(): Promise<EmptyHome> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${paddedPid()}-emacs-`));
  const store = join(folder, 'store', 'hive.db');
  mkdirSync(dirname(store), { mode: 0o700 });
  const outbox = join(folder, 'outbox');
  const terminals: Terminal[] = [];
  lendCode(folder);
  writeEarlyInit(folder);

  const env = childEnvironment(store, { HOME: folder, TMPDIR: folder, TERM: 'xterm-256color' });

  const home: EmptyHome = {
    folder,
    store,
    outbox,
    async emacs(setup, size) {
      const place = mkdtempSync(join(folder, 't'));
      const { args, connected, messages } = home.arguments(setup);
      const terminal = await openTerminal(place, env, ['emacs', '-nw', ...ALMOST_Q, ...args], size);
      terminals.push(terminal);
      const { close } = terminal;
      terminal.close = async () => {
        terminals.splice(terminals.indexOf(terminal), 1);
        await close();
      };
      await eventually(() => existsSync(connected), 10_000, 'the connection of Emacs');
      const shown = (): string => (existsSync(messages) ? readFileSync(messages, 'utf8') : '');
      return Object.assign(terminal, {
        said: (message: RegExp) => eventually(() => message.test(shown()), PATIENCE_MS, String(message)),
        command: (name: string) => command(terminal, name),
        async evaluate(form: string) {
          await terminal.keys('M-:');
          await terminal.until(/Eval:$/m);
          await terminal.enter(form);
        },
        here: async () => (await terminal.screen())[Number((await terminal.cursor()).split(',')[1])] ?? '',
        async gone({ source }: RegExp) {
          await terminal.until(new RegExp(`^(?![\\s\\S]*(?:${source}))`));
        },
      });
    },
    arguments(setup = 'nil') {
      const place = mkdtempSync(join(folder, 'c'));
      const [connected, messages] = [join(place, 'connected'), join(place, 'messages')];
      const keep = `(let ((coding-system-for-write 'utf-8-emacs-unix))
        (save-match-data (write-region (concat text "\\n") nil ${lisp(messages)} t 0)))`;
      const command = `(list ${[process.execPath, HIVE, 'sidecar'].map(lisp).join(' ')})`;
      const lines = [
        // Half of what loading costs is collecting garbage.
        '(setq gc-cons-threshold 64000000)',
        '(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil)',
        `(setq hive-sidecar-command ${command} hive-outbox-directory ${lisp(outbox)} hive-outbox-key-file ${lisp(`${outbox}.key`)} hive-user-name "Ada")`,
        // A test that is about taking an answer back sets this itself, in `setup`.
        '(setq hive-undo-seconds 0)',
        // While Emacs 28 looks for a shorter name of an M-x command, it drops what is typed.
        '(setq extended-command-suggest-shorter nil)',
        // Native compilation would start another process, and is slow.
        '(setq native-comp-deferred-compilation nil)',
        NO_TRAMPOLINES,
        `(add-hook 'hive-connected-hook (lambda () (write-region "" nil ${lisp(connected)} nil 0)))`,
        `(advice-add 'message :filter-return (lambda (text) (when text (ignore-errors ${keep})) text))`,
        setup,
        LEAVE,
        "(require 'hive-mode)",
        '(hive-mode 1)',
        '(setq gc-cons-threshold 800000)',
      ];
      const args = ['-L', lispFolder(), ...lines.flatMap((line) => ['--eval', line])];
      return { args, env, connected, messages };
    },
    outboxFiles: () =>
      existsSync(outbox) ? readdirSync(outbox).filter((name) => !isEmpty(join(outbox, name))) : [],
    sidecarPid: async () => sidecarOf(await terminals.at(-1)?.pid()),
    close: () => (closed ??= end()),
  };
  let closed: Promise<void> | undefined;
  async function end(): Promise<void> {
    await Promise.all([...terminals].map((terminal) => terminal.close()));
    // Only what was started here: a desktop that other tests of the file use goes on.
    const remaining = (): string[] => remainingProcesses(`HOME=${folder}`);
    await within(() => remaining().length === 0, 2_000);
    // A process that a failed test has stopped would never end.
    for (const left of remaining()) kill(Number.parseInt(left, 10));
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
  return closedAtEnd(home);
}

/** Ends a process that may already have ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A string as Lisp reads it. */
export function lisp(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}

/** The process of the sidecar that the process `emacs` has started. */
export function sidecarOf(emacs: number | undefined): number {
  const child = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && isSidecarOf(pid, emacs));
  if (child === undefined) throw new Error('Emacs has no sidecar');
  return Number(child);
}

function isSidecarOf(pid: string, emacs: number | undefined): boolean {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return state !== 'Z' && Number(parent) === emacs && command.includes('sidecar');
  } catch {
    return false; // It has ended.
  }
}

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}
