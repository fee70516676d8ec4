// Makes an Info manual of the documents: docs/*.md → hive.texi → hive.info, by Emacs' own formatter.
// node scripts/manual.mjs [FOLDER], by default elisp/: there hive-manual.el adds it, and `dir` next to it, to C-h i.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '../docs');
const folder = process.argv[2] ?? join(import.meta.dirname, '../elisp');
const FIRST = ['tutorial.md', 'concepts.md', 'emacs.md', 'emacs-shared.md', 'cli.md'];
// Info makes its own table of contents.
const INDEX = 'README.md';

const ENTRY = '* Hive: (hive).                 Answer your coding agents from Emacs.';

const escaped = (text) => text.replace(/[@{}]/g, '@$&');

/** Inline Markdown; text in backticks is literal. */
function inline(text) {
  return (
    text
      // Only the text of a link within the pages stays. They may contain code, which is split off below.
      .replace(/\[((?:[^[\]`]|`[^`]*`)+)\]\((?!https?:)[^)\s]+\)/g, '$1')
      .split(/(`[^`]+`)/)
      .map((part) =>
        /^`.+`$/.test(part)
          ? `@code{${escaped(part.slice(1, -1))}}`
          : escaped(part)
              .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
              .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_, words, where) =>
                /^https?:/.test(where) ? `@uref{${where.replaceAll(',', '@comma{}')}, ${words}}` : words,
              )
              .replace(/\*\*([^*]+)\*\*/g, '@strong{$1}'),
      )
      .join('')
  );
}

/** The name of a node, which must not contain a comma, colon, period or parenthesis. */
const nodeName = (title) =>
  title
    .replace(/[`*]/g, '')
    .replace(/[,:.()?]/g, '')
    .trim();

const cells = (row) =>
  row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

function table(rows) {
  const items = rows
    .filter((row) => !/^[|\s:-]+$/.test(row))
    .map(cells)
    .filter((row) => row.some((cell) => cell !== ''))
    .map(
      ([first = '', ...rest]) => `@item ${inline(first)}\n${rest.filter(Boolean).map(inline).join('; ')}\n`,
    );
  return ['@table @asis', ...items, '@end table', ''].join('\n');
}

/** One block: lines without an empty one between them. */
function block(lines) {
  const first = lines[0];
  if (/^(```|~~~)/.test(first))
    return ['@example', ...lines.slice(1, -1).map(escaped), '@end example', ''].join('\n');
  if (/^ {4}/.test(first))
    return ['@example', ...lines.map((line) => escaped(line.slice(4))), '@end example', ''].join('\n');
  if (first.startsWith('|')) return table(lines);
  // The formatter of Emacs 28 loses its position in an example that follows an @itemize.
  if (/^(-|\d+\.) /.test(first)) {
    const items = lines
      .join('\n')
      .split(/\n?^(?:-|\d+\.) /m)
      .filter(Boolean);
    return ['@table @asis', ...items.map((item) => `@item -\n${inline(item.trim())}`), '@end table', ''].join(
      '\n',
    );
  }
  return `${inline(lines.join('\n'))}\n`;
}

/** Blocks of a text; a fenced one keeps its empty lines. */
function blocks(text) {
  const found = [[]];
  let fence = false;
  for (const line of text.split('\n')) {
    if (/^(```|~~~)/.test(line)) {
      if (!fence) found.push([]);
      fence = !fence;
      found.at(-1).push(line);
      if (!fence) found.push([]);
    } else if (!fence && line.trim() === '') found.push([]);
    else found.at(-1).push(line);
  }
  return found.filter((lines) => lines.length > 0).map(block);
}

function chapter(name) {
  const source = readFileSync(join(docs, name), 'utf8').replace(/^<!--.*-->\n/gm, '');
  const [title = '', ...sections] = source.replace(/^# /, '').split(/^## /m);
  const [heading, ...rest] = title.split('\n');
  const parts = sections.map((section) => {
    const [sub, ...body] = section.split('\n');
    const text = body.join('\n').replace(/^### (.*)$/gm, '**$1**\n');
    return [`@section ${inline(sub)}`, '', ...blocks(text)].join('\n');
  });
  const node = nodeName(heading);
  return {
    node,
    text: [`@chapter ${inline(heading)}`, '', ...blocks(rest.join('\n')), ...parts].join('\n'),
  };
}

const others = readdirSync(docs).filter(
  (name) => name.endsWith('.md') && name !== INDEX && !FIRST.includes(name),
);
const chapters = [...FIRST, ...others.sort()].map(chapter);
/** The targets of n, p and u in the chapter at `index`; -1 is the top. The formatter of Emacs does not find them itself. */
const nodeLine = (index) => {
  const at = (place) => (place === -1 ? 'Top' : (chapters[place]?.node ?? ''));
  const up = index === -1 ? '(dir)' : 'Top';
  return `@node ${at(index)}, ${at(index + 1)}, ${index === -1 ? '(dir)' : at(index - 1)}, ${up}`;
};

const texi = [
  '\\input texinfo',
  '@setfilename hive.info',
  '@settitle Hive',
  '@dircategory Emacs',
  '@direntry',
  ENTRY,
  '@end direntry',
  nodeLine(-1),
  '@top Hive',
  '',
  'Your coding agents ask, you answer from Emacs when it suits you, and nothing is lost.',
  '',
  '@menu',
  ...chapters.map(({ node }) => `* ${node}::`),
  '@end menu',
  '',
  ...chapters.flatMap(({ text }, index) => [nodeLine(index), text]),
  '@bye',
  '',
].join('\n');

// The entry for C-h i; Emacs merges it with those of all other folders.
const dir = [
  'The menu of this folder.',
  '\x1f',
  'File: dir,\tNode: Top,\tThis is the top of the INFO tree',
  '',
  '* Menu:',
  '',
  'Emacs',
  ENTRY,
  '',
].join('\n');

const workshop = mkdtempSync(join(tmpdir(), 'hive-manual-'));
writeFileSync(join(workshop, 'hive.texi'), texi);
// One file of any length; otherwise Emacs splits it into parts that nobody installs.
// The same bytes in every language of the machine.
const whole = `(setq Info-split-threshold most-positive-fixnum text-quoting-style 'curve
                     coding-system-for-read 'utf-8-unix coding-system-for-write 'utf-8-unix)`;
const format = [
  ...['-Q', '--batch', '-l', 'texinfmt', '-l', 'informat', '--eval', whole],
  ...['-f', 'batch-texinfo-format', 'hive.texi'],
];
const { error, status, stderr } = spawnSync('emacs', format, { cwd: workshop, encoding: 'utf8' });
if (error?.code === 'ENOENT') {
  console.log('There is no Emacs here, so the Info manual is not made.');
} else if (status !== 0) {
  throw error ?? new Error(`Emacs could not make the manual:\n${stderr}`);
} else {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(workshop, 'hive.info'), join(folder, 'hive.info'));
  writeFileSync(join(folder, 'dir'), dir);
}
rmSync(workshop, { recursive: true });
