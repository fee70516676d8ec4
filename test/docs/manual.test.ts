/** The Info manual is made of the documents, and Emacs reads it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { lisp } from '../support/emacs.ts';

test('C-h i lists it and finds it, once the package beside it is loaded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hive-manual-'));
  try {
    cpSync(join(ROOT, 'elisp'), folder, { recursive: true, filter: (path) => !/\.info$|\/dir$/.test(path) });
    const run = (form: string): string =>
      execFileSync('emacs', ['-Q', '--batch', '-L', folder, '-l', 'hive-mode', '--eval', form], {
        stdio: 'pipe',
      }).toString();
    expect(run(`(condition-case why (hive-manual) (error (princ (cadr why))))`)).toMatch(
      /There is no manual yet; run .npm run build. in/,
    );
    execFileSync(process.execPath, [join(ROOT, 'scripts/manual.mjs'), folder], { stdio: 'ignore' });
    expect(run('(progn (info) (princ (buffer-string)))')).toMatch(
      /^Emacs\n[\s\S]*^\* Hive: \(hive\)\. +Answer your coding agents/m,
    );
    expect(run('(progn (info "(hive)Hive in Emacs") (princ (buffer-string)))')).toContain('hive-next');
    expect(run('(progn (hive-manual) (princ (buffer-string)))')).toContain('nothing is lost');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every document is a node that Info shows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hive-manual-'));
  try {
    execFileSync(process.execPath, [join(ROOT, 'scripts/manual.mjs'), folder], { stdio: 'ignore' });
    const read = (node: string) =>
      execFileSync('emacs', [
        ...['-Q', '--batch', '--eval'],
        `(progn (require 'info) (Info-find-node ${lisp(join(folder, 'hive.info'))} ${lisp(node)}) (princ (buffer-string)))`,
      ]).toString();
    const menu = [...read('Top').matchAll(/^\* ([^:\n]+)::/gm)].map(([, node]) => node ?? '');
    expect(menu).toContain('Hive in Emacs');
    expect(menu).toContain('Command line');
    const emacs = read('Hive in Emacs');
    expect(emacs).toMatch(/Next: .*, +Prev: .*, +Up: Top/);
    expect(emacs).toContain('hive-next');
    expect(emacs).not.toMatch(/@code|\]\(/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
