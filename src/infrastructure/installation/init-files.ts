/**
 * Hive's lines in files that a person writes, in a block between two marks: the init file of Emacs has the package, the prefix of
 * its keys and the line that starts it, and the file of their shell puts the folder of the command on PATH.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shellLine } from '../../domain/shell-words.ts';
import type { Environment } from '../../domain/sources.ts';
import type { TextEdit } from '../../domain/text.ts';
import { homeOf } from '../platform/platform.ts';
import type { Part } from './parts.ts';

// ---- The init file of Emacs ----

const IN_LISP: BlockMarks = { comment: ';;', by: 'hive init; hive uninit takes it back' };

/** The prefix of Hive's keys, unless the person chooses another: `C-c` and a letter is reserved for them. */
const USUAL_KEYS = ['C-c h', 'C-c H', 'C-c q', 'C-c Q'];

/** The prefix key in Hive's lines; null if there is none. */
export function emacsKey(text: string): string | null {
  const block = findBlock(text, IN_LISP) ?? '';
  return /\(global-set-key \(kbd "([^"\\]+)"\) 'hive-prefix-map\)/.exec(block)?.[1] ?? null;
}

/** The first usual prefix that the init file does not mention. */
export function freeEmacsKey(text: string): string {
  const others = text.replace(findBlock(text, IN_LISP) ?? '', '');
  return USUAL_KEYS.find((key) => !others.includes(key)) ?? 'C-c h';
}

/**
 * Whether this is a key, written as Emacs writes keys: it begins with a modifier or is a function key, so that
 * no word and no single letter is taken for a key.
 */
export function isEmacsKey(text: string): boolean {
  // As a prefix, each of these would hide commands that everybody uses.
  if (['C-c', 'C-x', 'C-h', 'C-g', 'M-x'].includes(text)) return false;
  const key = '(?:[ACHMSs]-)*(?:<[a-z0-9-]+>|RET|SPC|TAB|ESC|DEL|[!#-\\[\\]-~])';
  return new RegExp(`^(?:[ACHMSs]-(?=\\S)|<[a-z0-9-]+>)(?:${key})?(?: ${key})*$`).test(text);
}

/** The part of the init file. `elisp` is the folder of the package, `key` the prefix of Hive's keys. */
export function emacsPart(path: string, elisp: string, key: string): Part {
  return blockPart(path, IN_LISP, [
    `(add-to-list 'load-path ${JSON.stringify(elisp)})`,
    "(require 'hive-mode)",
    `(global-set-key (kbd "${key}") 'hive-prefix-map)`,
    '(hive-mode 1)',
  ]);
}

// ---- The file of a shell ----

const IN_SHELL: BlockMarks = { comment: '#', by: 'hive install; hive uninstall removes it' };

/** The file that every new shell of this person reads; ~/.profile would reach a new terminal only after a login. */
export function shellFile(env: Environment): string {
  const home = homeOf(env);
  switch (basename(env['SHELL'] ?? 'sh')) {
    case 'bash':
      return join(home, '.bashrc');
    case 'zsh':
      return join(env['ZDOTDIR'] || home, '.zshrc');
    case 'fish':
      return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'fish', 'config.fish');
    default:
      return join(home, '.profile');
  }
}

/** The part that puts a folder on PATH. */
export function pathPart(file: string, folder: string): Part {
  const quoted = shellLine([folder]);
  const line = file.endsWith('.fish') ? `fish_add_path ${quoted}` : `export PATH=${quoted}:"$PATH"`;
  return blockPart(file, IN_SHELL, [line]);
}

/** Whether the installation has written the line into this file. */
export function hasPathLine(file: string): boolean {
  return existsSync(file) && findBlock(readFileSync(file, 'utf8'), IN_SHELL) !== null;
}

// ---- A block of lines between two marks ----

/** How a comment begins, and who writes the block: `# hive: begin (written by …)`. */
interface BlockMarks {
  comment: string;
  by: string;
}

/** A block as the part of a file. The lines have no line ends. */
export function blockPart(path: string, marks: BlockMarks, lines: readonly string[]): Part {
  return {
    path,
    fragment: lines.join('\n'),
    isRight: (text) => findBlock(text, marks) === `${lines.join('\n')}\n`,
    entries: (text) =>
      (findBlock(text, marks) ?? '')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : { kind: 'line', text: line })),
    add(text) {
      const eol = text.includes('\r\n') ? '\r\n' : '\n';
      const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
      const block = [`${beginOf(marks)} (written by ${marks.by})`, ...lines, endOf(marks), ''].join(eol);
      return [{ offset: text.length, removed: '', inserted: gap + block }];
    },
    remove: (text) => removeBlock(text, marks),
  };
}

/** The lines of the block; null when there is none. */
function findBlock(text: string, marks: BlockMarks): string | null {
  const span = spanOf(text, marks);
  return span === null ? null : text.slice(span.inner, span.innerEnd).replaceAll('\r\n', '\n');
}

/** Removes the block, with the empty line before it. */
function removeBlock(text: string, marks: BlockMarks): TextEdit[] {
  const span = spanOf(text, marks);
  if (span === null) return [];
  const gap = /(?<=^|\n)\r?\n$/.exec(text.slice(0, span.start))?.[0].length ?? 0;
  const offset = span.start - gap;
  return [{ offset, removed: text.slice(offset, span.end), inserted: '' }];
}

function spanOf(text: string, marks: BlockMarks) {
  const escaped = (mark: string): string => mark.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = new RegExp(
    `^(${escaped(beginOf(marks))}[^\\n]*\\n)((?:[^\\n]*\\n)*?)${escaped(endOf(marks))}[ \\t]*\\r?(?:\\n|$)`,
    'm',
  ).exec(text);
  if (found === null) return null;
  const [all, begin = '', lines = ''] = found;
  const inner = found.index + begin.length;
  return { start: found.index, end: found.index + all.length, inner, innerEnd: inner + lines.length };
}

function beginOf({ comment }: BlockMarks): string {
  return `${comment} hive: begin`;
}

function endOf({ comment }: BlockMarks): string {
  return `${comment} hive: end`;
}
