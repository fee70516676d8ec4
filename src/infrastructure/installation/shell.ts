/** The line that puts the folder of the command on PATH, in the file that the person's shell reads. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shellLine } from '../../domain/installation.ts';
import type { Environment } from '../../domain/sources.ts';
import { homeOf } from '../platform/platform.ts';
import { appendBlock, findBlock, removeBlock } from './emacs.ts';
import type { Part } from './parts.ts';

const MARKS = { comment: '#', name: 'hive', by: 'hive install; hive uninstall removes it' };

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

/** The line for that shell. */
function pathLine(file: string, folder: string): string {
  const quoted = shellLine([folder]);
  return file.endsWith('.fish') ? `fish_add_path ${quoted}` : `export PATH=${quoted}:"$PATH"`;
}

export function pathPart(file: string, folder: string): Part {
  const line = pathLine(file, folder);
  return {
    path: file,
    newFile: '',
    fragment: line,
    isRight: (text) => findBlock(text, MARKS) === `${line}\n`,
    entries: (text) => (findBlock(text, MARKS) === null ? [] : [{ kind: 'line', text: line }]),
    isEmpty: (text) => text.trim() === '',
    add: (text) => appendBlock(text, MARKS, [line]),
    remove: (text) => removeBlock(text, MARKS),
  };
}

/** Whether the installation has written the line into this file. */
export function hasPathLine(file: string): boolean {
  return existsSync(file) && findBlock(readFileSync(file, 'utf8'), MARKS) !== null;
}
