/** Every ERT file of this folder, each in a real Emacs of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { childEnvironment } from '../support/children.ts';
import { expectNothingLeft } from '../support/leaks.ts';

expectNothingLeft();

const here = import.meta.dirname;
const elisp = join(here, '../../elisp');
const files = readdirSync(here).filter((name) => name.endsWith('-test.el'));

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-ert-`));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs one file; resolves with everything Emacs printed. The environment is made from nothing. */
function runErt(file: string): Promise<{ code: number | null; output: string }> {
  const args = ['-Q', '--batch', '-L', elisp, '-L', here, '-l', join(here, file)];
  const env = childEnvironment(join(home, 'hive.db'), { TMPDIR: home });
  const emacs = spawn('emacs', [...args, '-f', 'ert-run-tests-batch-and-exit'], { env, cwd: home });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  emacs.stdout.on('data', collect);
  emacs.stderr.on('data', collect);
  return new Promise((resolve, reject) => {
    emacs.once('error', reject);
    emacs.once('close', (code) => resolve({ code, output }));
  });
}

test.for(files)('%s', { timeout: 90_000 }, async (file) => {
  const { code, output } = await runErt(file);
  expect(code, output).toBe(0);
  expect(output).toMatch(/Ran [1-9]\d* tests?, \d+ results as expected, 0 unexpected/);
  expect(readdirSync(home), 'files were left behind').toEqual([]);
});
