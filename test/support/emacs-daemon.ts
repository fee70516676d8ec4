/** Emacs as a daemon, with the init files of its home or with arguments only, driven by emacsclient. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Environment } from './children.ts';
import { ALMOST_Q, lisp } from './emacs.ts';
import { whenFinished } from './lifetime.ts';
import { eventually } from './wait.ts';

const run = promisify(execFile);

/** The name of the server in each home; its socket is in the TMPDIR of that home. */
export const SERVER = 'person';

export interface ServedEmacs {
  readonly pid: number;
  /** The printed value of a form. */
  value(form: string): Promise<string>;
  /** Ends it as a person does, and waits until its process has ended. */
  end(): Promise<void>;
}

/**
 * Starts a real daemon in this environment, and returns once the init files of its home are loaded: none of this machine, on which
 * packages of others may be installed.
 */
export async function startDaemon(env: Environment, args: readonly string[] = []): Promise<ServedEmacs> {
  // A process that a broken init file has started stays behind; nothing-left.ts ends it.
  await run('emacs', [`--daemon=${SERVER}`, ...ALMOST_Q, ...args], {
    env,
    ...(env['HOME'] && { cwd: env['HOME'] }),
  });
  return servedEmacs(env);
}

/** The Emacs of this environment, once its server accepts clients. */
export async function servedEmacs(env: Environment): Promise<ServedEmacs> {
  const reply = join(env['TMPDIR'] ?? '', 'value');
  // A long value would reach emacsclient in pieces, which it takes for commands.
  const value = async (form: string): Promise<string> => {
    const write = `(let ((value (format "%S" ${form})) (coding-system-for-write 'utf-8-emacs-unix))
      (write-region value nil ${lisp(reply)} nil 0))`;
    await run('emacsclient', ['-s', SERVER, '--eval', write], { env });
    return readFileSync(reply, 'utf8');
  };
  let pid = 0;
  await eventually(async () => {
    pid = Number(await value('(emacs-pid)').catch(() => '0'));
    return pid > 0;
  });
  whenFinished(() => {
    if (runs(pid)) process.kill(pid, 'SIGKILL');
  });
  return {
    pid,
    value,
    async end() {
      // The connection breaks before the client has its answer.
      await value('(kill-emacs)').catch(() => undefined);
      await eventually(() => !runs(pid), undefined, 'the end of Emacs');
    },
  };
}

/** Not of one that has ended and that its terminal has not collected yet. */
function runs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}
