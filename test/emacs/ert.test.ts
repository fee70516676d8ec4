/** Every ERT file of this folder, each in its own Emacs. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { childEnvironment } from '../support/children.ts';
import { bundleOf } from '../support/run-folder.ts';

const here = import.meta.dirname;
const elisp = join(here, '../../elisp');
/** The agents that they talk to (agents.mjs), as one file: read as TypeScript, all of src/ takes a third of a second. */
const AGENTS = bundleOf('test/emacs/agents.mjs') ?? '';
const files = readdirSync(here).filter((name) => name.endsWith('-test.el'));

/** Runs one file; resolves with everything Emacs printed. The environment is made from nothing. */
function runErt(file: string, home: string): Promise<{ code: number | null; output: string }> {
  const args = ['-Q', '--batch', '-L', elisp, '-L', here, '-l', join(here, file)];
  const env = childEnvironment(join(home, 'hive.db'), { TMPDIR: home, HIVE_TEST_AGENTS: AGENTS });
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

/** What a file declares in a line `;; Tags: NAME NAME` (test/support/tags.ts). */
function tagsOf(file: string): string[] {
  const declared = /^;; Tags: (.+)$/m.exec(readFileSync(join(here, file), 'utf8'))?.[1];
  return declared === undefined ? [] : ['sqlite', 'emacs', ...declared.trim().split(/\s+/)];
}

// They wait more than they work: two at a time (`maxConcurrency` in vitest.config.ts).
for (const file of files)
  test.concurrent(file, { tags: tagsOf(file) }, async ({ expect }) => {
    const home = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-ert-`));
    try {
      const { code, output } = await runErt(file, home);
      expect(code, output).toBe(0);
      expect(output).toMatch(/Ran [1-9]\d* tests?, \d+ results as expected, 0 unexpected/);
      expect(readdirSync(home), 'files were left behind').toEqual([]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
