/** A graphical Emacs on the screen of a test's desktop, moved and clicked by xdotool. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './children.ts';
import type { Desktop } from './desktop.ts';
import { type EmptyHome, lisp } from './emacs.ts';
import { eventually } from './wait.ts';

const run = promisify(execFile);
const CACHE = join(ROOT, 'node_modules/.cache/emacs-gtk');

/**
 * The command of a graphical Emacs.
 * @throws Error that says why there is none.
 */
export function graphicalEmacs(): string[] {
  const unpacked = join(CACHE, 'usr/bin/emacs-gtk');
  if (existsSync(unpacked)) {
    // It would look for its dump in the place of the installed Emacs, which has another.
    const place = join(CACHE, 'usr/libexec/emacs');
    const dump = readdirSync(place, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('.pdmp'),
    );
    if (dump === undefined)
      throw new Error(`The graphical Emacs in ${CACHE} has no dump: run "npm run setup".`);
    return [unpacked, `--dump-file=${join(place, dump)}`];
  }
  if (existsSync('/usr/bin/emacs-gtk')) return ['/usr/bin/emacs-gtk'];
  const reason = join(CACHE, 'why-not');
  const why = existsSync(reason) ? ` (${readFileSync(reason, 'utf8').trim()})` : '';
  throw new Error(
    `There is no graphical Emacs${why}: run "npm run setup", which fetches one for these tests.`,
  );
}

export interface Graphical {
  /** The printed value of a form. */
  value(form: string): Promise<string>;
  /** Gives the focus to its frame, or takes it away. */
  focus(has: boolean): Promise<void>;
  /** Clicks a button of the mouse at a pixel of the frame. */
  click(place: { x: number; y: number }, button?: 1 | 2 | 3): Promise<void>;
  type(text: string): Promise<void>;
  key(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts it and waits until it is connected and has the focus. `setup` is Lisp that runs before hive-mode. */
export async function openGraphical(
  command: readonly string[],
  home: EmptyHome,
  desktop: Desktop,
  setup = 'nil',
): Promise<Graphical> {
  const place = join(home.folder, 'ask');
  // A file works even if Emacs is busy or does not have the focus.
  const ear = `(run-at-time 0 0.05 (lambda () (when (file-exists-p ${lisp(place)})
    (let ((form (with-temp-buffer (insert-file-contents ${lisp(place)}) (read (current-buffer)))))
      (delete-file ${lisp(place)})
      (write-region (format "%S" (eval form t)) nil ${lisp(`${place}.new`)} nil 0)
      (rename-file ${lisp(`${place}.new`)} ${lisp(`${place}.value`)} t)))))`;
  const { args, env, connected } = home.arguments(`(progn ${ear} ${setup})`);
  const whole = { ...env, ...desktop.env, ...desktop.screen };
  const xdotool = async (...words: string[]): Promise<string> =>
    (await run('xdotool', words, { env: whole })).stdout.trim();
  // Without a window manager the window below the pointer has the focus until a window is given it, and then loses it for a
  // moment. So the pointer is beside every window, and the focus changes only where a test changes it.
  const pointerAside = ['mousemove', '9999', '9999'];
  await xdotool(...pointerAside);
  const [program = '', ...first] = command;
  const child: ChildProcess = spawn(program, [...first, '-Q', ...args], { env: whole, stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  async function end(): Promise<void> {
    child.kill('SIGTERM');
    // On exit it saves the clipboard, and may wait for a clipboard manager that does not exist.
    const hanging = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(hanging);
  }
  try {
    await eventually(() => existsSync(connected), 20_000, 'the connection of the graphical Emacs');
  } catch (error) {
    await end();
    throw error;
  }

  const emacs: Graphical = {
    async value(form) {
      writeFileSync(`${place}.part`, form);
      renameSync(`${place}.part`, place);
      await eventually(() => existsSync(`${place}.value`), 10_000, form);
      const value = readFileSync(`${place}.value`, 'utf8');
      rmSync(`${place}.value`);
      return value;
    },
    async focus(has) {
      await xdotool(...pointerAside, 'windowfocus', has ? outer : root);
      await eventually(async () => ((await emacs.value('(frame-focus-state)')) === 't') === has);
    },
    async click({ x, y }, button = 1) {
      await xdotool('mousemove', '--window', window, String(x), String(y), 'click', String(button));
    },
    type: async (text) => void (await xdotool('type', '--delay', '20', text)),
    key: async (name) => void (await xdotool('key', name)),
    close: end,
  };
  const idOf = async (which: string): Promise<string> =>
    (await emacs.value(`(frame-parameter nil '${which})`)).replaceAll('"', '');
  const [window, outer] = [await idOf('window-id'), await idOf('outer-window-id')];
  const { stdout } = await run('xwininfo', ['-root'], { env: whole });
  const root = /Window id: (\w+)/.exec(stdout)?.[1] ?? '';
  await emacs.focus(true);
  return emacs;
}
