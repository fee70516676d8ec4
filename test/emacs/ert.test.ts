/** Every ERT file of this folder. An Emacs runs several, each from the state that Hive has after loading (hive-test-run.el). */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { childEnvironment } from '../support/children.ts';
import { lispFolder } from '../support/lisp.ts';
import { bundleOf } from '../support/run-folder.ts';

const here = import.meta.dirname;
const files = readdirSync(here).filter((name) => name.endsWith('-test.el'));

/** An Emacs that runs one file after the other. */
interface Runner {
  /** Resolves with everything that Emacs printed, up to the line that says how it went. */
  run(file: string): Promise<string>;
  /** Its output since the file began. */
  said(): string;
  end(): Promise<void>;
}

const idle: Runner[] = [];

const hostFolder = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-ert-`));
const hostSocket = join(hostFolder, 'host');
let host: ChildProcess;

beforeAll(async () => {
  host = await startHost();
});

afterAll(async () => {
  await Promise.all(idle.map((runner) => runner.end()));
  const ended = once(host, 'close');
  host.kill('SIGKILL');
  await ended;
  rmSync(hostFolder, { recursive: true, force: true });
});

/** The process that has the agents and the sidecars of the tests (host.mjs). */
async function startHost(): Promise<ChildProcess> {
  const program = bundleOf('test/emacs/host.mjs') ?? '';
  const env = childEnvironment(join(hostFolder, 'hive.db'), { TMPDIR: hostFolder });
  const started = spawn(process.execPath, [program, hostSocket], {
    env,
    cwd: hostFolder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(started.stdout, 'data');
  return started;
}

const IS_OVER = /^hive-test-run: .*\n/m;

/** The environment is made from nothing. */
function startRunner(): Runner {
  const home = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-ert-`));
  const env = childEnvironment(join(home, 'hive.db'), { TMPDIR: home, HIVE_TEST_HOST: hostSocket });
  const args = [
    '-Q',
    '--batch',
    '-L',
    lispFolder(),
    '-L',
    here,
    '-l',
    'hive-test-run',
    '-f',
    'hive-test-run',
  ];
  const emacs = spawn('emacs', args, { env, cwd: home });
  let output = '';
  let heard = (): void => undefined;
  const collect = (chunk: string): void => {
    output += chunk;
    heard();
  };
  emacs.stdout.setEncoding('utf8').on('data', collect);
  emacs.stderr.setEncoding('utf8').on('data', collect);
  const ended = new Promise<void>((resolve, reject) => {
    emacs.once('error', reject);
    emacs.once('close', () => resolve());
  });
  return {
    said: () => output,
    async run(file) {
      output = '';
      const isOver = new Promise<void>((resolve) => {
        heard = () => IS_OVER.test(output) && resolve();
      });
      emacs.stdin.write(`${join(here, file)}\n`);
      await Promise.race([isOver, ended]);
      return output;
    },
    async end() {
      emacs.stdin.end();
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The tags that a file declares in a line `;; Tags: NAME NAME` (test/support/tags.ts). */
function tagsOf(file: string): string[] {
  const declared = /^;; Tags: (.+)$/m.exec(readFileSync(join(here, file), 'utf8'))?.[1];
  return declared === undefined ? [] : ['emacs', ...declared.trim().split(/\s+/)];
}

// They wait more than they work: four at a time (`maxConcurrency` in vitest.config.ts).
for (const file of files)
  test.concurrent(file, { tags: tagsOf(file) }, async ({ expect, signal }) => {
    const runner = idle.pop() ?? startRunner();
    signal.addEventListener('abort', () => process.stderr.write(runner.said()));
    const output = await runner.run(file);
    const wentWell = /^hive-test-run: [1-9]\d* tests, 0 unexpected, left behind: nothing$/m.test(output);
    // After a failure, the others get an Emacs of their own.
    if (wentWell) idle.push(runner);
    else await runner.end();
    expect(wentWell, output).toBe(true);
  });
