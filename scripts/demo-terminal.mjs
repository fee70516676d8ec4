// A real Emacs, or another program, in its own terminal: tmux on a private socket. Keys are sent as a person types them,
// and the screen is read as a person sees it.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Starts `emacs -nw` with the init files of the home folder, and with these options; `env` is its whole environment. */
export function openEmacs({ options = [], ...rest }) {
  const command = ['emacs', '-nw', ...options];
  return openTerminal({ name: 'Emacs', command, ...rest });
}

/** Starts a command in a terminal of its own, whose socket is in `folder`; `env` is all the environment it gets. */
export function openTerminal({ name, command, folder, env, cwd = folder, columns = 100, rows = 24 }) {
  const socket = join(folder, 'tmux');
  const tmux = (...args) => spawnSync('tmux', ['-S', socket, ...args], { env, encoding: 'utf8' });
  const started = tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-x',
    columns,
    '-y',
    rows,
    '-c',
    cwd,
    ...command,
  );
  if (started.status !== 0) throw new Error(`tmux did not start: ${started.stderr}`);
  const pid = Number(tmux('display-message', '-p', '#{pane_pid}').stdout);
  tmux('set-option', '-g', 'status', 'off');
  tmux('set-option', '-s', 'escape-time', '0');

  const screen = () => tmux('capture-pane', '-p').stdout;
  return {
    screen,
    /** Types literal text. */
    type: (text) => tmux('send-keys', '-l', text),
    /** Presses keys by their tmux names: Enter, M-x, C-c … */
    press: (...keys) => tmux('send-keys', ...keys),
    /** Resolves when the screen shows `pattern`; otherwise throws with the screen. */
    async shows(pattern, seconds = 20) {
      for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; ) {
        if (pattern.test(screen())) return;
        await sleep(20);
      }
      throw new Error(`${name} did not show ${pattern} within ${seconds} s. Its screen:\n${screen()}`);
    },
    /** Gives this terminal to the person; resolves when they have left it. */
    attach: () =>
      new Promise((resolve, reject) => {
        const inherited = { ...env, TERM: process.env.TERM ?? 'xterm-256color' };
        const child = spawn('tmux', ['-S', socket, 'attach'], { env: inherited, stdio: 'inherit' });
        child.once('error', reject);
        child.once('exit', resolve);
      }),
    /** Ends the program; resolves when it has ended, or after five seconds. */
    async close() {
      tmux('kill-server');
      for (const deadline = Date.now() + 5_000; isAlive(pid) && Date.now() < deadline; ) await sleep(20);
    },
  };
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
    return false;
  }
}
