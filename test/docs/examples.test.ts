/**
 * Every example in the documents does what it says. Blocks of `sh` are run, page by page, in one shell with a
 * separate home and store; a block of `text` after one is its output, with `…` for anything. JSON, SQL and
 * Lisp are read or run by what takes them. A block that cannot run here carries a comment in front of it:
 *
 *     <!-- not run: REASON -->        <!-- with: a human who takes the first option -->
 *
 * Text that is indented instead is a synopsis or a drawing, which nobody copies.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { readTrust } from '../../src/domain/trust.ts';
import { childEnvironment, HIVE, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { startPostgres } from '../support/postgres.ts';
import { lettingScriptsAnswer } from '../support/scripts-answer.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder } from '../support/temp.ts';
import { PAGES, readPage } from './support.ts';

interface Block {
  page: string;
  language: string;
  text: string;
  /** Why it is not run; null for one that is. */
  not_run: string | null;
  /** The part that must run beside it, such as a human who answers; null for most. */
  with: string | null;
}

/** Every fenced block of a page, in order. The protocol's are the golden frames, which other tests compare. */
function blocksOf(page: string): Block[] {
  const pattern = /(?:^<!-- (not run|with): (.+) -->\n)?^```(\w*)\n([\s\S]*?)^```$/gm;
  return [...readPage(page).matchAll(pattern)].map(([, mark, words = '', language = '', text = '']) => ({
    page,
    language,
    text,
    not_run: mark === 'not run' ? words : null,
    with: mark === 'with' ? words : null,
  }));
}

const BLOCKS = PAGES.filter((page) => page !== 'docs/internals/protocol.md').flatMap(blocksOf);
const RUN = BLOCKS.filter((block) => block.not_run === null);

test('every block is run or says why not, and few are not', () => {
  const fences = PAGES.filter((page) => page !== 'docs/internals/protocol.md')
    .map((page) => (readPage(page).match(/^```/gm) ?? []).length / 2)
    .reduce((sum, count) => sum + count, 0);
  expect(BLOCKS.length).toBe(fences);
  // One more is a decision: raise the number with it.
  expect(BLOCKS.filter((block) => block.not_run !== null).map(({ page }) => page)).toHaveLength(13);
  const languages = new Set(RUN.map(({ language }) => language));
  // Without a language it is a drawing; Markdown and nginx are for others to read; js is run by library.test.ts.
  expect([...languages].sort()).toEqual([
    '',
    'elisp',
    'js',
    'json',
    'markdown',
    'nginx',
    'sh',
    'sql',
    'text',
  ]);
});

/** The indented blocks of a page: lines behind four spaces after an empty one, outside every fence. */
function indentedOf(page: string): string[] {
  const text = readPage(page).replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+/g)].map(([block]) => block);
}

/** Commands with placeholders, or beside them what they do; nothing in it is a value. */
function isSynopsis(block: string): boolean {
  const commands = block.split('\n').filter((line) => /^ {4}\S/.test(line));
  return (
    commands.every((line) => /^ {4}(?:hive|npm run) [a-z]/.test(line)) && !/['"]|:\/\/|(?<=\s)\//.test(block)
  );
}

test('what is indented is a synopsis or a drawing', () => {
  const others = PAGES.flatMap((page) =>
    indentedOf(page)
      .filter((block) => !isSynopsis(block) && !/[─▶│┐]/.test(block))
      .map((block) => `${page}: ${block}`),
  );
  expect(others).toEqual([]);
});

/** A home in which `hive` is on the PATH, and what the examples call their own. */
function sandbox(): { home: string; env: Record<string, string>; store: string } {
  const home = tempFolder();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(HIVE, join(bin, 'hive'));
  writeFileSync(join(home, 'deploy'), '#!/bin/sh\necho deployed\n');
  chmodSync(join(home, 'deploy'), 0o755);
  // The Emacs that emacsclient reaches has the buffer of a project called demo.
  const buffer = '"*hive-shared: demo*"';
  const show = `(with-current-buffer ${buffer} (princ (buffer-string)))`;
  const evaluate = `emacs -Q --batch --eval '(get-buffer-create ${buffer})' --eval "$2" --eval '${show}'`;
  writeFileSync(join(bin, 'emacsclient'), `#!/bin/sh\n${evaluate}\n`, { mode: 0o755 });
  const store = join(home, 'state', 'hive.db');
  const env = childEnvironment(store, { HOME: lettingScriptsAnswer(home) });
  // TMPDIR: what mktemp makes goes with the home.
  return { home, store, env: { ...env, PATH: `${bin}:${env['PATH']}`, TMPDIR: home } };
}

/** Runs blocks one after the other in one shell, and returns what each printed. */
async function inShell(
  blocks: readonly Block[],
  { home, env }: ReturnType<typeof sandbox>,
): Promise<string[]> {
  const mark = 'END-OF-BLOCK';
  const script = blocks.map(({ text }) => `${text}\necho; echo ${mark}\n`).join('');
  const child = spawn('bash', ['-e', '-c', script], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, `${out}\n${err}`).toBe(0);
  return out
    .split(`${mark}\n`)
    .slice(0, -1)
    .map((text) => text.trim());
}

/** A `text` block as a pattern: columns as wide as they come out, `…` anything. */
function asPattern(text: string): RegExp {
  const lines = text.trim().split('\n');
  const escaped = lines.map((line) =>
    line
      .trim()
      .split('…')
      .map((part) =>
        part
          .trim()
          .split(/\s+/)
          .map((word) => escapeWord(word))
          .join('\\s+'),
      )
      .join('.*'),
  );
  return new RegExp(`^\\s*${escaped.join('\\s*\\n\\s*')}\\s*$`);
}

function escapeWord(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const pages = [...new Set(RUN.filter(({ language }) => language === 'sh').map(({ page }) => page))];
test.each(pages)('commands: %s', async (page) => {
  const all = RUN.filter((block) => block.page === page);
  const shells = all.filter(({ language }) => language === 'sh');
  const place = sandbox();
  if (shells.some((block) => block.with === 'a human who takes the first option'))
    await answering(place.store);
  const printed = await inShell(shells, place);
  for (const [index, block] of all.entries()) {
    const before = all[index - 1];
    if (block.language !== 'text') continue;
    expect(before?.language, 'output follows the command that prints it').toBe('sh');
    expect(printed[shells.indexOf(before as Block)]).toMatch(asPattern(block.text));
  }
});

/** Somebody at a desk who takes the first option, or says "2.0". */
async function answering(store: string): Promise<void> {
  const desk = await startSidecar(store);
  let seen = 0;
  const timer = setInterval(() => {
    const asks = desk.frames.slice(seen).filter(({ method }) => method === 'hivemind-ask');
    seen = desk.frames.length;
    for (const { params } of asks) {
      const decision = params.options[0]?.label ?? '2.0';
      void desk.request('hivemind-response', {
        ask_id: params.ask_id,
        decision,
        by: 'Ada',
        response_id: params.ask_id,
      });
    }
  }, 10);
  void desk.child.exited.then(() => clearInterval(timer));
}

/** The keywords that fetch the package, and where it lies: in the tests, in this checkout. */
const PLACES = /:(?:vc|straight|load-path) (?:\((?:[^()]|\([^()]*\))*\)|"…")|"…"/g;
/** Of use-package, which Emacs has since 29, as much as the documents use. */
const USE_PACKAGE = `(unless (require 'use-package nil t)
  (defmacro use-package (name &rest words)
    (let (forms keyword)
      (dolist (word words)
        (cond ((keywordp word) (setq keyword word))
              ((eq keyword :config) (push word forms))))
      \`(progn (require ',name) ,@(nreverse forms)))))`;

test.each(RUN.filter(({ language }) => language === 'elisp'))(
  'Lisp: turns hive-mode on ($page)',
  async ({ text }) => {
    const { home, env } = sandbox();
    const path = JSON.stringify(join(ROOT, 'elisp'));
    const here = text.replace(PLACES, (place) => (place === '"…"' ? path : `:load-path ${path}`));
    expect(here).not.toBe(text);
    const forms = [...here.matchAll(/^\((?:.|\n(?!\())*/gm)].map(([form]) => form);
    const turnsOn = forms.map((form) =>
      form.includes('(hive-mode 1)') ? `${form} (princ (if hive-mode "on " "off ")) (hive-mode -1)` : form,
    );
    writeFileSync(
      join(home, 'init.el'),
      `(add-to-list 'load-path ${path})${USE_PACKAGE}\n${turnsOn.join('\n')}`,
    );
    const emacs = spawnChild('emacs', ['-Q', '--batch', '-l', join(home, 'init.el')], env);
    expect(await outputOf(emacs)).toBe(
      'on '.repeat(forms.filter((form) => form.includes('(hive-mode 1)')).length),
    );
  },
);

describe('data', () => {
  test('JSON is JSON, and a file of what the human allows is understood whole', () => {
    for (const { page, text } of RUN.filter(({ language }) => language === 'json')) {
      const value = JSON.parse(text) as { permission_rules?: unknown };
      expect(value, page).toBeTypeOf('object');
      if (value.permission_rules === undefined) continue;
      expect(readTrust({ path: page, text, problems: [], digest: '' }).problems).toEqual([]);
    }
  });

  test('SQL is taken by PostgreSQL', async () => {
    const server = await startPostgres();
    try {
      const blocks = RUN.filter(({ language }) => language === 'sql');
      const address = new URL(server.address('docs'));
      address.search = '';
      const run = async (database: string, text: string): Promise<void> => {
        address.pathname = `/${database}`;
        const client = new Client({ connectionString: address.href });
        await client.connect();
        try {
          for (const statement of text.split(';').filter((part) => part.trim() !== ''))
            await client.query(statement);
        } finally {
          await client.end();
        }
      };
      await run('postgres', 'DROP DATABASE IF EXISTS docs; CREATE DATABASE docs; CREATE ROLE team_a');
      // The server of the tests has a role and a database called hive already.
      for (const { text } of blocks)
        await run(
          'docs',
          text.replaceAll(/\bhive\b/g, 'docs').replace('CREATE DATABASE docs', 'CREATE DATABASE docs_2'),
        );
    } finally {
      await server.stop();
    }
  });
});
