/** A real terminal for tests: a program under tmux that gets real keys and whose screen is read. */
import { spawn } from 'node:child_process';
import { copyFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, moment, PATIENCE_MS } from './wait.ts';

export interface Terminal {
  /** Keys by their tmux names (`C-x`, `M-x`, `Enter`), or runs of plain characters without special meaning. */
  keys(...keys: string[]): Promise<void>;
  /** The same once the screen shows `prompt`. */
  press(prompt: RegExp, ...keys: string[]): Promise<void>;
  /** Literal text, including `;`. */
  type(text: string): Promise<void>;
  /** The same, and RET. */
  enter(text: string): Promise<void>;
  /** The same once the screen shows `prompt`. */
  reply(prompt: RegExp, text: string, ms?: number): Promise<void>;
  /** The lines of the screen, without trailing blanks. */
  screen(): Promise<string[]>;
  /** The same with colours, as escape sequences. */
  painted(): Promise<string[]>;
  /** Column and line of the cursor, from 0. */
  cursor(): Promise<string>;
  /** The screen as soon as it shows `pattern`. Throws with the screen when it does not within `ms`. */
  until(pattern: RegExp, ms?: number): Promise<string[]>;
  /**
   * Waits until the screen shows `dialog`, then presses `key` until it no longer does: a dialog takes no key in
   * the moment in which it comes up, so that nobody's typing answers it.
   */
  answer(dialog: RegExp, key: string): Promise<void>;
  /**
   * Attaches a terminal of a person's, so that somebody looks at this one; then `tmux wait-for watched` returns in it. Returns what
   * types there: tmux itself gets those keys first.
   */
  watch(): Promise<(bytes: string) => void>;
  /** Opens a window behind this one, and does not select it; returns its process. Keys and the screen are of the selected one. */
  openWindow(name: string, command: readonly string[]): Promise<number>;
  /** Gives the terminal another size, as a person who drags its corner. */
  resize(size: { columns: number; lines: number }): Promise<void>;
  /** The process in the terminal. */
  pid(): Promise<number>;
  close(): Promise<void>;
}

/** Starts `command` under a tmux server of its own, whose socket lies in `folder`; `env` is the whole environment. */
export async function openTerminal(
  folder: string,
  env: Readonly<Record<string, string>>,
  command: readonly string[],
  size = { columns: 100, lines: 24 },
): Promise<Terminal> {
  const socket = join(folder, 'tmux');
  const drawn = join(folder, 'drawn');
  const shell = openShell(env);
  const tmux = (...args: string[]): Promise<string> => shell.run(['tmux', '-S', socket, ...args]);
  const dimensions = ['-x', String(size.columns), '-y', String(size.lines)];
  await tmux(
    ...['-f', '/dev/null', 'start-server', ';'],
    // When its program ends, the terminal keeps the last screen, so that it can still be read; a line that said so would push
    // the first one off the screen.
    ...['set-option', '-g', 'remain-on-exit', 'on', ';'],
    ...['set-option', '-g', 'remain-on-exit-format', '', ';'],
    ...['set-option', '-s', 'escape-time', '0', ';'],
    ...['new-session', '-d', ...dimensions, '--', ...command, ';'],
    // tmux passes on what the program writes once it is on the screen.
    ...['pipe-pane', `exec cat >'${drawn}'`],
  );

  /** How much the program has written. */
  const written = (): number => statSync(drawn, { throwIfNoEntry: false })?.size ?? 0;

  /** Until the program has drawn something, or the screen may have changed in another way: by its size or a window. */
  async function drawsMore(before: number): Promise<void> {
    for (const until = Date.now() + 300; written() === before && Date.now() < until; ) await moment(15);
  }

  /** The screen once the program has drawn it: a half-drawn one changes between two looks. */
  async function still(): Promise<string> {
    for (let last = '', now = ''; ; last = now) {
      now = (await terminal.screen()).join('\n');
      if (now === last) return now;
      await moment(15);
    }
  }

  let closeWatcher = async (): Promise<void> => undefined;
  const terminal: Terminal = {
    async keys(...keys) {
      await tmux('send-keys', ...keys);
    },
    async press(prompt, ...keys) {
      await terminal.until(prompt);
      await terminal.keys(...keys);
    },
    async type(text) {
      await tmux('send-keys', '-l', '--', text);
    },
    async enter(text) {
      await terminal.type(text);
      await terminal.keys('Enter');
    },
    async reply(prompt, text, ms) {
      await terminal.until(prompt, ms);
      await terminal.enter(text);
    },
    async screen() {
      return (await tmux('capture-pane', '-p')).split('\n').map((line) => line.trimEnd());
    },
    async painted() {
      return (await tmux('capture-pane', '-p', '-e')).split('\n');
    },
    async cursor() {
      return (await tmux('display-message', '-p', '#{cursor_x},#{cursor_y}')).trim();
    },
    async until(pattern, ms = PATIENCE_MS) {
      const deadline = Date.now() + Math.max(ms, PATIENCE_MS);
      // A half-drawn screen also lacks what should be gone.
      const isAbsence = pattern.source.startsWith('^(?!');
      for (;;) {
        const before = written();
        const screen = isAbsence ? (await still()).split('\n') : await terminal.screen();
        if (pattern.test(screen.join('\n'))) return screen;
        if (Date.now() > deadline) throw new Error(`${pattern} did not appear:\n${screen.join('\n')}`);
        await moment(30);
        await drawsMore(before);
      }
    },
    async answer(dialog, key) {
      // The screen above it may count seconds, or blink.
      const part = (screen: string): string => screen.slice(screen.search(dialog));
      await terminal.until(dialog, 20_000);
      let before = part(await still());
      for (let presses = 0; presses < 20; presses++) {
        await terminal.keys(key);
        let now = before;
        // A key that was ignored, or that scrolled, changes the screen. As long as it does not, a busy program has perhaps not
        // read the key yet, and would take another one for an answer to what comes next.
        for (let looks = 0; looks < 100 && now === before; looks++) {
          await moment(50);
          const screen = await still();
          if (!dialog.test(screen)) return;
          now = part(screen);
        }
        before = now;
      }
      throw new Error(`${key} did not answer ${dialog}:\n${(await terminal.screen()).join('\n')}`);
    },
    async watch() {
      // A person types in a program that opens terminals, and nobody can type in this one.
      const program = join(folder, 'xterm');
      copyFileSync('/usr/bin/script', program);
      // tmux gives a window the size of the terminal that shows it, less the line below it.
      const attach = `stty cols ${size.columns} rows ${size.lines + 1} && exec tmux -S '${socket}' attach`;
      const watcher = spawn(program, ['-qec', attach, '/dev/null'], {
        env: { ...env, TERM: 'xterm' },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const ended = new Promise<void>((resolve) => watcher.once('close', () => resolve()));
      closeWatcher = () => {
        watcher.kill();
        return ended;
      };
      await eventually(async () => (await tmux('list-clients')) !== '', PATIENCE_MS, 'the attached terminal');
      await tmux('wait-for', '-S', 'watched');
      return (bytes) => void watcher.stdin.write(bytes);
    },
    async openWindow(name, program) {
      const shown = ['-P', '-F', '#{pane_pid}'];
      return Number(await tmux('new-window', '-d', ...shown, '-n', name, '--', ...program));
    },
    async resize({ columns, lines }) {
      await tmux('resize-window', '-x', String(columns), '-y', String(lines));
    },
    async pid() {
      return Number(await tmux('display-message', '-p', '#{pane_pid}'));
    },
    async close() {
      await tmux('kill-server').catch(() => {});
      await closeWatcher();
      await shell.close();
      rmSync(socket, { force: true });
    },
  };
  return terminal;
}

/** A shell that runs one command after the other. */
interface Shell {
  /** The output of the command. Rejects if its exit code is not 0. */
  run(command: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * A process of the tests is large, and each program that it starts itself costs it five milliseconds. A screen is looked at
 * thirty times a second.
 */
function openShell(env: Readonly<Record<string, string>>): Shell {
  const shell = spawn('/bin/sh', [], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()));
  const waiting: ((reply: string) => void)[] = [];
  let printed = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    const replies = (printed + text).split('\0');
    printed = replies.pop() ?? '';
    for (const reply of replies) waiting.shift()?.(reply);
  });
  shell.stdin.on('error', () => undefined);
  return {
    async run(command) {
      const line = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
      const reply = new Promise<string>((resolve) => waiting.push(resolve));
      shell.stdin.write(`${line} </dev/null 2>&1; printf ' %s\\0' "$?"\n`);
      const said = await Promise.race([reply, ended.then(() => 'The shell has ended 1')]);
      const [, text = '', code = ''] = /^([\s\S]*) (\d+)$/.exec(said) ?? [];
      if (code !== '0') throw new Error(`${line}: ${text}`);
      return text;
    },
    async close() {
      shell.stdin.end();
      await ended;
    },
  };
}
