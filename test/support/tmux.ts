/** A real terminal for tests: a program under tmux that gets real keys and whose screen is read. */
import { spawn } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, moment, PATIENCE_MS } from './wait.ts';

export interface Terminal {
  /** Keys by their tmux names (`C-x`, `M-x`, `Enter`), or runs of plain characters without special meaning. */
  keys(...keys: string[]): Promise<void>;
  /** Literal text, including `;`. */
  type(text: string): Promise<void>;
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
  /** Attaches a terminal of a person's, so that somebody looks at this one; then `tmux wait-for watched` returns in it. */
  watch(): Promise<void>;
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
  const dimensions = ['-x', String(size.columns), '-y', String(size.lines)];
  const control = openControl(env, [
    ...['-S', socket, '-f', '/dev/null', '-C', 'start-server', ';'],
    // When its program ends, the terminal keeps the last screen, so that it can still be read; a line that said so would push
    // the first one off the screen.
    ...['set-option', '-g', 'remain-on-exit', 'on', ';'],
    ...['set-option', '-g', 'remain-on-exit-format', '', ';'],
    ...['set-option', '-s', 'escape-time', '0', ';'],
    ...['new-session', '-d', ...dimensions, '--', ...command, ';'],
    // A client that is attached to the session of the program would count as a person there.
    ...['new-session', '--', 'cat'],
  ]);
  const tmux = (name: string, ...args: string[]): Promise<string> => control.run([name, ...args]);
  // Once it has replied, the server listens and the program runs.
  await tmux('list-sessions');

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
      await tmux('send-keys', '-t', PANE, ...keys);
    },
    async type(text) {
      await tmux('send-keys', '-t', PANE, '-l', '--', text);
    },
    async screen() {
      return (await tmux('capture-pane', '-t', PANE, '-p')).split('\n').map((line) => line.trimEnd());
    },
    async painted() {
      return (await tmux('capture-pane', '-t', PANE, '-p', '-e')).split('\n');
    },
    async cursor() {
      return (await tmux('display-message', '-t', PANE, '-p', '#{cursor_x},#{cursor_y}')).trim();
    },
    async until(pattern, ms = PATIENCE_MS) {
      const deadline = Date.now() + Math.max(ms, PATIENCE_MS);
      // A half-drawn screen also lacks what should be gone.
      const isAbsence = pattern.source.startsWith('^(?!');
      for (;;) {
        const screen = isAbsence ? (await still()).split('\n') : await terminal.screen();
        if (pattern.test(screen.join('\n'))) return screen;
        if (Date.now() > deadline) throw new Error(`${pattern} did not appear:\n${screen.join('\n')}`);
        await moment(30);
      }
    },
    async answer(dialog, key) {
      await terminal.until(dialog, 20_000);
      for (let presses = 0; presses < 20; presses++) {
        await terminal.keys(key);
        for (let looks = 0; looks < 20; looks++) {
          await moment(50);
          if (!dialog.test(await still())) return;
        }
      }
      throw new Error(`${key} did not answer ${dialog}:\n${(await terminal.screen()).join('\n')}`);
    },
    async watch() {
      // A person types in a program that opens terminals, and nobody can type in this one.
      const program = join(folder, 'xterm');
      copyFileSync('/usr/bin/script', program);
      const attach = `exec tmux -S '${socket}' attach -f ignore-size -t ${SESSION}`;
      const watcher = spawn(program, ['-qec', attach, '/dev/null'], {
        env: { ...env, TERM: 'xterm' },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const ended = new Promise<void>((resolve) => watcher.once('close', () => resolve()));
      closeWatcher = () => {
        watcher.kill();
        return ended;
      };
      await eventually(
        async () => (await tmux('list-clients', '-t', SESSION)) !== '',
        PATIENCE_MS,
        'the attached terminal',
      );
      await tmux('wait-for', '-S', 'watched');
    },
    async pid() {
      return Number(await tmux('display-message', '-t', PANE, '-p', '#{pane_pid}'));
    },
    async close() {
      await tmux('kill-server').catch(() => {});
      await closeWatcher();
      await control.close();
      rmSync(socket, { force: true });
    },
  };
  return terminal;
}

/** The first session of a new server, and its pane. */
const SESSION = '=0';
const PANE = '%0';

/** A client of tmux that runs one command after the other. */
interface Control {
  /** What the command prints. Rejects if it fails. */
  run(command: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** One client for all commands: a screen is looked at thirty times a second, and a client costs two milliseconds. */
function openControl(env: Readonly<Record<string, string>>, args: readonly string[]): Control {
  const client = spawn('tmux', args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => client.once('close', () => resolve()));
  const waiting: ((reply: { failed: boolean; text: string }) => void)[] = [];
  let reply: string[] | null = null;
  let guard = '';
  let rest = '';
  client.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) read(line);
  });
  const read = (line: string): void => {
    // The flag of what came with the arguments is 0.
    const [, word, numbers = ''] = /^%(begin|end|error) (\d+ \d+ 1)$/.exec(line) ?? [];
    if (reply === null && word === 'begin') {
      reply = [];
      guard = numbers;
    } else if (reply !== null && word !== undefined && numbers === guard) {
      waiting.shift()?.({ failed: word === 'error', text: reply.join('') });
      reply = null;
    } else reply?.push(`${line}\n`);
  };
  client.stdin.on('error', () => undefined);
  return {
    async run(command) {
      const line = command.map(quoted).join(' ');
      const replied = new Promise<{ failed: boolean; text: string }>((resolve) => waiting.push(resolve));
      client.stdin.write(`${line}\n`);
      const { failed, text } = await Promise.race([
        replied,
        ended.then(() => ({ failed: true, text: 'tmux has ended' })),
      ]);
      if (failed) throw new Error(`${line}: ${text}`);
      return text;
    },
    async close() {
      client.stdin.end();
      await ended;
    },
  };
}

/** A word as tmux reads it. */
function quoted(word: string): string {
  return `"${word.replaceAll(/[\\"$]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
