/** The init file that `hive init emacs` chooses, compared with what the real Emacs reads. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { emacsInitFile } from '../../src/infrastructure/installation/parts.ts';
import { tempHome } from '../support/temp.ts';

/** The folder of an Emacs with this home, the init file that it has read, and whether Hive's lines were in it. */
function emacsIn(env: Record<string, string>): { folder: string; file: string; has_hive: boolean } {
  const look = `(princ (json-encode (list :folder (expand-file-name user-emacs-directory)
    :file user-init-file :has_hive (or (bound-and-true-p has-hive) :json-false))))`;
  // Emacs reads no init file in batch mode, unless it is given a user.
  const options = ['--batch', '--no-site-file', '-u', '', '-l', 'json', '--eval', look];
  const { stdout, stderr } = spawnSync('emacs', options, {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) || `"${stderr}"`);
}

const HOMES: Record<string, { files: string[]; xdg?: string }> = {
  nothing: { files: [] },
  'the usual folder, empty': { files: ['.emacs.d/'] },
  'the usual folder': { files: ['.emacs.d/init.el'] },
  'the usual folder, and another file': { files: ['.emacs.d/early-init.el'] },
  'the folder of XDG, empty': { files: ['.config/emacs/'] },
  'the folder of XDG': { files: ['.config/emacs/init.el'] },
  'the folder of XDG with only an early-init.el': { files: ['.config/emacs/early-init.el'] },
  'the usual folder, empty, and that of XDG': { files: ['.emacs.d/', '.config/emacs/init.el'] },
  'both folders': { files: ['.emacs.d/init.el', '.config/emacs/init.el'] },
  'a file with the name of the usual folder, and that of XDG': {
    files: ['.emacs.d', '.config/emacs/init.el'],
  },
  'a moved folder of XDG': { files: ['moved/emacs/early-init.el', '.config/emacs/init.el'], xdg: 'moved' },
  'a moved folder of XDG that is not there': { files: ['.config/emacs/init.el'], xdg: 'moved' },
  '.emacs': { files: ['.emacs'] },
  '.emacs and both folders': { files: ['.emacs', '.emacs.d/init.el', '.config/emacs/init.el'] },
  '.emacs and the folder of XDG': { files: ['.emacs', '.config/emacs/init.el'] },
  '.emacs.el': { files: ['.emacs.el'] },
  '.emacs.el and the usual folder': { files: ['.emacs.el', '.emacs.d/init.el'] },
  '.emacs.el and the folder of XDG': { files: ['.emacs.el', '.config/emacs/init.el'] },
  '.emacs.el and .emacs': { files: ['.emacs.el', '.emacs', '.config/emacs/init.el'] },
};

it.each(Object.entries(HOMES))(
  'is read by Emacs, which uses the same folder as before: %s',
  (_name, { files, xdg }) => {
    const home = tempHome();
    for (const name of files) {
      mkdirSync(name.endsWith('/') ? join(home, name) : dirname(join(home, name)), { recursive: true });
      if (!name.endsWith('/')) writeFileSync(join(home, name), ';;; -*- lexical-binding: t -*-\n');
    }
    const env = { HOME: home, ...(xdg !== undefined && { XDG_CONFIG_HOME: join(home, xdg) }) };
    const before = emacsIn(env);
    const chosen = emacsInitFile(env);
    mkdirSync(dirname(chosen), { recursive: true });
    appendFileSync(chosen, '(setq has-hive t)\n');
    expect(emacsIn(env)).toEqual({ folder: before.folder, file: chosen, has_hive: true });
  },
);
