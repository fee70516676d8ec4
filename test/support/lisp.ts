/** The Emacs package of a run as an installation has it: byte-compiled, once, by the first test that needs it. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_VARIABLE } from './run-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_MS = 120_000;

/** The folder for `load-path`: from source, Emacs takes half a second more each time it starts. */
export function lispFolder(): string {
  const run = process.env[RUN_VARIABLE];
  if (run === undefined) return join(ROOT, 'elisp');
  const compiled = join(run, 'package');
  if (isFirst(join(run, 'package.lock'))) {
    compileTo(`${compiled}.new`);
    renameSync(`${compiled}.new`, compiled);
  }
  for (const until = Date.now() + LIMIT_MS; !existsSync(compiled); pause(20))
    if (Date.now() > until)
      throw new Error('The Emacs package was not compiled: see the test that began it.');
  return join(compiled, 'elisp');
}

function compileTo(folder: string): void {
  mkdirSync(folder);
  // Lisp finds the program and the manual beside its own folder.
  for (const name of readdirSync(ROOT).filter((name) => name !== 'elisp' && !name.startsWith('.')))
    symlinkSync(join(ROOT, name), join(folder, name));
  const elisp = join(folder, 'elisp');
  cpSync(join(ROOT, 'elisp'), elisp, { recursive: true });
  const files = readdirSync(elisp).filter((name) => name.endsWith('.el'));
  execFileSync('emacs', ['-Q', '--batch', '-L', '.', '-f', 'batch-byte-compile', ...files], {
    cwd: elisp,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function isFirst(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Stops this thread: the callers make the arguments of a program, and do not wait otherwise. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
