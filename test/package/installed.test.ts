/** The packed tarball: what is in it, and that it works in an empty project and an empty Emacs. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Environment, ROOT } from '../support/children.ts';
import { lisp } from '../support/emacs.ts';
import { BINARIES, type Installed, installRelease, npmOfThisMachine, run } from './install-release.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

let installed: Installed;
let folder: string;
let project: string;
let env: Environment;

beforeAll(async () => {
  installed = await installRelease();
  ({ folder, project, env } = installed);
});

afterAll(() => installed.remove());

async function hive(args: readonly string[], more: Environment = {}): Promise<{ code: number; out: string }> {
  try {
    const { stdout } = await run('npx', ['--no-install', 'hive', ...args], {
      cwd: project,
      env: { ...env, ...more },
    });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: `${stdout}${stderr}` };
  }
}

describe('the tarball', () => {
  test('has what runs, what is read and what is loaded, and nothing else', () => {
    const { files, size } = installed.tarball;
    const from = (name: string, pattern: RegExp): string[] =>
      readdirSync(join(ROOT, name))
        .filter((file) => pattern.test(file))
        .map((file) => `${name}/${file}`);
    expect(files).toEqual(
      expect.arrayContaining([
        ...[
          'bin/hive',
          'dist/main.cjs',
          'dist/install.cjs',
          'dist/hook.cjs',
          'dist/hook-small.cjs',
          'dist/mcp.cjs',
          'dist/index.js',
          'dist/agent-sdk.js',
          'dist/NOTICES.txt',
        ],
        ...['dist/types/index.d.ts', 'dist/types/extensions/runs/agent-sdk/index.d.ts'],
        ...[
          'README.md',
          'CHANGELOG.md',
          'CONTRIBUTING.md',
          'LICENSE',
          'package.json',
          'plugin/.claude-plugin/plugin.json',
        ],
        ...from('elisp', /\.el$/),
        ...['elisp/hive.info', 'elisp/dir'],
        ...from('sql', /\.sql$/),
        ...from('docs', /\.md$/),
        ...from('docs/internals', /\.md$/),
        ...from('examples', /\.mjs$/),
      ]),
    );
    const known =
      /^(?:bin|dist|sql|elisp|plugin|docs|examples)\/|^(?:README|CHANGELOG|CONTRIBUTING)\.md$|^LICENSE$|^package\.json$/;
    expect(files.filter((file) => !known.test(file))).toEqual([]);
    expect(
      files.filter((file) => /\.(?:map|ts|elc|tgz|db|log)$/.test(file) && !file.endsWith('.d.ts')),
    ).toEqual([]);
    // The programs of Hive, of `hive mcp` and of the hooks, each with the list of plain characters, the page of the inbox, the
    // manual and its pictures.
    expect(size).toBeLessThan(3_950_000);
  });

  test('is a package that publint finds nothing wrong with', async () => {
    const { stdout } = await run(process.execPath, [
      join(ROOT, 'node_modules/publint/src/cli.js'),
      ...['--strict', join(project, 'node_modules/hive-sidecar')],
    ]);
    expect(stdout).toContain('All good!');
  });
});

describe('in an empty project', () => {
  test('npx hive --version is the version', async () => {
    expect(await hive(['--version'])).toEqual({ code: 0, out: `${version}\n` });
  });

  test('hive doctor finds its store well', async () => {
    const { out } = await hive(['doctor', '--json']);
    const { checks } = JSON.parse(out) as { checks: { name: string; state: string }[] };
    expect(checks.find(({ name }) => name === 'Store')).toMatchObject({ state: 'ok' });
  });

  test('a script asks, a person answers, the script polls', async () => {
    const script = { HIVE_AGENT: 'script' };
    const id = (await hive(['ask', 'Go on?', '--option', 'yes', '--option', 'no'], script)).out.trim();
    expect((await hive(['respond', id, 'yes'])).code).toBe(0);
    const { out } = await hive(['poll', id, '--json'], script);
    expect(JSON.parse(out)).toMatchObject({ status: 'responded', decision: 'yes', via: 'cli' });
  });

  test('the library and the Agent SDK entry are imported, with their types', async () => {
    writeFileSync(
      join(project, 'use.mts'),
      `import { openHive } from 'hive-sidecar';
import { hiveHooks } from 'hive-sidecar/agent-sdk';
const hive = await openHive({ agent: 'Deployer' });
const { prompt } = await hive.prompts.ask({ question: 'Deploy?', options: ['yes', 'no'] });
const id: string = prompt.ask_id;
console.log(id, typeof hiveHooks);
await hive.close();
`,
    );
    const { stdout } = await run(process.execPath, ['use.mts'], { cwd: project, env });
    expect(stdout).toMatch(/^ask-\w+ function\n$/);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...types, 'use.mts'], { cwd: project });
  });
});

test('in an empty Emacs: what an agent asked over MCP is answered there, and the agent polls it', async () => {
  const transport = new StdioClientTransport({
    // The client of an agent is a separate process, not this test, which starts the human's Emacs.
    command: '/bin/sh',
    args: ['-c', '"$@"; exit $?', 'sh', join(project, 'node_modules/.bin/hive'), 'mcp'],
    env: { ...env, HIVE_AGENT: 'agent-1' },
    cwd: project,
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  try {
    const call = async (name: string, args: object): Promise<Record<string, unknown>> =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent as Record<string, unknown>;
    const { ask_id } = await call('hivemind_ask_async', { question: 'Shall we?', options: ['yes', 'no'] });
    await answerInEmacs(String(ask_id));
    const answer = { status: 'responded', decision: 'yes', via: 'emacs' };
    expect(await call('hivemind_poll', { ask_id })).toMatchObject(answer);
  } finally {
    await client.close();
  }
});

describe('an Emacs with nothing but the package', () => {
  /** Runs a form in it; resolves with what that prints. */
  async function inEmacs(form: string, more: Environment = {}): Promise<string> {
    const whole = { ...env, ...more };
    const { stdout } = await run('emacs', ['-Q', '--batch', '--eval', form], { env: whole, cwd: folder });
    return stdout;
  }
  const place = () => join(project, 'node_modules/hive-sidecar/elisp');

  test('finds the manual by C-h i', async () => {
    const load = `(progn (add-to-list 'load-path ${lisp(place())}) (require 'hive-mode)`;
    expect(await inEmacs(`${load} (info) (princ (buffer-string)))`)).toContain('* Hive: (hive).');
    expect(await inEmacs(`${load} (info "(hive)Hive in Emacs") (princ (buffer-string)))`)).toContain(
      'hive-next',
    );
  });

  test('is installed by package.el, with autoloads for every command', async () => {
    const packages = `(progn (require 'package) (setq package-user-dir ${lisp(join(folder, 'elpa'))}))`;
    const out = await inEmacs(`(progn ${packages} (package-initialize)
      (with-current-buffer (dired-noselect ${lisp(place())}) (package-install-from-buffer))
      (princ (directory-files-recursively package-user-dir "elc\\\\'")))`);
    expect(out).toContain('hive-mode.elc');
    // A new one has it by its autoloads alone, and M-x hive shows the status buffer.
    const later = await inEmacs(`(progn ${packages} (package-initialize)
      (let ((early (featurep 'hive-mode)))
        (princ (list early (mapcar #'commandp '(hive hive-mode hive-next hive-respond hive-list hive-history
          hive-doctor hive-install-sidecar hive-manual hive-do-not-disturb hive-shared hive-interrupt)))))
      (global-set-key (kbd "C-c h") 'hive-prefix-map)
      (princ (key-binding (kbd "C-c h n")))
      (call-interactively #'hive)
      (princ (list (buffer-name) major-mode)))`);
    expect(later).toMatch(/^\(nil \((?:t ){11}t\)\)hive-next\(\*hive\* hive-list-mode\)/);
  });

  test('M-x hive-install-sidecar installs the tarball, starts it, and is connected', async () => {
    const home = join(folder, 'by-emacs');
    // As from a package archive: there is no program beside it.
    const alone = join(folder, 'alone/elisp');
    cpSync(place(), alone, { recursive: true });
    const out = await inEmacs(
      `(progn
      (add-to-list 'load-path ${lisp(alone)})
      (require 'hive-mode)
      ;; Without what the project has: only what Emacs installs can be found.
      (setq exec-path '(${lisp(BINARIES)} "/usr/bin" "/bin")
            hive-install-directory ${lisp(home)})
      (setenv "PATH" ${lisp(`${BINARIES}:/usr/bin:/bin`)})
      (hive-mode 1)
      (princ (format "%s " hive-sidecar-state))
      (hive-install-sidecar ${lisp(installed.tarball.path)})
      (let ((until (+ (float-time) 150)))
        (while (and (< (float-time) until) (not (hive-sidecar-connected-p)))
          (accept-process-output nil 0.05)))
      (princ (format "%s %s" hive-sidecar-state (hive-program-installed)))
      (unless (hive-sidecar-connected-p)
        (princ (with-current-buffer "*hive install*" (buffer-string))))
      (hive-mode -1))`,
      await npmOfThisMachine(),
    );
    expect(out).toContain('failed connected');
    expect(out).toContain(home);
  });
});

/** Starts an Emacs with nothing but the package, and answers yes there as with M-x hive-respond. */
async function answerInEmacs(ask_id: string): Promise<void> {
  const { parts } = JSON.parse((await hive(['init', 'emacs', '--print', '--json'])).out);
  const { fragment } = parts[0];
  expect(fragment).toContain(join('node_modules', 'hive-sidecar', 'elisp'));
  const form = `(progn
    ${fragment}
    (let ((until (+ (float-time) 30)) prompt)
      (while (and (< (float-time) until)
                  (not (setq prompt (hive-model-prompt ${lisp(ask_id)}))))
        (accept-process-output nil 0.02))
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "yes")))
        (hive-answer-prompt prompt))
      (while (and (< (float-time) until) (hive-outbox-entries 'pending))
        (accept-process-output nil 0.02)))
    (hive-mode -1))`;
  await run('emacs', ['-Q', '--batch', '--eval', form], { env, cwd: folder });
}
