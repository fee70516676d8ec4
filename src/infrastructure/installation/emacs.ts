/** Hive's lines in a person's init file: where the package is, the prefix of its keys, and the line that starts it with Emacs. */
import type { TextEdit } from '../../domain/text.ts';
import type { Part } from './parts.ts';

const MARKS: BlockMarks = { comment: ';;', name: 'hive', by: 'hive init; hive uninit takes it back' };

/** The prefix of Hive's keys, unless the person chooses another: `C-c` and a letter is reserved for them. */
const USUAL_KEYS = ['C-c h', 'C-c H', 'C-c q', 'C-c Q'];

/** The prefix key in Hive's lines; null if there is none. */
export function emacsKey(text: string): string | null {
  return (
    /\(global-set-key \(kbd "([^"\\]+)"\) 'hive-prefix-map\)/.exec(findBlock(text, MARKS) ?? '')?.[1] ?? null
  );
}

/** The first usual prefix that the init file does not mention. */
export function freeEmacsKey(text: string): string {
  const others = text.replace(findBlock(text, MARKS) ?? '', '');
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
  const lines = [
    `(add-to-list 'load-path ${JSON.stringify(elisp)})`,
    "(require 'hive-mode)",
    `(global-set-key (kbd "${key}") 'hive-prefix-map)`,
    '(hive-mode 1)',
  ];
  return {
    path,
    newFile: '',
    fragment: lines.join('\n'),
    isRight: (text) => findBlock(text, MARKS) === `${lines.join('\n')}\n`,
    entries: (text) =>
      (findBlock(text, MARKS) ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ kind: 'line', text: line })),
    isEmpty: (text) => text.trim() === '',
    add: (text) => appendBlock(text, MARKS, lines),
    remove: (text) => removeBlock(text, MARKS),
  };
}

// ---- A block of lines between two marks ----

/** How a comment begins, the name of the block, and who writes it: `# hive server: begin (written by …)`. */
export interface BlockMarks {
  comment: string;
  name: string;
  by: string;
}

/** Appends the block with its marks. The lines have no line ends. */
export function appendBlock(text: string, marks: BlockMarks, lines: readonly string[]): TextEdit[] {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  const block = [`${beginOf(marks)} (written by ${marks.by})`, ...lines, endOf(marks), ''].join(eol);
  return [{ offset: text.length, removed: '', inserted: gap + block }];
}

/** The lines of the block; null when there is none. */
export function findBlock(text: string, marks: BlockMarks): string | null {
  const span = spanOf(text, marks);
  return span === null ? null : text.slice(span.inner, span.innerEnd).replaceAll('\r\n', '\n');
}

/** Removes the block, with the empty line before it. */
export function removeBlock(text: string, marks: BlockMarks): TextEdit[] {
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

function beginOf({ comment, name }: BlockMarks): string {
  return `${comment} ${name}: begin`;
}

function endOf({ comment, name }: BlockMarks): string {
  return `${comment} ${name}: end`;
}
