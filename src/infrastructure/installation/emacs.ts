/** Hive's lines in a person's init file: where the package is, and that it starts with Emacs. */
import { appendBlock, findBlock, removeBlock } from './block-edits.ts';
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
    isEmpty: (text) => text.trim() === '',
    add: (text) => appendBlock(text, MARKS, lines),
    remove: (text) => removeBlock(text, MARKS),
  };
}
