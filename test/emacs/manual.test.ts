/** The Info manual is made of the documents, and Emacs reads it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/children.ts';
import { lisp } from '../support/emacs.ts';

test('every document is a node that Info shows', { timeout: 60_000 }, () => {
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
    expect(emacs).toContain('hive-next');
    expect(emacs).not.toMatch(/@code|\]\(/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
