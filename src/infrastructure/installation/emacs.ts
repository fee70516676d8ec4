/** Hive's lines in a person's init file: where the package is, and that it starts with Emacs. */
import type { TextEdit } from '../../domain/text.ts';
import type { Part } from './parts.ts';

const MARKS = { comment: ';;', name: 'hive' };

/** The part of the init file. `elisp` is the folder of the package. */
export function emacsPart(path: string, elisp: string): Part {
  const lines = [
    `(add-to-list 'load-path ${JSON.stringify(elisp)})`,
    "(require 'hive-mode)",
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

/** How a comment begins, and the name of the block: `# hive server: begin`. */
export interface BlockMarks {
  comment: string;
  name: string;
}

const HINT = '(written by hive init; hive uninit takes it back)';

/** Appends the block with its marks. The lines have no line ends. */
export function appendBlock(text: string, marks: BlockMarks, lines: readonly string[]): TextEdit[] {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  const block = [`${beginOf(marks)} ${HINT}`, ...lines, endOf(marks), ''].join(eol);
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
